#!/bin/bash
# A child, a grandchild in a session of its own and one whose parents are gone each leave their pid in $NEST; it waits.
(echo $BASHPID >"$NEST/child"; exec sleep 601) &
setsid sh -c 'echo $$ >"$NEST/session"; exec sleep 602' &
( ( setsid sh -c 'echo $$ >"$NEST/daemon"; exec sleep 603' & ) & )
sleep 604
