#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/run.sh fails where a test fails, where one is missing, and where its arguments match no test.
# TEST: labels=core,build
src=${META_TEST_SRCDIR:-.}
case $src in /*) ;; *) src=$PWD/$src ;; esac
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
mkdir tests
cat >CTestTestfile.cmake <<'END'
add_test(good true)
add_test(bad false)
add_test(missing /no/such/program)
add_test(elsewhere sh -c "echo skipped a_promise && exit 77")
set_tests_properties(elsewhere PROPERTIES SKIP_RETURN_CODE 77)
add_test(first.openmp echo "random cases: 12 with META_TEST_SEED=1, none wrong")
add_test(second.openmp.np2 echo "random cases: 30 with META_TEST_SEED=1, none wrong")
add_test(third.opencl echo "figure: 7 of 7")
add_test(slow false)
set_tests_properties(slow PROPERTIES LABELS long)
END
status=0
unset META_TEST_LONG
# ran STATUS WORDS ARGUMENT…
ran()
{
    want=$1 words=$2
    shift 2
    sh "$src/tests/run.sh" "$@" >out 2>&1
    got=$?
    if [ $got != "$want" ] || ! grep -q "$words" out; then
        echo "BROKEN: run.sh $*: status $got, expected $want, and the words: $words"
        cat out
        status=1
    fi
}
ran 0 '1 passed, 0 failed, 0 skipped' -R good
ran 1 '4 passed, 2 failed, 1 skipped, 1 promises skipped'
ran 1 '0 passed, 1 failed' -R bad
ran 1 '0 passed, 1 failed' -R missing
ran 0 'a_promise: elsewhere' -R elsewhere
ran 0 'random cases on openmp: 42, none wrong' -R openmp
ran 0 'third.opencl: 7 of 7' -R third
ran 1 'no test was run' -R nothing
ran 1 'no test was run' -R slow
META_TEST_TIMES=$here/times ran 0 '1 passed' -R good
grep -qx '[0-9.]* good' times || { echo 'BROKEN: META_TEST_TIMES has no time of the test:'; cat times; status=1; }
META_TEST_LONG=1
export META_TEST_LONG
ran 1 '0 passed, 1 failed' -R slow
[ $status = 0 ] && echo 'kept   tests/run.sh fails unless all that it was asked for passed'
exit $status
