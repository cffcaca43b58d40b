#!/bin/sh
# Does as ok.sh; what it leaves behind would commit once more after $SECS (5) seconds.
"$(dirname "$0")/ok.sh"
(sleep "${SECS:-5}"; echo late >late.txt; git add -A; git commit -qm late) >/dev/null 2>&1 &
