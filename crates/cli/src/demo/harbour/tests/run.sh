#!/bin/sh
# Runs every test file and says how many failed.
cd "$(dirname "$0")/.." || exit 1
files=0
failed=0
for file in tests/*_test.sh; do
    files=$((files + 1))
    echo "# $file"
    sh "$file" || failed=$((failed + 1))
done
echo "$files test files, $failed failed"
[ "$failed" -eq 0 ]
