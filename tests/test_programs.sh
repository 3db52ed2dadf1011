#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Our programs from the command line: correct runs end with PASS and status 0, wrong results with FAIL
# and 1, invalid input with one line on standard error, no file written, and 2.
# TEST: backends=any mpi=yes labels=programs
. "$META_TEST_SRCDIR/tests/programs.sh"
need_opencl
golden=$META_TEST_SRCDIR/tests/golden
small='--scaling 1 --nx 20 --ny 16 --nz 12 --num_vars 1 --num_tsteps 10 --stencil 23 --comm_method 11'

# refused_whole RANKS TEXT PROGRAM ARGUMENT…: refused, and no output file.
refused_whole()
{
    refused "$@"
    [ -z "$(find . -type f ! -name out ! -name err ! -name '*.f64')" ] || broken "left a file behind"
}

for program in meta-minighost meta-dot3d meta-minighost-mpi meta-dot3d-mpi meta-info; do
    run 0 1 $program --help
    grep -q '^usage: ' out || broken 'no usage'
    run 0 1 $program --version
    refused_whole 1 'no-such-option' $program --no-such-option
done

# Memory that is not there is said before it is touched.
for program in meta-dot3d meta-dot3d-mpi; do
    refused_whole 2 "of this node's memory" $program --nx 2000000 --ny 1000 --nz 1000
done

run 0 2 meta-minighost $small --grid-in "$golden/initial.f64" --expect "$golden/stencil23.final.f64"
last_line PASS
run 1 2 meta-minighost $small --grid-in "$golden/initial.f64" --expect "$golden/stencil24.final.f64"
last_line FAIL
run 0 2 meta-minighost-mpi $small --grid-in "$golden/initial.f64" \
    --expect "$golden/stencil23.final.f64"
last_line PASS
run 0 2 meta-minighost $small --type f32 --grid-in "$golden/initial.f64" \
    --expect "$golden/stencil23.final.f64"
last_line PASS

# A grid written by three ranks is what one rank goes on from, for several variables and spikes.
several='--scaling 1 --nx 9 --ny 7 --nz 5 --num_vars 3 --num_spikes 2 --num_tsteps 4 --stencil 24'
run 0 3 meta-minighost $several --npx 1 --npy 3 --grid-out three.f64
run 0 1 meta-minighost $several --npx 1 --grid-out one.f64
cmp -s three.f64 one.f64 || broken 'the grid depends on the process grid'
META_RANK_MAP='0:opencl,*:openmp'
export META_RANK_MAP
run 0 2 meta-minighost $several --npx 2 --expect one.f64
last_line PASS
run 0 2 meta-minighost $several --npx 2 --overlap on --grid-out overlap.f64
last_line PASS
cmp -s overlap.f64 one.f64 || broken 'the grid depends on when its parts are computed'
# The published algorithm leaves the same bits, on every device, in either type, and goes on from the
# other's checkpoint.
run 0 2 meta-minighost $several --npx 2 --kernel reference --grid-out reference.f64
last_line PASS
cmp -s reference.f64 one.f64 || broken 'the grid depends on the kernel'
for kernel in fast reference; do
    run 0 2 meta-minighost $several --npx 2 --type f32 --kernel $kernel --grid-out $kernel.f64 \
        --checkpoint_interval 3 --checkpoint_file $kernel
done
cmp -s reference.f64 fast.f64 || broken 'the grid depends on the kernel'
unset META_RANK_MAP
run 0 1 meta-minighost --restart_file fast --restart_cp_num 0 --kernel reference --grid-out on.f64
cmp -s on.f64 fast.f64 || broken 'going on with the other kernel gives another grid'
rm -f fast.[0-9] reference.[0-9]
run 0 2 meta-minighost $several --npx 2 --stencil 20
last_line PASS
run 0 2 meta-minighost $several --npx 2 --debug_grid 1 --percent_sum 0 --report_diffusion 0
last_line PASS

