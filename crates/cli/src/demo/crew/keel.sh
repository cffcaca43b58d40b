cat >verbs/keel.sh <<'VERB'
# verb: keel      who has less than a metre under the keel
tide=$(bin/harbour tides "$1")
bin/harbour berths "$1" | awk -F'[|,]' -v tide="$tide" "$(cat src/clock.awk)"'
/^#/ { next }
FILENAME ~ /berths/ { depth[$1] = $3; next }
FILENAME ~ /calls/ { draught[$1] = $5; next }
$3 in draught {
    under = depth[$1] + tide - draught[$3]
    if (under < 1) print $3 " at " $2 ": " metres(under) " m under the keel"
}
' data/berths.csv data/calls.csv -
VERB
cat >tests/keel_test.sh <<'TEST'
. tests/assert.sh

equal 'ship in shallow water' 'Aurora at North quay: 0.13 m under the keel' "$(bin/harbour keel 11:50 | grep Aurora)"
equal 'deep water warns of nobody' '' "$(bin/harbour keel 06:20)"
finish
TEST
