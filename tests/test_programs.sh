#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Our programs as a user meets them: right runs end with PASS and status 0, wrong results with FAIL and
# 1, wrong input with one line on the error stream, nothing written, and 2.
# TEST: backends=any mpi=yes timeout=300 labels=programs
set -u
build=$META_TEST_BUILDDIR golden=$META_TEST_SRCDIR/tests/golden
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
unset META_MODE META_RANK_MAP
failed=0
"$build/meta-info" | grep -q '^  opencl  *usable' || { echo 'no device: opencl'; exit 77; }
small='--scaling 1 --nx 20 --ny 16 --nz 12 --num_vars 1 --num_tsteps 10 --stencil 23 --comm_method 11'

# A run that does not end: where its processes are, then an end.
limit=120
[ "${META_TEST_SANITIZE-no}" = no ] || limit=400
end_of()
{
    echo "BROKEN $what: still running after $limit s"
    ps -A -o pid,ppid,stat,wchan:20,args | grep -e "[ /]$program" -e '[h]ydra' -e '[o]rted'
    for pid in $(pgrep "$(printf '%.15s' "$program")"); do
        gdb -p "$pid" -batch -ex 'thread apply all backtrace 20' 2>/dev/null
    done
    kill "$1"
    sleep 2
    kill -KILL "$1" 2>/dev/null
}
# run STATUS RANKS PROGRAM ARGUMENT…: its output is then in out and err.
run()
{
    want=$1 ranks=$2 program=$3
    shift 3
    what="$program $* on $ranks ranks"
    $META_TEST_MPIEXEC -n "$ranks" "$build/$program" "$@" >out 2>err </dev/null &
    job=$! tenths=0
    while kill -0 $job 2>/dev/null; do
        tenths=$((tenths + 1))
        [ $tenths != $((10 * limit)) ] || end_of $job
        sleep 0.1
    done
    wait $job
    got=$?
    [ "$got" = "$want" ] || broken "exit status $got, expected $want"
}
broken()
{
    echo "BROKEN $what: $*"
    cat out err
    failed=1
}
last_line() { [ "$(tail -n 1 out)" = "$1" ] || broken "the last line is not $1"; }
# refused RANKS TEXT PROGRAM ARGUMENT…: one line with TEXT, status 2, no output file.
refused()
{
    text=$2
    ranks=$1
    shift 2
    run 2 "$ranks" "$@"
    # The launcher may add lines of its own about the exit status.
    lines=$(grep -c '^meta-' err)
    [ "$lines" = 1 ] || broken "$lines lines of error, expected one"
    grep -q -e "$text" err || broken "does not say: $text"
    [ -z "$(find . -type f ! -name out ! -name err ! -name '*.f64')" ] || broken "left a file behind"
}

for program in meta-minighost meta-dot3d meta-minighost-mpi meta-dot3d-mpi meta-info; do
    run 0 1 $program --help
    grep -q '^usage: ' out || broken 'no usage'
    run 0 1 $program --version
    refused 1 'no-such-option' $program --no-such-option
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
unset META_RANK_MAP
run 0 2 meta-minighost $several --npx 2 --stencil 20
last_line PASS
run 0 2 meta-minighost $several --npx 2 --debug_grid 1 --percent_sum 0 --report_diffusion 0
last_line PASS

for type in f64 f32 i64 u64 i32 u32; do
    run 0 3 meta-dot3d --nx 11 --ny 6 --nz 5 --iters 2 --type $type
    last_line PASS
done
META_RANK_MAP='0:opencl,*:openmp'
export META_RANK_MAP
run 0 3 meta-dot3d --nx 300 --ny 70 --nz 90 --iters 2 --type i32
last_line PASS
unset META_RANK_MAP

refused 2 'npx\*npy\*npz = 3' meta-minighost --npx 3
refused 2 '' meta-minighost $small --npx 2 --nx 1
refused 2 'nx' meta-minighost --nx 0
refused 2 'nx' meta-minighost --nx 12x
refused 2 'nx' meta-minighost --nx 99999999999999999999
refused 2 'stencil' meta-minighost --stencil 25
refused 2 'value' meta-minighost --nx
refused 2 'report_perf' meta-minighost --report_perf 3
refused 2 'grid-in' meta-minighost $small --grid-in nowhere.f64
refused 2 'grid-in' meta-minighost $small --nx 21 --grid-in "$golden/initial.f64"
refused 2 'grid-out' meta-minighost $small --grid-out no/such/folder/grid.f64
refused 2 'expect' meta-minighost $small --expect nowhere.f64
refused 3 'nx' meta-dot3d --nx 2
refused 2 'type' meta-dot3d --type i8
META_MODE=cuda:900
export META_MODE
refused 2 'cuda' meta-minighost $small
unset META_MODE
[ -z "$(find . -name 'grid*')" ] || broken 'a partial grid file'

[ $failed = 0 ] && echo 'every program did as it says'
exit $failed
