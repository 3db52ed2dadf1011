#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An error in Fortran without `stat` ends the program with status 1 and the library's message.
# TEST: backends=openmp labels=fortran
build=${META_TEST_BUILDDIR:-.}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
status=0
broken() { echo "BROKEN: $*"; cat "$here/out" "$here/err"; status=1; }

"$build/tests/fortran/test_fortran_errors" --stop >"$here/out" 2>"$here/err"
got=$?
[ $got = 1 ] || broken "exit status $got, expected 1"
grep -q "^meta_copy_h2d: argument 'src', dimension 2 has 4 elements, 'dst' 5" "$here/err" ||
    broken 'the message is not on standard error'
[ -s "$here/out" ] && broken 'it ran on'
test $status = 0 && echo 'kept   an error without stat stops the program'
exit $status
