//! What launchers, agents and gates of the scenes do.

/// Builders of the plan: one needs its gate's words to get it right.
pub(super) const AGENT: &str = r#"
case $feature in
    tides) case $prompt in
        *"between two tides"*) echo even >tides.txt ;;
        *) echo steps >tides.txt ;;
    esac ;;
    board) cat berths.txt tides.txt >board.txt ;;
    notice) cat board.txt cargo.txt >notice.txt ;;
    *) echo "$feature" >"$feature.txt" ;;
esac"#;

/// The gate that one of them fails.
pub(super) const CHECK: &str = r#"
! grep -qx steps tides.txt 2>/dev/null || { echo "not ok: between two tides"; exit 1; }"#;

/// Faults reach the verbs that a launcher calls only when it hands them on.
pub(super) const ARMED: &str = r#"
[ -z "${FAULT-}" ] || export TIDEGATE_FAIL="$FAULT" TIDEGATE_FAIL_ONCE="$T/once"
[ ! -e "$T/trace" ] || export TIDEGATE_FAIL_TRACE="$T/trace"
echo "launcher $TIDEGATE_RUN_TAG" >>"$T/starts"
"#;

/// Keeps its journal, wave by wave.
pub(super) const JOURNAL: &str = r#"
wave=${TIDEGATE_RESUME_WAVE:-${TIDEGATE_START_WAVE:-1}}
while [ "$wave" -le 2 ]; do
    tidegate progress --wave "$wave" --phase working
    echo "$wave" >>"$T/waves"
    wave=$((wave + 1))
done
tidegate progress --wave 2 --finalized completed --exit-code 0
exit 0"#;

/// Says nothing.
pub(super) const SILENT: &str = "sleep 0.3\nexit 3";

/// Registers an agent.
pub(super) const CREWED: &str = r#"
cat >"$T/crew.sh" <<'CREW'
echo "pilot $TIDEGATE_RUN_TAG.$$" >>"$T/starts"
tidegate agent register --id pilot --pid $$
echo $$ >"$T/registered"
sleep 0.4
tidegate agent exit --id pilot --code 0
CREW
sh "$T/crew.sh" &
wait
exit 3"#;

/// Takes no notice of TERM.
pub(super) const DEAF: &str = "trap '' TERM\nsetsid sleep 1000 &\nwait";

/// Asks a terminal for lines until it is told that it is over.
pub(super) const ASKS: &str = "echo ready
while :; do read line || continue; case $line in
over) echo bye; exit 7;; *) echo \"[$line]\";; esac; done";

/// Builders that write one line of the same file each, whatever is there already, and who joins them.
pub(super) const SAME_FILE: &str = r#"
case $TIDEGATE_ROLE in
    builder) { cat shared.txt 2>/dev/null || :; echo "$feature"; } | sort -u >shared.new
        mv shared.new shared.txt ;;
    reconciler) printf 'a\nb\n' >shared.txt ;;
esac"#;

/// Goes on from what it finds.
pub(super) const STEPS: &str =
    "if [ ! -e first.txt ]; then echo 1 >first.txt; else echo 2 >second.txt; fi";

/// Each its own file.
pub(super) const OWN_FILE: &str = r#"echo "$feature" >"$feature.txt""#;

/// Fails in the first worktree of each feature.
pub(super) const SETUP: &str =
    "[ -e $T/set.$TIDEGATE_FEATURE ] || { : >$T/set.$TIDEGATE_FEATURE; exit 1; }";

/// The pointer of a file in Git LFS.
pub(super) const POINTER: &str =
    "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";

/// Stands in for git-lfs: the content of the one file that is kept there.
pub(super) const LFS: &str = "#!/bin/sh\n[ \"$1\" = pull ] && echo art >art/logo.psd\n";
