cat >verbs/notice.sh <<'VERB'
# verb: notice    the board, and the cargo in the harbour
bin/harbour board "$1"
bin/harbour cargo "$1" | awk -F'|' '{ total += $2 } END { printf "cargo in the harbour: %d t\n", total }'
VERB
cat >tests/notice_test.sh <<'TEST'
. tests/assert.sh

equal 'board comes first' 'HARBOUR BOARD' "$(bin/harbour notice 10:00 | sed -n '1s/  .*//p')"
equal 'cargo stands below' 'cargo in the harbour: 3035 t' "$(bin/harbour notice 10:00 | tail -n 1)"
equal 'empty harbour has none' 'cargo in the harbour: 0 t' "$(bin/harbour notice 03:00 | tail -n 1)"
finish
TEST
