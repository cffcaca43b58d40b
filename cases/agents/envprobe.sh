#!/bin/sh
# Prints its folder, its zone and the names of its variables, then does as ok.sh.
echo "cwd=$(pwd)"; echo "top=$(git rev-parse --show-toplevel)"; echo "zone=$(date +%z)"; echo "PATH=$PATH"; echo "umask=$(umask)"
env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/name=\1/p' | sort
exec "$(dirname "$0")/ok.sh"
