#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With META_REPRODUCIBLE=1 our programs print the same sums, to the last digit, on any number of ranks and
# threads, any process grid and any mix of back ends; and they are correct.
# TEST: backends=any mpi=yes labels=programs
. "$META_TEST_SRCDIR/tests/programs.sh"
need_opencl
golden=$META_TEST_SRCDIR/tests/golden
META_REPRODUCIBLE=1
export META_REPRODUCIBLE

# same NAME: what was printed of sums is what it was the first time under this name.
same()
{
    last_line PASS
    grep -e '^ *[0-9][0-9]* .*e[-+][0-9]*$' -e '^variable' -e '^result' out >found
    [ -s found ] || broken 'prints no sums'
    [ -f "$1" ] || cp found "$1"
    cmp -s found "$1" || { diff "$1" found; broken 'the sums are other ones'; }
}

several='--scaling 1 --nx 19 --ny 7 --nz 13 --num_vars 3 --num_spikes 2 --num_tsteps 6 --report_diffusion 1'
for type in f64 f32; do
    stencils='21 24'
    [ $type = f64 ] || [ "${META_TEST_LONG-0}" = 1 ] || stencils=24 # has all directions
    for stencil in $stencils; do
        for map in '*:openmp' '0:opencl,*:openmp' '0:openmp,*:opencl'; do
            META_RANK_MAP=$map
            META_THREADS=2
            export META_RANK_MAP META_THREADS
            for ranks in $(few 1 2 3 4); do
                # shellcheck disable=SC2086
                case $ranks in
                1) run 0 1 meta-minighost $several --type $type --stencil $stencil ;;
                2) run 0 2 meta-minighost $several --type $type --stencil $stencil --npx 1 --npy 2 ;;
                3) run 0 3 meta-minighost $several --type $type --stencil $stencil --npx 1 --npz 3 ;;
                *) run 0 4 meta-minighost $several --type $type --stencil $stencil --npx 2 --npy 2 ;;
                esac
                same sums.$type.$stencil
                META_THREADS=1
            done
        done
    done
    for ranks in $(few 1 2 3); do
        run 0 "$ranks" meta-dot3d --nx 12 --ny 9 --nz 7 --iters 2 --type $type
        same product.$type
    done
done
# shellcheck disable=SC2086
run 0 2 meta-minighost $several --type f64 --stencil 24 --npx 2 --kernel reference
same sums.f64.24

small='--scaling 1 --nx 20 --ny 16 --nz 12 --num_vars 1 --num_tsteps 10 --stencil 23'
# shellcheck disable=SC2086
run 0 2 meta-minighost $small --grid-in "$golden/initial.f64" --expect "$golden/stencil23.final.f64"
same golden
exit $failed
