#!/usr/bin/env bash
# Twenty thousand small files in four hundred folders: whatever costs time per file and per agent shows here.
. "$(dirname "$0")/shape.sh"

new "$R"; cd "$R"
perl -e '
  my ($n, $time) = (shift, 1700000000);
  for my $i (0 .. $n - 1) { my $text = "file $i\n" . "x" x ($i % 97) . "\n"; print "blob\nmark :", $i + 1, "\ndata ", length $text, "\n$text\n" }
  print "commit refs/heads/main\nmark :", $n + 1, "\ncommitter Keeper <keeper\@example.org> $time +0000\ndata 4\nbulk\n";
  printf "M 100644 :%d d%03d/f%05d.txt\n", $_ + 1, $_ % 400, $_ for 0 .. $n - 1;
  my $last = $n + 1;
  for my $i (1 .. 199) {
    $time += 60; my $text = "edit $i\n"; my $mark = $n + 1 + $i;
    print "\ncommit refs/heads/main\nmark :$mark\ncommitter Keeper <keeper\@example.org> $time +0000\ndata ", length "c$i", "\nc$i\nfrom :$last\n";
    printf "M 100644 inline d%03d/f%05d.txt\ndata %d\n%s\n", $i % 400, $i, length $text, $text; $last = $mark;
  }
' "${FILES:-20000}" | git fast-import --quiet
git reset -q --hard main
holds [ "$(git ls-files | wc -l)" = "${FILES:-20000}" ]
