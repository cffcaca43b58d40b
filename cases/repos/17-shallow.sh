#!/usr/bin/env bash
# A clone of depth one whose branch began before what it holds: no merge base is visible.
. "$(dirname "$0")/shape.sh"

new "$D/src"; cd "$D/src"; for i in 1 2 3 4 5 6; do echo $i >f$i; git add -A; g commit -qm c$i; done; git checkout -q -b feature HEAD~3; echo feat >feat.txt; git add -A; g commit -qm feat; git checkout -q main
git clone -q --depth 1 --no-single-branch "file://$D/src" "$R"; cd "$R"; git config user.name Keeper; git config user.email keeper@example.org; git branch -q feature origin/feature
holds sh -c '[ "$(git rev-parse --is-shallow-repository)" = true ]'
cannot git merge-base main feature
cannot git merge --no-commit feature
git merge --abort 2>/dev/null || true
holds git -C "$D/src" merge-tree --write-tree main feature
