#!/usr/bin/env bash
# A remote that refuses pushes to `main`, and a local hook that refuses them too and says much.
. "$(dirname "$0")/shape.sh"

git init -q --bare -b main "$D/remote.git"; new "$D/seed"; (cd "$D/seed"; echo 1 >a; git add -A; g commit -qm base; git push -q "file://$D/remote.git" main)
printf '#!/bin/sh\nwhile read o n r; do [ "$r" = refs/heads/main ] && { echo "remote: main is protected: use a review branch" >&2; exit 1; }\n[ "$n" != 0000000000000000000000000000000000000000 ] && [ "$o" != 0000000000000000000000000000000000000000 ] && [ "$(git merge-base $o $n 2>/dev/null)" != "$o" ] && { echo "remote: no force push" >&2; exit 1; }; done; exit 0\n' >"$D/remote.git/hooks/pre-receive"; chmod +x "$D/remote.git/hooks/pre-receive"
git clone -q "file://$D/remote.git" "$R"; cd "$R"; git config user.name Keeper; git config user.email keeper@example.org
printf '#!/bin/sh\ni=0; while [ $i -lt 3000 ]; do echo "pre-push check $i" >&2; i=$((i+1)); done\nwhile read l s r h; do [ "$r" = refs/heads/main ] && exit 1; done; exit 0\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push
echo 2 >a; g commit -qam two
cannot git push -q origin main
cannot git push -q --no-verify origin main
holds git push -q origin HEAD:refs/heads/side
g commit -q --amend -m 'two amended'; cannot git push -q --force origin HEAD:refs/heads/side
g reset -q --hard origin/main
