# A longer piece of work: half of it stands in a draft when the agent is killed. The next attempt finds the draft in
# the worktree and goes on with it.
if [ -f verbs/cargo.sh.draft ] && [ "$(wc -l <verbs/cargo.sh.draft)" -eq 7 ]; then
    echo "going on with the draft of an earlier attempt"
else
    cat >verbs/cargo.sh.draft <<'VERB'
# verb: cargo     what is in the holds
awk -F, -v at="$1" "$(cat src/clock.awk)"'
/^#/ { next }
FILENAME ~ /calls/ {
    if (minutes($3) <= minutes(at) && minutes(at) < minutes($4)) here[$1] = 1
    next
}
VERB
fi
# The demo holds the agent here, in the middle of its work. Bounded, so that nothing waits for a demo that is gone.
seconds=0
while [ -f "$desk/hold-cargo" ] && [ "$seconds" -lt 120 ]; do
    : >"$desk/holding-cargo"
    sleep 1
    seconds=$((seconds + 1))
done
head -n 7 verbs/cargo.sh.draft >verbs/cargo.sh
rm verbs/cargo.sh.draft
cat >>verbs/cargo.sh <<'VERB'
$1 in here { tonnes[$1] += $3 }
END { for (ship in tonnes) print ship "|" tonnes[ship] }
' data/calls.csv data/cargo.csv | sort -t '|' -k 2 -n -r
VERB
cat >tests/cargo_test.sh <<'TEST'
. tests/assert.sh

equal 'heaviest first' 'Cormorant|2400' "$(bin/harbour cargo 10:00 | sed -n 1p)"
equal 'goods of a ship are added up' 'Aurora|600' "$(bin/harbour cargo 10:00 | grep Aurora)"
equal 'ships that are away do not count' '' "$(bin/harbour cargo 05:00)"
finish
TEST
