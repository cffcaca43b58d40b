cat >verbs/berths.sh <<'VERB'
# verb: berths    which ship lies where
awk -F, -v at="$1" "$(cat src/clock.awk)"'
/^#/ { next }
FILENAME ~ /calls/ {
    if (minutes($3) <= minutes(at) && minutes(at) < minutes($4)) ship[$2] = $1
    next
}
{ print $1 "|" $2 "|" ($1 in ship ? ship[$1] : "free") }
' data/calls.csv data/berths.csv
VERB
cat >tests/berths_test.sh <<'TEST'
. tests/assert.sh
line() { bin/harbour berths "$1" | sed -n "$2p"; }

equal 'ship at its berth' '1|North quay|Aurora' "$(line 10:00 1)"
equal 'berth without a ship' '4|Dry dock|free' "$(line 10:00 4)"
equal 'second ship of the day at a berth' '2|Fish quay|Dunlin' "$(line 12:00 2)"
equal 'ship that has just left' '2|Fish quay|free' "$(line 11:00 2)"
equal 'berths are all there' '4' "$(bin/harbour berths 03:00 | grep -c free)"
finish
TEST
