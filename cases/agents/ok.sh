#!/bin/sh
# A good agent: one commit, named after its branch.
branch=$(git rev-parse --abbrev-ref HEAD | tr / -)
echo "work on $branch $$" >>"work-$branch.txt" && git add -A && git commit -qm "feat: $branch"
