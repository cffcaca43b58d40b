#!/usr/bin/env bash
# Two branches change lines far apart in one file: both land by themselves.
. "$(dirname "$0")/../repos/shape.sh"
new "$R"; cd "$R"

seq 1 30 >f.txt; c base; on feat-a; sed -i 's/^3$/3-a/' f.txt; c a; on feat-b main; sed -i 's/^27$/27-b/' f.txt; c b; on main
M0=$(git rev-parse main)
land feat-a; land feat-b; grep -q '^3-a$' f.txt; grep -q '^27-b$' f.txt
git checkout -q main 2>/dev/null || true; g reset -q --hard "$M0"
