#!/bin/bash
# Deaf to every polite signal.
trap '' TERM INT HUP QUIT
while :; do sleep 1; done
