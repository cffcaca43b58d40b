# What every shape and every scene of merges begins with. `SCRIPT FOLDER` builds `FOLDER/repo` in a new folder, without
# network and without a user's git config, and fails when the trap that it is about is not there.
set -euo pipefail
D=${1:?usage: $0 FOLDER}; mkdir -p "$D"; D=$(cd "$D" && pwd -P); R=$D/repo
[ -z "$(ls -A "$D")" ] || { echo "$D is not empty" >&2; exit 2; }
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 LC_ALL=C.UTF-8
export GIT_AUTHOR_NAME=Keeper GIT_AUTHOR_EMAIL=keeper@example.org
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR
T=1700000000
# git with commits a minute apart, so that every build has the same ids.
g() { T=$((T + 60)); GIT_AUTHOR_DATE="$T +0000" GIT_COMMITTER_DATE="$T +0000" git "$@"; }
new() { git init -q -b main "$1"; git -C "$1" config user.name Keeper; git -C "$1" config user.email keeper@example.org; git -C "$1" config gc.auto 0; }
holds() { "$@" >/dev/null 2>&1 || { echo "the trap is not there: $*" >&2; exit 3; }; }
cannot() { ! "$@" >/dev/null 2>&1 || { echo "the trap is not there, this succeeds: $*" >&2; exit 3; }; }
# For scenes of merges: a commit of everything, a branch from main, a merge that goes, one that conflicts in these files.
c() { git add -A; g commit -q --allow-empty -m "$1"; }
on() { git checkout -q "$1" 2>/dev/null || git checkout -q -b "$1" "${2:-main}"; }
land() { g merge -q --no-ff -m "land $1" "$1"; }
conflicts() {
  local branch=$1; shift
  cannot g merge -q --no-ff -m x "$branch"
  holds [ "$(git diff --name-only --diff-filter=U | sort -u | xargs)" = "$(printf '%s\n' "$@" | sort -u | xargs)" ]
  g merge --abort
}
