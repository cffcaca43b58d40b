#!/bin/sh
# Ends at once with $CODE (0); a child of it holds both streams open for $SECS (300) seconds.
sleep "${SECS:-300}" & echo "main part done"; exit "${CODE:-0}"
