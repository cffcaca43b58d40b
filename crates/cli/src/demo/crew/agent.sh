# One member of the crew: `agent.sh FEATURE`, started in the feature's worktree, with the task on standard input.
# It edits files as a coding agent would and leaves the commit to Tidegate.
set -eu
feature=$1
desk=$HARBOUR_DESK
prompt=$(cat)

# Every start leaves a line outside of the repository, so that starts can be counted.
printf '%s %s\n' "$feature" "$$" >>"$desk/starts"

case $prompt in
    *"harbour $feature HH:MM"*) ;;
    *) echo "the task says nothing of 'harbour $feature'" >&2; exit 1 ;;
esac
echo "reading the spec of $feature"
. "$(dirname "$0")/$feature.sh"
echo "done: verbs/$feature.sh, tests/${feature}_test.sh"
