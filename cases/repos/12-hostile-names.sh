#!/usr/bin/env bash
# File names that break whoever reads lines: bytes that are no UTF-8, line breaks, quotes, dashes in front, arrows,
# spaces at the ends, very long ones.
. "$(dirname "$0")/shape.sh"

new "$R"; cd "$R"
perl - <<'P'
use strict; use File::Path 'make_path';
my @names = ("caf\xe9-latin1.txt", "caf\xc3\xa9-nfc.txt", "cafe\xcc\x81-nfc.txt", "new\nline.txt", "tab\there.txt", 'quote"and\\back.txt',
  '-rf', '--help.txt', 'a -> b.txt', 'trailing ', ' leading', "\xf0\x9f\x9a\x80 rocket.md", '$(touch PWNED).txt', '`id`.txt', '; echo hi.txt',
  'x' x 250, "\xe2\x80\xaegnp.txt", 'percent%s%n.txt', '#hash.txt', 'sp ace/in side/f.txt');
for my $name (@names) {
  make_path($1) if $name =~ m{(.*)/};
  open(my $file, '>', "./$name") or die $!; print $file "data $name\n";
}
my $deep = join '/', ('d' x 240) x 12;
# One folder after the other: the whole path is longer than some calls take.
for my $part (split m{/}, $deep) { mkdir $part or die $!; chdir $part or die $!; }
open(my $file, '>', 'deep.txt') or die $!; print $file "deep\n";
P
git add -A; g commit -qm names
git checkout -q -b work; git ls-files -z | perl -0 -ne 'chomp; open(my $file, ">>", "./$_") or die "$_: $!"; print $file "edit\n"'
g commit -qam 'edit every file'; git checkout -q main
holds sh -c '[ "$(git ls-files -z | tr -cd "\000" | wc -c)" = 21 ]'
cannot sh -c 'git ls-files | while IFS= read -r f; do [ -e "$f" ] || exit 1; done'
holds test ! -e PWNED
