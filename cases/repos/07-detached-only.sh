#!/usr/bin/env bash
# A clone at a detached commit that no branch holds, without any local branch.
. "$(dirname "$0")/shape.sh"

new "$D/src"; (cd "$D/src"; for i in 1 2 3; do echo $i >v.txt; git add -A; g commit -qm c$i; done; git tag v1 HEAD~1)
git clone -q "file://$D/src" "$R"; cd "$R"; git config user.name Keeper; git config user.email keeper@example.org
git checkout -q --detach v1; git branch -qD main; git remote set-head origin -d; echo local >local.txt; git add -A; g commit -qm 'commit held by no ref'
holds sh -c '[ -z "$(git for-each-ref refs/heads)" ]'
cannot git symbolic-ref -q HEAD
