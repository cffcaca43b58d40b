#!/usr/bin/env bash
# Two branches change one line, a third is about another file: the second needs a person, the third does not.
. "$(dirname "$0")/../repos/shape.sh"
new "$R"; cd "$R"

seq 1 10 >f.txt; c base; on feat-a; sed -i 's/^5$/5-a/' f.txt; c a; on feat-b main; sed -i 's/^5$/5-b/' f.txt; c b; on feat-c main; echo c >c.txt; c c; on main
M0=$(git rev-parse main)
land feat-a; conflicts feat-b f.txt; land feat-c
git checkout -q main 2>/dev/null || true; g reset -q --hard "$M0"
