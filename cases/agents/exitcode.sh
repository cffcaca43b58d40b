#!/bin/sh
# Ends with $CODE (7).
echo "exit ${CODE:-7}"; exit "${CODE:-7}"
