# What a case asserts: facts of the file system, of git, of the process table, of exit codes and of JSON. Every fact
# that held is counted: a case that asserted none has not held. Sourced by every case.
set -eEuo pipefail
trap 'fails "line $LINENO: $BASH_COMMAND"' ERR

fails() { echo "FAILS: $*" >&2; exit 1; }
held() { echo "$1" >>"$CASE/facts"; }
# is WHAT GOT WANTED
is() { [ "$2" = "$3" ] || fails "$1: got '$2', wanted '$3'"; held "$1"; }
# isnt WHAT GOT UNWANTED
isnt() { [ "$2" != "$3" ] || fails "$1: got '$2'"; held "$1"; }
# most WHAT GOT LIMIT, least WHAT GOT LIMIT
most() { [ "$2" -le "$3" ] || fails "$1: $2, at most $3"; held "$1"; }
least() { [ "$2" -ge "$3" ] || fails "$1: $2, at least $3"; held "$1"; }
# ok WHAT COMMAND..., no WHAT COMMAND...
ok() { local what=$1; shift; "$@" >/dev/null 2>&1 || fails "$what"; held "$what"; }
no() { local what=$1; shift; if "$@" >/dev/null 2>&1; then fails "$what"; fi; held "$what"; }
# soon WHAT COMMAND...: within the limit.
soon() {
  local what=$1 end=$((SECONDS + LIMIT)); shift
  until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || fails "$what: not within $LIMIT s"; sleep 0.05; done
  held "$what"
}
# refused CODE COMMAND...: the product refuses with this code of its closed list, in JSON, and with an exit code.
refused() {
  local code=$1 got; shift; rm -f "$CASE/refusal"
  if "$@" >"$CASE/said" 2>/dev/null; then fails "not refused: $*"; fi
  [ -e "$CASE/refusal" ] || cp "$CASE/said" "$CASE/refusal"
  got=$(jq -r '.error.code // empty' "$CASE/refusal") || fails "no JSON of the refusal: $*"
  [ "$got" = "$code" ] || fails "refused with '$got', wanted '$code': $(head -c 300 "$CASE/refusal")"
  held "refused: $code"; echo "$code" >"$CASE/refused"
}
# What the case is about does not exist (yet).
unsupported() { echo "$*" >"$CASE/unsupported"; exit 77; }

# Living processes whose command line has a text, one a line; a zombie does not live.
procs() { TEXT=$1 awk 'BEGIN { while (("ps -eo pid=,stat=,args=" | getline) > 0) if ($2 !~ /^Z/ && index($0, ENVIRON["TEXT"])) print $1 }'; }
none() { [ -z "$(procs "$1")" ]; }
some() { [ -n "$(procs "$1")" ]; }
dead() { [ ! -e "/proc/$1" ] || grep -q '^[0-9]* (.*) [ZX]' "/proc/$1/stat" 2>/dev/null; }
lives() { ! dead "$1"; }
lines() { if [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi; }
full() { [ -s "$1" ]; }
# A text as a TOML (and JSON) string.
quoted() { printf %s "$1" | jq -Rs .; }
# A repository with one commit on main.
plain() {
  REPO=${1:-$(mktemp -d "$CASE/plain.XXXXXX")}; mkdir -p "$REPO"
  git -C "$REPO" init -q -b main; git -C "$REPO" config user.name Keeper; git -C "$REPO" config user.email keeper@example.org
  git -C "$REPO" config gc.auto 0; git -C "$REPO" commit -q --allow-empty -m base
}
# mk NN: one of the shapes of repositories; mkc NN: a scene of merges.
mk() { bash "$CASES"/repos/$1-*.sh "$CASE/$1" >"$CASE/$1.log" 2>&1 || fails "cannot build the shape $1: $(tail -3 "$CASE/$1.log")"; REPO=$CASE/$1/repo; }
mkc() { bash "$CASES"/merges/$1-*.sh "$CASE/m$1" >"$CASE/m$1.log" 2>&1 || fails "cannot build the merges $1: $(tail -3 "$CASE/m$1.log")"; REPO=$CASE/m$1/repo; }
# denied WHAT CODE: the last submit was refused with this code; noted, but not what the case is about.
denied() { [ "$(jq -r .error.code "$CASE/refusal")" = "$2" ] || fails "$1: $(head -c 300 "$CASE/refusal")"; touch "$CASE/denied"; held "$1"; }
