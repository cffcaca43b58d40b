. tests/assert.sh

equal 'ships are listed by name' 'Aurora Brisling Cormorant Dunlin' "$(bin/harbour ships | tr '\n' ' ' | sed 's/ $//')"
equal 'verbs list themselves' 'ships' "$(bin/harbour | awk '$1 == "ships" { print $1 }')"
refused 'unknown verb' bin/harbour dragons
refused 'verb that is a path' bin/harbour ../src/clock
refused 'time that is none' bin/harbour ships noon
finish
