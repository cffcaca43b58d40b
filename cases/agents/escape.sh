#!/bin/sh
# Moves the target, leaves its branch and writes into the user's checkout.
common=$(git rev-parse --path-format=absolute --git-common-dir)
echo intruder >"${common%/.git}/INTRUDER.txt"
git checkout -q -b stray; git commit -q --allow-empty -m stray; git update-ref refs/heads/main HEAD
