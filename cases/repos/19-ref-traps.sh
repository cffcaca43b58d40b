#!/usr/bin/env bash
# Branch names that stand in the way of others, look like objects, tags, files or `HEAD`.
. "$(dirname "$0")/shape.sh"

new "$R"; cd "$R"; echo a >a; echo b >build; git add -A; g commit -qm a; echo c >>a; g commit -qam b
git branch run; git branch wave/1/feature/x; git branch 'feat/foo'; git branch 'feat-foo'; git branch 'topic/ünï-코드-🚀'; git branch "long/$(printf 'n%.0s' $(seq 200))"; git branch "$(git rev-parse HEAD | cut -c1-12)" HEAD~1; git tag main-tag; git branch v1.0 HEAD~1; git tag v1.0 HEAD; git branch build; git branch 'dot.lock-ish'; git update-ref refs/heads/HEAD HEAD~1; git update-ref refs/heads/-dash HEAD
cannot git branch run/1
cannot git branch wave/1
holds sh -c '[ "$(git rev-parse v1.0 2>/dev/null)" = "$(git rev-parse refs/tags/v1.0)" ] && [ "$(git rev-parse v1.0 2>/dev/null)" != "$(git rev-parse refs/heads/v1.0)" ]'
