#!/usr/bin/env bash
# `core.hooksPath` is relative and names a tracked folder; its hooks refuse a commit without a ticket.
. "$(dirname "$0")/shape.sh"

new "$R"; cd "$R"; mkdir -p .githooks; printf '#!/bin/sh\nif [ ! -f .ticket ]; then echo "pre-commit: no .ticket file, commit refused" >&2; exit 1; fi\n' >.githooks/pre-commit
printf '#!/bin/sh\ngrep -qE "^(feat|fix|chore)(\\(.+\\))?: " "$1" || { echo "commit-msg: need feat|fix|chore prefix" >&2; exit 1; }\n' >.githooks/commit-msg; chmod +x .githooks/*
echo code >code.txt; touch .ticket; git add -A; g commit -qm 'chore: base'; git rm -q --cached .ticket; echo .ticket >.gitignore; git add -A; g commit -qm 'chore: ignore ticket'; git config core.hooksPath .githooks
git worktree add -q -b probe "$D/probe"; echo x >>"$D/probe/code.txt"
cannot git -C "$D/probe" commit -qam 'feat: x'
touch "$D/probe/.ticket"; cannot git -C "$D/probe" commit -qam 'did stuff'
holds git -C "$D/probe" commit -qam 'feat: x'
git worktree remove --force "$D/probe"; git branch -qD probe
