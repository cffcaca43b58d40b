#!/usr/bin/env bash
# A large random file with several versions on a branch. `MB` says how large (64).
. "$(dirname "$0")/shape.sh"

MB=${MB:-64}
new "$R"; cd "$R"; git config core.bigFileThreshold 1m; git config core.compression 0; echo small >small.txt; head -c ${MB}M /dev/urandom >model.bin; git add -A; g commit -qm v1
git checkout -q -b work; dd if=/dev/urandom of=model.bin bs=1M seek=$((MB/2)) count=2 conv=notrunc status=none; echo more >>small.txt; g commit -qam v2; dd if=/dev/urandom of=model.bin bs=1M seek=3 count=1 conv=notrunc status=none; g commit -qam v3; git checkout -q main
holds sh -c 'git diff --numstat main work | grep -q "^-"'
du -sh .git | sed 's/^/  fact: .git /'
