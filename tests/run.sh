#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs ctest in the current folder with the arguments given, then counts what passed, failed and was
# skipped, and lists the promises that ran no check. Tests labelled long take part where META_TEST_LONG
# is 1. With META_TEST_TIMES=FILE, the time of each test is appended to that file. Exit status 0: none failed,
# and no sanitizer found anything in our code.
ctest=${CTEST:-ctest}
log=tests/ctest.log
status=tests/ctest.status
skipped=tests/ctest.skipped
times=tests/ctest.times

test "${META_TEST_LONG-}" = 1 || set -- -LE '^long$' "$@"
# One more than there are cores, since many tests wait for processes or timeouts.
: "${CTEST_PARALLEL_LEVEL:=$(($(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1) + 1))}"
export CTEST_PARALLEL_LEVEL

# Open MPI's jobs have a folder in common, which the last one that ends removes: one that begins meanwhile may fail.
if grep -q OMPI_ CTestTestfile.cmake 2>/dev/null; then
    kept=${TMPDIR:-/tmp}/ompi.$(uname -n | sed 's/\..*//').$(id -u)/tests.$$
    mkdir -p -m 700 "$kept" && trap 'rmdir "$kept"; rmdir "${kept%/*}" 2>/dev/null' EXIT
fi

rm -rf tests/sanitizer
mkdir -p tests/sanitizer
{ "$ctest" --output-on-failure --no-label-summary --no-tests=error "$@" 2>&1; echo $? >$status; } |
    tee $log

# PROMISE TEST of what the last run of ctest skipped; a test prints a line for each.
skipped_promises()
{
    awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
        /^skipped [A-Za-z0-9_]+$/ { print $2, test }' Testing/Temporary/LastTest.log 2>/dev/null
}
skipped_promises >$skipped

# LeakSanitizer stops all threads to look at them; now and then a driver's thread is just ending, and
# it ends the test instead. Such a test is run once more, and where it ends so again without LeakSanitizer.
unseen()
{
    awk '/\*\*\*(Failed|Exception)/ { print $4 }' $log | sort -u | while read -r name; do
        reports=$(ls tests/sanitizer | grep -E "^$name\.[0-9]+\$" | sed 's,^,tests/sanitizer/,')
        [ -n "$reports" ] && grep -q 'LeakSanitizer has encountered a fatal error' $reports &&
            rm -f $reports && echo "$name"
    done
}
for leaks in 1 0; do
    again=$(unseen | sed 's/\./\\./g' | tr '\n' '|')
    [ -n "$again" ] || break
    case $leaks in
        1) echo 'LeakSanitizer could not look at some tests, which are run once more' ;;
        *) echo 'LeakSanitizer could not look at some tests twice, which are run without it' ;;
    esac
    META_TEST_LEAKS=$leaks "$ctest" --output-on-failure --no-label-summary -R "^(${again%|})\$" 2>&1 | tee -a $log
    skipped_promises >>$skipped
    echo 0 >$status # and each test's last run counts, below
done

# Third-party libraries leak, some from modules already unloaded, which no suppression can name.
ours='#[0-9]+ 0x[0-9a-f]+ in .*/(core|comm|fortran|metamorph|backends|kernels|peers|apps|tools|tests)/'
reports=$(grep -lE "$ours|runtime error" tests/sanitizer/* 2>/dev/null)
for report in $reports; do
    echo "sanitizer report $report:"
    head -n 60 "$report"
done

# Random cases by back end, and figures of other long runs, from the lines that tests print.
awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
    /^random cases: / {
        device = test ~ /\.(auto|sims)/ ? "auto" : test ~ /\.mixed/ ? "several devices" : \
            match(test, /\.(openmp|opencl|cuda|hip)/) ? substr(test, RSTART + 1, RLENGTH - 1) : \
            "any device"
        if (!(device in cases)) order[++devices] = device
        cases[device] += $3
        if ($0 !~ / none wrong$/) wrong[device] = 1
    }
    /^figure: / { print test ": " substr($0, 9) }
    END {
        for (k = 1; k <= devices; ++k)
            printf "random cases on %s: %d, %s wrong\n", order[k], cases[order[k]],
                wrong[order[k]] ? "some" : "none"
    }' Testing/Temporary/LastTest.log 2>/dev/null
# The output of a passing test is only in ctest's own log.
sed -n 's/^bound\/public = /Fortran binding: &/p' Testing/Temporary/LastTest.log 2>/dev/null

LC_ALL=C sort -u -o $skipped $skipped
awk '
    FILENAME == skipped {
        if (!($1 in where)) promise[++promises] = $1
        where[$1] = where[$1] " " $2
        ++skips
        next
    }
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
        if (!count) print "no test was run: the patterns match none"
        if (reports) print "sanitizers reported errors in our code, above"
        if (promises) print "promises that ran no check (no such device or compiler here):"
        for (k = 1; k <= promises; ++k) print "  " promise[k] ":" where[promise[k]]
        list("skipped", "skipped (no such device or compiler here):")
        list("failed", "failed:")
        list("passed", "")
        printf "%d passed, %d failed, %d skipped", number["passed"], number["failed"], number["skipped"]
        printf skips ? ", %d promises skipped\n" : "\n", skips
        exit number["failed"] > 0 || !count
    }' reports="$(echo $reports | wc -w)" skipped=$skipped $skipped $log

passed=$?

# SECONDS TEST, the slowest first; .ci/run collects them of all its sections.
sed -n 's/^ *[0-9]*\/[0-9]* *Test *#[0-9]*: \([^ ]*\) .* \([0-9.]*\) sec.*/\2 \1/p' $log | LC_ALL=C sort -k1,1nr >$times
if [ "$(wc -l <$times)" -gt 10 ]; then
    echo 'the slowest, in seconds:'
    head -n 10 $times
fi
[ -z "${META_TEST_TIMES-}" ] || cat $times >>"$META_TEST_TIMES"

test $passed = 0 && test "$(cat $status)" = 0 && test -z "$reports"
