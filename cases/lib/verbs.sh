# The one adapter between the cases and Tidegate: what a case calls, said in Tidegate's verbs. Sourced by every case.
# $TIDEGATE the binary, $CASE the folder of this case alone, $CASES where this file's folder is, $LIMIT the seconds
# that anything is waited for. A case has a home, a user and an environment of its own.
A=$CASE/agents
REPO=$CASE/harbour
export A REPO

tg() { "$TIDEGATE" "$@"; }
# The data of a verb's answer.
data() { tg --json "$@" | jq -e .data; }

# sub AGENT [REPO] [key=value ...]: a plan of one feature whose agent is this line for bash; prints the run.
# keys: name gate gate_timeout timeout grace attempts iterations review lane prompt commit slots pass more (further lines of the config)
sub() {
  local agent=$1 repo=${2:-$REPO} place pair
  local name=change gate= gate_timeout=30s timeout=2m grace=2s attempts=1 iterations=1 review=person lane= more=
  local prompt='Do the work.' commit=auto slots=5 pass='"CASE", "A", "SECS", "CODE", "SIG", "MODE", "COUNTER", "NEST", "KEEP", "SAW", "RESET", "MSG"' allow=false
  shift; [ $# -eq 0 ] || shift
  for pair in "$@"; do local "${pair%%=*}=${pair#*=}"; done
  place=$(mktemp -d "$CASE/sub.XXXXXX"); mkdir -p "$place/config/tidegate"
  printf '%s\n' "$agent" >"$place/agent.sh"
  {
    printf 'target = "main"\ncommit = "%s"\n[agent.crew]\nargv = ["bash", "%s"]\nprompt = "stdin"\n' "$commit" "$place/agent.sh"
    printf 'timeout = "%s"\n[role.builder]\nagent = "crew"\n' "$timeout"
    [ -z "$gate" ] || printf '[gate.check]\nrun = %s\ntimeout = "%s"\n' "$(quoted "$gate")" "$gate_timeout"
    printf '[review]\npolicy = "%s"\n[landing]\nstrategy = "merge"\n' "$review"
    [ -z "$gate" ] || printf 'merge_gates = ["check"]\n'
    printf '[limits]\nmax_attempts = %s\nmax_iterations = %s\nactive_features = %s\ngrace = "%s"\n' "$attempts" "$iterations" "$slots" "$grace"
    printf '[env]\npass = [%s]\n%s\n' "$pass" "$more"
  } >"$place/config/tidegate/config.toml"
  {
    printf 'title = "Case"\n[[wave]]\n[[wave.feature]]\nid = %s\nprompt = %s\n' "$(quoted "$name")" "$(quoted "$prompt")"
    [ -z "$gate" ] && printf 'gates = []\n' || printf 'gates = ["check"]\n'
    [ "$allow" = false ] || printf 'allow_no_change = true\n'
  } >"$place/plan.toml"
  subp "$place/plan.toml" "$repo" "$place/config" "$lane"
}

# subp PLAN [REPO] [CONFIG FOLDER] [LANE]: submits a plan, in a queue of its own unless a lane is named; prints the run.
subp() {
  local queue=(--adhoc-run "q$BASHPID-$RANDOM") answer code=0
  [ -z "${4:-}" ] || queue=(--lane "$4")
  answer=$(mktemp "$CASE/answer.XXXXXX")
  (cd "${2:-$REPO}" && XDG_CONFIG_HOME=${3:-$XDG_CONFIG_HOME} tg --json submit "${queue[@]}" "$1") >"$answer" || code=$?
  [ $code -eq 0 ] || { cp "$answer" "$CASE/refusal"; return $code; }
  jq -er .data.runId "$answer"
}

# lau LINE [flags ...]: a launcher run of this line for bash; prints the run.
lau() {
  local line=$1; shift
  (cd "$REPO" && data submit --adhoc-run "q$BASHPID-$RANDOM" --resume-limit 0 "$@" -- bash -c "$line") | jq -er .runId
}

stj() { data status "$1"; }
# One word: the state of the run's only feature, else the run's.
st() { stj "$1" | jq -r 'if (.features | length) == 1 then .features[0].state else .status end'; }
# A field of the run, of its only feature, of its jobs.
run_() { stj "$1" | jq -r "$2"; }
feature() { stj "$1" | jq -r ".features[0]$2"; }
jobs_() { api "/runs/$1/jobs" | jq -r ".data.jobs$2"; }
lg() { tg logs "$@"; }
kil() { tg --json cancel "$1" >/dev/null; }
ret() { tg --json retry "$@" >/dev/null; }
# app RUN [COMMIT]: consents to what the run shows, or to this commit.
app() { tg --json approve "$1" --feature "$(feature "$1" .id)" --commit "${2:-$(feature "$1" .commit)}" >/dev/null; }
# mrg RUN: waits for what becomes of the landing.
mrg() { await "$1" landed blocked failed; }
# gcx: cleans up after all ended runs; what stays is told, and is no failure.
gcx() { tg --json cleanup --yes >"$CASE/cleanup"; }
dmn() {
  case $1 in
    pid) data daemon status | jq -er 'select(.running) | .pid' ;;
    kill9) local pid; pid=$(dmn pid); kill -9 "$pid"; soon "the daemon's end" dead "$pid" ;;
    *) tg --json daemon "$@" >/dev/null ;;
  esac
}
# api PATH [flags of curl ...]: a request on the socket.
api() { local path=$1; shift; (cd "$TIDEGATE_HOME" && curl -sS --max-time 20 --unix-socket daemon.sock "$@" "http://tidegate/api/v1$path"); }
# Whether the product has a verb.
has() { tg "$@" --help >/dev/null 2>&1; }

# await RUN STATE...: until the run is in one of these states; fails at once when it has ended in another.
await() {
  local run=$1 now end=$((SECONDS + LIMIT)); shift
  while :; do
    now=$(st "$run") || fails "$run: no status"
    for state in "$@"; do [ "$now" != "$state" ] || return 0; done
    case $now in landed | failed | cancelled | skipped | completed) fails "$run is $now, not $*: $(tg explain "$run" | head -20)" ;; esac
    [ $SECONDS -lt $end ] || fails "$run stays $now, not $*: $(tg explain "$run" | head -20)"
    sleep 0.1
  done
}
