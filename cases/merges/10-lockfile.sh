#!/usr/bin/env bash
# Two branches add a dependency each: the manifest can be merged, the lock file that is made of it cannot.
. "$(dirname "$0")/../repos/shape.sh"
new "$R"; cd "$R"

printf '#!/bin/sh\nsort -u deps.txt | { echo "# locked"; n=0; while read d; do n=$((n+1)); printf "%s %s\n" "$d" "$(printf %s "$d" | sha256sum | cut -c1-12)"; done; echo "sum $(sort -u deps.txt | cksum)"; } >deps.lock\n' >lock.sh
printf '#!/bin/sh\ncp deps.lock .want; ./lock.sh; cmp -s deps.lock .want; r=$?; rm -f .want; exit $r\n' >gate.sh; chmod +x *.sh; printf 'alpha 1\nkilo 1\nmike 1\nromeo 1\nzulu 1\n' >deps.txt; ./lock.sh; c base
on feat-a; sed -i '1a bravo 2' deps.txt; ./lock.sh; c a; on feat-b main; sed -i '4a tango 3' deps.txt; ./lock.sh; c b; on main
M0=$(git rev-parse main)
land feat-a; ./gate.sh; conflicts feat-b deps.lock; g merge -q feat-b >/dev/null 2>&1 || true; git checkout -q --ours deps.lock; if ./gate.sh; then echo 'ours should fail the gate' >&2; exit 3; fi; ./lock.sh; ./gate.sh; git add -A; g commit -qm 'regenerated'; ./gate.sh; g reset -q --hard HEAD~1
git checkout -q main 2>/dev/null || true; g reset -q --hard "$M0"