# Blocks of any size give the same bits, whatever makes ranks unequal, and go on from each other's
# checkpoints; pictures and files for ParaView are of the whole grid.
for map in '0:openmp,*:opencl' '*:openmp'; do
    META_RANK_MAP=$map
    export META_RANK_MAP
    for balance in measured dynamic; do
        run 0 2 meta-minighost $small --npx 1 --npz 2 --balance $balance --grid-in "$golden/initial.f64" \
            --expect "$golden/stencil23.final.f64"
        last_line PASS
        run 0 3 meta-minighost $several --npx 1 --npz 3 --balance $balance --expect one.f64 --json balance.json \
            --checkpoint_interval 3 --checkpoint_file uneven
        last_line PASS
        grep -q "\"balance\": \"$balance\"" balance.json || broken 'the file does not say how blocks are cut'
        [ "$(awk '/"cells":/ { gsub(/[^0-9]/, ""); sum += $0 } END { print sum }' balance.json)" = 315 ] ||
            broken 'the cells of the ranks are not 9 x 7 x 5'
        run 0 2 meta-minighost --restart_file uneven --restart_cp_num 0 --npx 2 --balance $balance --expect one.f64
        last_line PASS
        rm -f uneven.[0-9] balance.json
    done
    # Long enough to look at the time steps, and to move cells where that pays.
    longer='--scaling 1 --nx 19 --ny 17 --nz 40 --num_vars 2 --num_tsteps 120 --stencil 24'
    run 0 2 meta-minighost $longer --npx 1 --npz 2 --balance dynamic --grid-out dynamic.f64
    last_line PASS
    grep -q '^cells were moved [0-9]* time' out || broken 'does not say how often cells were moved'
    run 0 1 meta-minighost $longer --npx 1 --expect dynamic.f64
    last_line PASS
done
unset META_RANK_MAP
run 0 2 meta-minighost $several --npx 2 --vti uneven --every 4 --balance measured
"$build/tests/read_vti" uneven_000008.pvti seen.f64 2>err || broken 'the snapshot cannot be read'
cmp -s seen.f64 one.f64 || broken 'the snapshot is not of the grid'
rm -f ./*.vti ./*.pvti

for type in f64 f32 i64 u64 i32 u32; do
    run 0 3 meta-dot3d --nx 11 --ny 6 --nz 5 --iters 2 --type $type
    last_line PASS
done
META_RANK_MAP='0:opencl,*:openmp'
export META_RANK_MAP
run 0 3 meta-dot3d --nx 300 --ny 70 --nz 90 --iters 2 --type i32
last_line PASS
unset META_RANK_MAP

run 0 2 meta-dot3d --nx 11 --ny 6 --nz 5 --iters 2 --type u64 --json report.json
for line in '"result": "10890",' '"closed_form": "10890",' '"iterations": 2,' '"pass": true'; do
    grep -q "^ *$line\$" report.json || broken "the file does not say $line"
done
rm -f report.json

refused_whole 2 'npx\*npy\*npz = 3' meta-minighost --npx 3
refused_whole 2 '' meta-minighost $small --npx 2 --nx 1
refused_whole 2 'nx' meta-minighost --nx 0
refused_whole 2 'nx' meta-minighost --nx 12x
refused_whole 2 'nx' meta-minighost --nx 99999999999999999999
refused_whole 2 'stencil' meta-minighost --stencil 25
refused_whole 2 'value' meta-minighost --nx
refused_whole 2 'report_perf' meta-minighost --report_perf 3
refused_whole 2 'fast or reference' meta-minighost --kernel slow
refused_whole 2 'kernel' meta-minighost-mpi $small --npx 2 --kernel reference
refused_whole 2 'auto, on or off' meta-minighost --overlap maybe
refused_whole 2 'whole blocks' meta-minighost $small --overlap on --kernel reference
refused_whole 2 'overlap on: this version' meta-minighost-mpi $small --npx 2 --overlap on
refused_whole 2 'off, measured or dynamic' meta-minighost --balance on
refused_whole 2 'stencil 20' meta-minighost $small --stencil 20 --balance measured
refused_whole 2 'balance measured: this version' meta-minighost-mpi $small --npx 2 --balance measured
# Each option, also one without those that it goes with.
for option in checkpoint_method checkpoint_interval checkpoint_keep checkpoint_file restart_file restart_cp_num; do
    refused_whole 2 "$option: this version has no checkpoints; use meta-minighost\$" meta-minighost-mpi $small --npx 2 \
        --$option 1
    "$build/meta-minighost" --help | grep -q -e "--$option" || broken "meta-minighost --help has no $option"
done
what='meta-minighost-mpi --help'
! "$build/meta-minighost-mpi" --help | grep -E 'checkpoint|restart' || broken 'promises checkpoints'
refused_whole 2 'grid-in' meta-minighost $small --grid-in nowhere.f64
refused_whole 2 'grid-in' meta-minighost $small --nx 21 --grid-in "$golden/initial.f64"
refused_whole 2 'grid-out' meta-minighost $small --grid-out no/such/folder/grid.f64
refused_whole 2 'expect' meta-minighost $small --expect nowhere.f64
refused_whole 3 'nx' meta-dot3d --nx 2
refused_whole 2 'type' meta-dot3d --type i8
refused_whole 2 'json' meta-dot3d --json no/such/folder/report.json
refused_whole 2 'json' meta-dot3d --json .
META_MODE=cuda:900
export META_MODE
refused_whole 2 'cuda' meta-minighost $small
unset META_MODE
[ -z "$(find . -name 'grid*')" ] || broken 'a partial grid file'

[ $failed = 0 ] && echo 'every program did as it says'
exit $failed
