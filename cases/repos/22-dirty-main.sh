#!/usr/bin/env bash
# The user is in the middle of things: staged, unstaged and untracked work, a lock of the index that nobody holds, a
# rebase that stopped at a conflict.
. "$(dirname "$0")/shape.sh"

new "$R"; cd "$R"; seq 1 30 >f.txt; echo k >keep.txt; git add -A; g commit -qm base
git checkout -q -b feature; sed -i 's/^25$/25-feature/' f.txt; echo 'from feature' >new.txt; git add -A; g commit -qm feature
git checkout -q main; git checkout -q -b conflicted HEAD; sed -i 's/^3$/3-x/' f.txt; g commit -qam x; git checkout -q main; sed -i 's/^3$/3-y/' f.txt; g commit -qam y
git checkout -q conflicted; g rebase main >/dev/null 2>&1 || true
holds test -d .git/rebase-merge
git worktree add -q "$D/main-wt" main 2>/dev/null; cd "$D/main-wt"; echo 'my unsaved edit' >>keep.txt; echo 'staged by user' >>f.txt; git add f.txt; echo 'my own new.txt, not committed' >new.txt
cannot git merge feature
touch "$(git rev-parse --git-dir)/index.lock"; cannot git add keep.txt
holds grep -q 'my unsaved edit' keep.txt
