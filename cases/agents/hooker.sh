#!/bin/sh
# Commits with the message $MSG and ends with git's code.
echo x >>agent.txt; git add -A; git commit -m "${MSG:-feat: agent}"
