#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The proxy application in Fortran: the options, results and failures of the one in C, on any mix of
# devices.
# TEST: mpi=yes labels=fortran,programs
. "$META_TEST_SRCDIR/tests/programs.sh"
need_opencl

cube='--nx 11 --ny 6 --nz 5 --iters 2'
for type in $(few f32 i64 u32); do
    # shellcheck disable=SC2086 # words
    run 0 3 meta-dot3d $cube --type $type
    grep -E '^(result|closed form|  grid)' out >in_c
    # shellcheck disable=SC2086
    run 0 3 meta-dot3d-f $cube --type $type
    last_line PASS
    grep -E '^(result|closed form|  grid)' out >in_fortran
    case $type in
    f*) ;; # whose sums are in any order
    *) cmp -s in_c in_fortran || broken 'the result is another one' ;;
    esac
done
META_RANK_MAP='0:opencl,*:openmp'
export META_RANK_MAP
run 0 3 meta-dot3d-f --nx 300 --ny 70 --nz 90 --iters 2 --type i32
last_line PASS
unset META_RANK_MAP

META_REPRODUCIBLE=1
export META_REPRODUCIBLE
run 0 2 meta-dot3d --nx 40 --ny 20 --nz 10 --iters 3
grep '^result' out >in_c
run 0 3 meta-dot3d-f --nx 40 --ny 20 --nz 10 --iters 3
grep '^result' out | cmp -s - in_c || broken 'the reproducible result is another one'
unset META_REPRODUCIBLE

run 0 2 meta-dot3d-f --nx 11 --ny 6 --nz 5 --iters 2 --json report.json
grep -q '"result"' report.json || broken 'there is no result in the file'
refused 2 'type' meta-dot3d-f --type i8
refused 3 'nx' meta-dot3d-f --nx 2
META_MODE=no-such-device
export META_MODE
refused 2 'no-such-device' meta-dot3d-f --nx 11 --ny 6 --nz 5
unset META_MODE
test $failed = 0 && echo 'kept   the program in Fortran is that in C'
exit $failed
