#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MiniGhost in Fortran: the options, grids, reports and failures of the one in C, on any mix of devices, and
# each restarts from the other's checkpoints.
# TEST: mpi=yes labels=fortran,programs
# shellcheck disable=SC2086 # variables of several words
. "$META_TEST_SRCDIR/tests/programs.sh"
need_opencl
golden=$META_TEST_SRCDIR/tests/golden

# Of a report what does not depend on the time, nor on the order in which plain sums are made.
report()
{
    sed -e 's/meta-minighost-f/meta-minighost/' -e '/ s for [0-9]* time steps/d' -e '/^ *[0-9]* *[0-9]* *[0-9]* .*e[-+]/d' \
        -e '/^variable/d' -e '/^cells were moved/d' out
}
# both RANKS ARGUMENT…: the same grid and report of either program.
both()
{
    ranks=$1
    shift
    run 0 "$ranks" meta-minighost "$@" --grid-out in_c.f64
    report >in_c
    run 0 "$ranks" meta-minighost-f "$@" --grid-out in_fortran.f64
    report >in_fortran
    cmp -s in_c.f64 in_fortran.f64 || broken 'the grid is another one'
    cmp -s in_c in_fortran || broken 'the report is another one'
}

run 0 1 meta-minighost-f --help
grep -q '^usage: meta-minighost-f' out || broken 'no usage'
run 0 1 meta-minighost-f --version
grep -q '^meta-minighost-f ' out || broken 'another name'

small='--scaling 1 --nx 20 --ny 16 --nz 12 --num_vars 1 --num_tsteps 10 --comm_method 11'
several='--scaling 1 --nx 9 --ny 7 --nz 5 --num_vars 3 --num_spikes 2 --num_tsteps 4'
run 1 2 meta-minighost-f $small --stencil 23 --grid-in "$golden/initial.f64" --expect "$golden/stencil24.final.f64"
last_line FAIL
for map in '*:openmp' '*:opencl' '0:opencl,*:openmp'; do
    META_RANK_MAP=$map
    export META_RANK_MAP
    both 2 $small --npx 1 --npz 2 --stencil 23 --grid-in "$golden/initial.f64" --expect "$golden/stencil23.final.f64"
    last_line PASS
    both 3 $several --npx 3 --stencil 24 --type f32 --overlap on --percent_sum 50
    both 2 $several --npx 2 --stencil 22 --kernel reference --comm_method 11 --report_diffusion 1
done
both 2 $several --npx 2 --stencil 23 --type f32 --kernel reference
for balance in measured dynamic; do
    run 0 2 meta-minighost-f $small --stencil 23 --npx 1 --npz 2 --num_tsteps 60 --balance $balance --grid-out moved.f64
    last_line PASS
    run 0 1 meta-minighost $small --stencil 23 --num_tsteps 60 --expect moved.f64
    last_line PASS
done
unset META_RANK_MAP
both 1 $several --stencil 20 --debug_grid 1
both 1 $several --stencil 21 --vti seen --every 8
"$build/tests/read_vti" seen_000008.pvti seen.f64 2>err || broken 'the snapshot cannot be read'
cmp -s seen.f64 in_c.f64 || broken 'the snapshot is not of the grid'

# From one to the other and back, on other ranks.
both 1 $several --stencil 24
run 0 2 meta-minighost-f $several --stencil 24 --npx 2 --checkpoint_file cp --checkpoint_interval 3
for program in meta-minighost meta-minighost-f; do
    run 0 3 $program --restart_file cp --restart_cp_num 0 --npx 1 --npy 3 --grid-out on.f64
    cmp -s on.f64 in_c.f64 || broken 'going on gives another grid'
done
rm -f cp.[0-9]
run 0 2 meta-minighost $several --stencil 24 --npx 2 --checkpoint_file cp --checkpoint_interval 3
run 0 1 meta-minighost-f --restart_file cp --restart_cp_num 0 --grid-out on.f64
cmp -s on.f64 in_c.f64 || broken 'going on gives another grid'

# Reproducible sums have the same bits in either language.
META_REPRODUCIBLE=1
export META_REPRODUCIBLE
for kernel in fast reference; do
    run 0 2 meta-minighost $several --npx 2 --stencil 23 --report_diffusion 1 --kernel $kernel
    grep -E '^variable|^ .*e[-+]' out >in_c
    [ -s in_c ] || broken 'there are no sums'
    run 0 3 meta-minighost-f $several --npx 1 --npy 3 --stencil 23 --report_diffusion 1 --kernel $kernel
    grep -E '^variable|^ .*e[-+]' out >in_fortran
    cmp -s in_c in_fortran || broken 'the reproducible sums are others'
done
refused 2 'reproducible sum' meta-minighost-f $small --npx 2 --overlap on
unset META_REPRODUCIBLE

run 0 2 meta-minighost-f $several --npx 2 --report_perf 1 --json report.json
grep -q '"pass": true' report.json || broken 'there is no result in the file'
grep -q '^ *stencil' out || broken 'there is no report of the parts'
refused 2 'nx' meta-minighost-f --nx 12x
refused 2 'npx\*npy\*npz = 3' meta-minighost-f --npx 3
refused 2 'whole blocks' meta-minighost-f $small --overlap on --kernel reference
refused 2 'stencil 20' meta-minighost-f $small --stencil 20 --balance measured
refused 2 '[0-9]\{13,\} bytes' meta-minighost-f --ndim 12000 --num_vars 40
refused 2 'grid-in' meta-minighost-f $small --grid-in nowhere.f64
META_MODE=no-such-device
export META_MODE
refused 2 'no-such-device' meta-minighost-f $small --npx 2
unset META_MODE
[ $failed = 0 ] && echo 'kept   the program in Fortran is that in C'
exit $failed
