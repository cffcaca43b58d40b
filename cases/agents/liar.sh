#!/bin/sh
# Says that it is done and has changed nothing.
echo "All tasks are complete and every test passes."
