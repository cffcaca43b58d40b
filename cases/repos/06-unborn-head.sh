#!/usr/bin/env bash
# No commit yet, a default branch called `trunk`, an empty remote, one untracked file.
. "$(dirname "$0")/shape.sh"

git init -q --bare -b trunk "$D/remote.git"; git init -q -b trunk "$R"; cd "$R"; git config user.name Keeper; git config user.email keeper@example.org
git remote add origin "file://$D/remote.git"; echo draft >idea.txt
cannot git rev-parse --verify HEAD
cannot git worktree add -b x "$D/probe" HEAD
rm -rf "$D/probe"; git worktree prune
