cat >verbs/board.sh <<'VERB'
# verb: board     the board at the quay
printf 'HARBOUR BOARD  %s   water %s m\n' "$1" "$(bin/harbour tides "$1")"
bin/harbour berths "$1" | awk -F'|' '{ printf "%2d  %-12s %s\n", $1, $2, $3 }'
VERB
cat >tests/board_test.sh <<'TEST'
. tests/assert.sh
line() { bin/harbour board "$1" | sed -n "$2p"; }

equal 'heading has time and water' 'HARBOUR BOARD  08:30   water 3.07 m' "$(line 08:30 1)"
equal 'berths are aligned' ' 1  North quay   Aurora' "$(line 08:30 2)"
equal 'free berth' ' 4  Dry dock     free' "$(line 08:30 5)"
finish
TEST
