#!/usr/bin/env bash
# Two branches that merged each other: `main` and `feature` have two merge bases.
. "$(dirname "$0")/shape.sh"

new "$R"; cd "$R"; seq 1 40 >f.txt; echo base >g.txt; git add -A; g commit -qm base
git branch feature; sed -i 's/^5$/5-main/' f.txt; g commit -qam m1; M1=$(git rev-parse HEAD)
git checkout -q feature; sed -i 's/^30$/30-feat/' f.txt; g commit -qam f1; F1=$(git rev-parse HEAD)
g merge -q --no-ff -m 'feat takes main' $M1
git checkout -q main; g merge -q --no-ff -m 'main takes feat' $F1
sed -i 's/^10$/10-main/' f.txt; g commit -qam m2; git checkout -q feature; sed -i 's/^20$/20-feat/' f.txt; g commit -qam f2; git checkout -q main
holds sh -c '[ "$(git merge-base --all main feature | wc -l)" = 2 ]'
holds git merge-tree --write-tree main feature
