. tests/assert.sh
clock() { awk -f src/clock.awk -f "$1" </dev/null; }
program=$(mktemp)
trap 'rm -f "$program"' EXIT

echo 'BEGIN { print minutes("08:30"), minutes("00:00") }' >"$program"
equal 'minutes of a time' '510 0' "$(clock "$program")"
echo 'BEGIN { print metres(3.071), metres(4) }' >"$program"
equal 'metres have two digits' '3.07 4.00' "$(clock "$program")"
finish
