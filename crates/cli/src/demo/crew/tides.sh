# The first draft takes the height of the tide before. That is wrong between two tides, and the test says so; when
# the task comes back with that test's failure in it, the line is mended.
cat >verbs/tides.sh <<'VERB'
# verb: tides     how high the water stands
awk -F, -v at="$1" "$(cat src/clock.awk)"'
/^#/ { next }
{ time[++n] = minutes($1); height[n] = $2 }
END {
    now = minutes(at)
    if (now <= time[1]) { print metres(height[1]); exit }
    for (i = 2; i <= n; i++) if (now < time[i]) { print metres(between(i - 1, i)); exit }
    print metres(height[n])
}
function between(a, b) {
    return height[a]
}
' data/tides.csv
VERB
cat >tests/tides_test.sh <<'TEST'
. tests/assert.sh

equal 'height at high water' '4.20' "$(bin/harbour tides 06:20)"
equal 'height before the first tide' '1.00' "$(bin/harbour tides 00:00)"
equal 'height after the last tide' '4.40' "$(bin/harbour tides 23:00)"
equal 'height between two tides' '3.07' "$(bin/harbour tides 08:30)"
finish
TEST
case $prompt in
    *'not ok - height between two tides: expected [3.07], got [4.20]'*)
        echo "the gate says that the height between two tides is wrong: it has to change evenly"
        mended='return height[a] + (height[b] - height[a]) * (now - time[a]) / (time[b] - time[a])'
        verb=$(sed "s|return height\[a\]\$|$mended|" verbs/tides.sh)
        printf '%s\n' "$verb" >verbs/tides.sh
        ;;
esac
