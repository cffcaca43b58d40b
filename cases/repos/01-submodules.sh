#!/usr/bin/env bash
# A repository with two submodules, one of them with a submodule of its own, all by file URLs. A new worktree has
# their folders empty, and git clones none of them unless its protocol policy allows it.
. "$(dirname "$0")/shape.sh"

F="-c protocol.file.allow=always"
new "$D/inner"; echo inner >"$D/inner/inner.txt"; git -C "$D/inner" add -A; (cd "$D/inner"; g commit -qm inner)
new "$D/libA"; echo libA >"$D/libA/lib.txt"; (cd "$D/libA"; git add -A; g commit -qm libA; g $F submodule --quiet add "file://$D/inner" deps/inner; g commit -qm 'nest inner')
new "$D/libB"; echo v1 >"$D/libB/b.txt"; (cd "$D/libB"; git add -A; g commit -qm b1; echo v2 >b.txt; g commit -qam b2)
new "$R"; cd "$R"; echo top >README.md; printf '#!/bin/sh\ntest -f third_party/a/lib.txt && test -f third_party/a/deps/inner/inner.txt && test -f third_party/b/b.txt\n' >check.sh; chmod +x check.sh
git add -A; g commit -qm top
g $F submodule --quiet add "file://$D/libA" third_party/a; g $F submodule --quiet add "file://$D/libB" third_party/b
g commit -qm 'add submodules'; git $F submodule --quiet update --init --recursive
holds ./check.sh
git worktree add -q -b probe "$D/probe"; cannot sh -c "cd '$D/probe' && ./check.sh"
cannot git -C "$D/probe" submodule update --init --recursive
git -C "$D/probe" $F submodule --quiet update --init --recursive
holds sh -c "cd '$D/probe' && ./check.sh"
cannot git worktree remove "$D/probe"
git worktree remove --force "$D/probe"; git branch -qD probe
