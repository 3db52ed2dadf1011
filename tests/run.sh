#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs ctest in the current folder with the given arguments, then counts tests passed, failed and
# skipped. Tests labelled long run only with META_TEST_LONG=1. Exit status 0: none failed, and
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

# LeakSanitizer stops all threads to scan them; if a driver's thread is just exiting, it sometimes
# aborts the test. Such a test is run again.
unseen()
{
    awk '/\*\*\*(Failed|Exception)/ { print $4 }' $log | while read -r name; do
        reports=$(ls tests/sanitizer | grep -E "^$name\.[0-9]+\$" | sed 's,^,tests/sanitizer/,')
        [ -n "$reports" ] && grep -q 'LeakSanitizer has encountered a fatal error' $reports &&
            rm -f $reports && echo "$name"
    done
}
again=$(unseen | sed 's/\./\\./g' | tr '\n' '|')
if [ -n "$again" ]; then
    echo 'LeakSanitizer could not look at some tests, which are run once more'
    "$ctest" --output-on-failure --no-label-summary -R "^(${again%|})\$" 2>&1 | tee -a $log
    echo 0 >$status # and each test's last run counts, below
fi

# Third-party libraries leak, some from modules already unloaded, which no suppression can name.
ours='#[0-9]+ 0x[0-9a-f]+ in .*/(core|comm|fortran|backends|kernels|peers|apps|tools|tests)/'
reports=$(grep -lE "$ours|runtime error" tests/sanitizer/* 2>/dev/null)
for report in $reports; do
    echo "sanitizer report $report:"
    head -n 60 "$report"
done

# The output of a passing test is only in ctest's own log.
sed -n 's/^bound\/public = /Fortran binding: &/p' Testing/Temporary/LastTest.log 2>/dev/null

awk '
    /^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: / {
        line = $0
        sub(/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: /, "", line)
        split(line, word, " ")
        if (!(word[1] in verdict)) names[++count] = word[1]
        verdict[word[1]] = line ~ /\*\*\*Skipped/ ? "skipped" : \
            line ~ / Passed +[0-9.]+ sec/ ? "passed" : "failed"
    }
    function list(which, title, k) {
        for (k = 1; k <= count; ++k)
            if (verdict[names[k]] == which && ++number[which] && (title != "")) {
                if (number[which] == 1) print title
                print "  " names[k]
            }
    }
    END {
        if (reports) print "sanitizers reported errors in our code, above"
        list("skipped", "skipped (no such device here):")
        list("failed", "failed:")
        list("passed", "")
        printf "%d passed, %d failed, %d skipped\n", number["passed"], number["failed"], number["skipped"]
        exit number["failed"] > 0
    }' reports="$(echo $reports | wc -w)" $log

test $? = 0 && test "$(cat $status)" = 0 && test -z "$reports"
