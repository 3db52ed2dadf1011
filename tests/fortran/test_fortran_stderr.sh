#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard error of Fortran programs: the report of buffers that were never freed names labels
# and source locations, and the timer summary covers the work between its start and its print.
# TEST: backends=openmp labels=fortran
build=${META_TEST_BUILDDIR:-.}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
status=0
broken() { echo "BROKEN: $*"; cat "$here/err"; status=1; }
ran()
{
    "$build/tests/fortran/$1" "$2" >"$here/out" 2>"$here/err" || broken "$1 $2: exit status $?"
}
said() { grep -q -- "$1" "$here/err" || broken "there is no '$1'"; }

ran test_fortran_labels --leak
said '800 bytes.*("forgotten", allocated at solver.F90:12) was never freed'
said '100 bytes.*("staging", allocated at solver.F90:34) was never freed'
grep -q remembered "$here/err" && broken 'what was freed is in the report'
said '400 bytes.*("unsaid", allocated at .*) was never freed'

META_CHECK=1
export META_CHECK
ran test_fortran_labels --leak
said '("forgotten", allocated at solver.F90:12)'
said '("unsaid", allocated at [^ ]*test_fortran_labels+0x[0-9a-f]*)'
unset META_CHECK

ran test_fortran_profiling --summary
said '^ *fill f64  *5 '
said '^ *copy h2d  *1 '
said '^ *outer  *1 '
said '^ *inner  *1 '
[ "$(grep -c 'fill f64' "$here/err")" = 1 ] || broken 'there is more than one table'
test $status = 0 && echo 'kept   buffers that are left and timers are on standard error'
exit $status
