# Assertions for the tests: `equal WHAT EXPECTED GOT`, `refused WHAT ARGV...`, and `finish` at the end of a file.
failed=0

equal() {
    if [ "$2" = "$3" ]; then
        echo "ok - $1"
    else
        echo "not ok - $1: expected [$2], got [$3]"
        failed=$((failed + 1))
    fi
}

refused() {
    what=$1
    shift
    if "$@" >/dev/null 2>&1; then
        echo "not ok - $what: it was accepted"
        failed=$((failed + 1))
    else
        echo "ok - $what"
    fi
}

finish() {
    [ "$failed" -eq 0 ]
}
