#!/bin/sh
# Counts its start in $COUNTER, prints a line a second for $SECS (60) seconds, then does as ok.sh.
[ -z "${COUNTER:-}" ] || echo "$$" >>"$COUNTER"
second=0
while [ $second -lt "${SECS:-60}" ]; do echo "second $second"; second=$((second + 1)); sleep 1; done
exec "$(dirname "$0")/ok.sh"
