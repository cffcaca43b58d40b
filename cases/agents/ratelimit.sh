#!/bin/sh
# Counts its start in $COUNTER and ends with 1 and words about a limit.
echo "$$" >>"$COUNTER"; echo "You have reached your limit, ${RESET:-it resets at 9am (Pacific/Apia)}" >&2; exit 1
