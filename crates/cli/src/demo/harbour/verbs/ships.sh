# verb: ships     every ship that calls today
awk -F, '!/^#/ { print $1 }' data/calls.csv | sort
