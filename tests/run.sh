#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs ctest in the current folder with the arguments given, then counts what passed, failed and was
# skipped. Tests labelled long take part where META_TEST_LONG is 1. Exit status 0: none failed, and
# no sanitizer found anything in our code.
ctest=${CTEST:-ctest}
log=tests/ctest.log
status=tests/ctest.status

test "${META_TEST_LONG-}" = 1 || set -- -LE '^long$' "$@"
: "${CTEST_PARALLEL_LEVEL:=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)}"
export CTEST_PARALLEL_LEVEL

rm -rf tests/sanitizer
mkdir -p tests/sanitizer
{ "$ctest" --output-on-failure --no-label-summary --no-tests=error "$@" 2>&1; echo $? >$status; } |
    tee $log

# Libraries below us leak, some after they were unloaded, so that no suppression can name them.
ours='#[0-9]+ 0x[0-9a-f]+ in .*/(core|comm|fortran|backends|kernels|peers|apps|tools|tests)/'
reports=$(grep -lE "$ours|runtime error" tests/sanitizer/* 2>/dev/null)
for report in $reports; do
    echo "sanitizer report $report:"
    head -n 60 "$report"
done

awk '
    /^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: / {
        line = $0
        sub(/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: /, "", line)
        split(line, word, " ")
        name = word[1]
        if (line ~ /\*\*\*Skipped/) skips[++skipped] = name
        else if (line ~ / Passed +[0-9.]+ sec/) ++passed
        else fails[++failed] = name
    }
    END {
        if (reports) print "sanitizers reported errors in our code, above"
        if (skipped) print "skipped (no such device here):"
        for (k = 1; k <= skipped; ++k) print "  " skips[k]
        if (failed) print "failed:"
        for (k = 1; k <= failed; ++k) print "  " fails[k]
        printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    }' reports="$(echo $reports | wc -w)" $log

test "$(cat $status)" = 0 && test -z "$reports"
