#!/usr/bin/env perl
# Output that hurts, by $MODE: split (characters in pieces), binary, ansi, longline, flood for $SECS (3) seconds, cr, bare.
use strict; use Time::HiRes qw(time); $| = 1; binmode STDOUT;
my $mode = $ENV{MODE} // 'split';
if ($mode eq 'split') { for my $char ("\xe2\x82\xac", "\xf0\x9f\x9a\xa2", "\xc3\xb1") { for my $byte (split //, $char) { syswrite STDOUT, $byte } } print "\n" }
elsif ($mode eq 'binary') { print join('', map { chr } 0 .. 255) x 64, "\nend\n" }
elsif ($mode eq 'ansi') { print "\e[31mred\e[0m \e]0;title\a \e[2J\e[?1049h alt \e[6n \e]52;c;ZXZpbA==\a <img src=x onerror=alert(1)>\nend\n" }
elsif ($mode eq 'longline') { print '{"text":"', 'z' x ($ENV{N} // 8_000_000), "\"}\nafter\n" }
elsif ($mode eq 'flood') {
  my ($end, $line) = (time + ($ENV{SECS} // 3), 0);
  while (time < $end) { print join '', map { sprintf "%09d %s\n", $line++, 'f' x 110 } 1 .. 100 }
}
elsif ($mode eq 'cr') { print "\rprogress $_%" for 1 .. 100; print "\ndone\n" }
elsif ($mode eq 'bare') { print 'last words without an end of line' }
