#!/usr/bin/env bash
# Paths and branches that differ in the case of their letters alone.
. "$(dirname "$0")/shape.sh"

new "$R"; cd "$R"; echo up >README.md; git add -A
for p in readme.md Src/Main.rs src/main.rs SRC/MAIN.rs; do git update-index --add --cacheinfo 100644,$(printf '%s\n' "$p" | git hash-object -w --stdin),$p; done
g commit -qm collide; git reset -q --hard
git branch Feature/Login; git branch feature/login; git branch FEATURE/LOGIN 2>/dev/null || true; git pack-refs --all
holds sh -c '[ "$(git ls-files | wc -l)" = 5 ]'
holds sh -c '[ "$(git for-each-ref --format="%(refname)" refs/heads | tr A-Z a-z | sort | uniq -c | sort -rn | head -1 | awk "{print \$1}")" -ge 2 ]'
