#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MiniGhost's visualization output: the VTK files hold the grid bitwise, whichever device computed
# it, an image shows where it is warm, and the progress line is printed only on terminals.
# TEST: backends=any mpi=yes labels=programs
. "$META_TEST_SRCDIR/tests/programs.sh"
need_opencl

vtk=
for python in ${META_TEST_PYTHON-} python3; do
    [ -n "$vtk" ] || ! "$python" -c 'import vtk' 2>/dev/null || vtk=$python
done
echo "VTK's own reader: ${vtk:-none here}"
# holds FILE.pvti GRID: the file holds the grid, for us and for VTK.
holds()
{
    "$build/tests/read_vti" "$1" read.f64 2>err || broken "cannot read $1"
    cmp -s read.f64 "$2" || broken "$1 is not $2"
    [ -n "$vtk" ] && [ "${type-f64}" = f64 ] || return 0
    "$vtk" "$META_TEST_SRCDIR/tests/vtk-to-grid.py" "$1" vtk.f64 >out 2>&1 || broken "VTK cannot read $1"
    cmp -s vtk.f64 "$2" || broken "VTK reads something else in $1"
}

problem='--scaling 1 --nx 19 --ny 14 --nz 11 --num_vars 3 --num_spikes 2 --num_tsteps 6 --stencil 24'
for type in $(few f64 f32); do
    for map in $(few '?:openmp' '0:opencl,?:openmp'); do
        META_RANK_MAP=$(echo "$map" | tr '?' '*')
        export META_RANK_MAP
        for cut in $(few 1:1:1 3:1:1 1:2:2 2:1:1); do
            set -- $(echo $cut | tr : ' ')
            rm -f snap*
            run 0 $(($1 * $2 * $3)) meta-minighost $problem --type $type --npx $1 --npy $2 --npz $3 --vti 'snap&shot' \
                --every 5 --grid-out last.f64 --json report.json
            [ "$(ls snap*.pvti)" = "$(printf 'snap&shot_0000%s.pvti\n' 00 05 10 12)" ] ||
                broken 'not the snapshots 0, 5, 10 and 12'
            holds 'snap&shot_000012.pvti' last.f64
        done
    done
done
type=f64
unset META_RANK_MAP
grep -q '"last_step": 12' report.json || broken 'the report does not say so'
# In between it is the grid of a shorter run; and one that goes on from a checkpoint takes the same.
shorter=$(echo "$problem" | sed 's/spikes 2/spikes 1/; s/tsteps 6/tsteps 5/')
run 0 2 meta-minighost $problem --npx 2 --vti whole --every 5 --checkpoint_file cp --checkpoint_interval 4
run 0 2 meta-minighost $shorter --npx 1 --npy 2 --grid-out five.f64
holds whole_000005.pvti five.f64
run 0 3 meta-minighost --restart_file cp --restart_cp_num 0 --npx 3 --vti again --every 5
[ "$(ls again*.pvti)" = "$(printf 'again_0000%s.pvti\n' 05 10 12)" ] || broken 'not 5, 10 and 12'
for step in 05 10 12; do
    "$build/tests/read_vti" whole_0000$step.pvti read.f64
    cp read.f64 whole.f64
    holds again_0000$step.pvti whole.f64
done
# Rounds before it are as long as they were, whatever those that follow are, also when it goes on once more.
run 0 2 meta-minighost --restart_file cp --restart_cp_num 1 --npx 2 --num_tsteps 9 --vti longer --every 5 \
    --checkpoint_file longer --checkpoint_interval 8
[ "$(ls longer*.pvti)" = "$(printf 'longer_0000%s.pvti\n' 15)" ] || broken 'not 15'
run 0 1 meta-minighost --restart_file longer --restart_cp_num 0 --npx 1 --num_tsteps 11 --vti once --every 5
[ "$(ls once*.pvti)" = "$(printf 'once_0000%s.pvti\n' 15 17)" ] || broken 'not 15 and 17'
# More than one chunk is compressed together; the arrays are longer than one.
run 0 2 meta-minighost --nx 70 --ny 60 --nz 50 --num_vars 2 --num_tsteps 2 --vti large --grid-out large.f64
holds large_000002.pvti large.f64

# A folder that vanishes is a warning, and what has an index is whole.
mkdir away
$META_TEST_MPIEXEC -n 1 "$build/meta-minighost" --ndim 40 --num_vars 2 --num_tsteps 60 --vti away/snap \
    --every 1 >out 2>err </dev/null &
what='a folder that vanishes'
while ! [ -e away/snap_000003.pvti ] && kill -0 $! 2>/dev/null; do sleep 0.02; done
mv away hidden
while ! grep -q warning err && kill -0 $! 2>/dev/null; do sleep 0.02; done
wait $! || broken "exit status $?"
grep -v '^meta-minighost: warning: --vti away/snap' err && broken 'other lines than warnings'
[ "$(tail -n 1 out)" = PASS ] || broken 'did not end'
for index in hidden/*.pvti; do
    "$build/tests/read_vti" "$index" read.f64 2>err || broken "cannot read $index"
done

# A picture: 5 pixels a cell, the spike in the middle the warmest of all, black around it all.
"$build/tests/read_png" none 2>err
if [ $? = 3 ]; then
    refused 1 'without libpng' meta-minighost --ndim 20 --png picture
else
    run 0 4 meta-minighost --scaling 1 --nx 128 --ny 64 --nz 32 --npx 2 --npy 1 --npz 2 --stencil 23 --num_tsteps 8 \
        --debug_grid 1 --error_tol 5 --num_vars 2 --png picture --every 4 --json report.json
    [ "$(ls picture*)" = "$(printf 'picture_00000%s.png\n' 0 4 8)" ] || broken 'not three pictures'
    "$build/tests/read_png" picture_000000.png 405 217 100 100 87 55 >out 2>err || broken 'no PNG'
    [ "$(sed -n 2p out)" = '18 22 72' ] || broken 'the spike is where it was not set'
    run 0 1 meta-minighost --scaling 1 --nx 128 --ny 64 --nz 31 --stencil 23 --num_tsteps 8 --debug_grid 1 \
        --error_tol 5 --num_vars 2 --png one --png-variable 2 --png-plane 15
    "$build/tests/read_png" one_000008.png 405 218 100 100 87 55 >out 2>err || broken 'no PNG'
    printf '%s\n' '926 432' '250 232 92' '18 22 72' '0 0 0' | cmp -s - out ||
        broken 'not the picture expected'
    run 0 4 meta-minighost --scaling 1 --nx 128 --ny 64 --nz 31 --npx 2 --npy 2 --stencil 23 --num_tsteps 8 \
        --debug_grid 1 --error_tol 5 --num_vars 2 --png four --png-variable 2 --png-plane 15
    cmp -s one_000008.png four_000008.png || broken 'the picture depends on the process grid'
    run 0 2 meta-minighost --scaling 1 --nx 1 --ny 3000 --nz 1 --npx 1 --npy 2 --num_tsteps 1 --png thin
    "$build/tests/read_png" thin_000001.png >out 2>err || broken 'no PNG'
    refused 1 'png-variable' meta-minighost --ndim 20 --num_vars 2 --png picture --png-variable 3
    refused 1 'png-plane' meta-minighost --ndim 20 --png picture --png-plane 20
    refused 1 'png no/such' meta-minighost --ndim 20 --png no/such/picture
fi
refused 1 'vti no/such' meta-minighost --ndim 20 --vti no/such/snap
refused 1 'every' meta-minighost --ndim 20 --every 5

# Where it is no terminal there is no progress line, and where it is one, it goes before the end.
run 0 2 meta-minighost --ndim 60 --num_tsteps 30
grep -q left err && broken 'a progress line in a pipe'
[ -s err ] && broken 'something on the error stream'
run 0 2 meta-minighost --ndim 60 --num_tsteps 30 --progress 2
# Open MPI 5's launcher writes pieces of standard error that do not end a line to standard output.
cat out err | tr '\r' '\n' | grep -q 'time step [0-9]*  [0-9.]* million cells per second  [0-9:]* left' ||
    broken 'no progress line where it was asked for'
what='a run on a terminal'
if [ "${META_TEST_MPI-}" = mpich ] || [ "${META_TEST_MPI-}" = abi ]; then
    "$build/tests/on_terminal" "$build/meta-minighost" --ndim 60 --num_tsteps 30 --report_diffusion 10 \
        >out 2>err || broken "exit status $?"
    tr '\r' '\n' <out | grep -q '^ *[0-9]*%  spike 1, time step [0-9]* .* left *$' ||
        broken 'no progress line on a terminal'
    tr -d '\r' <out | tail -n 1 | grep -q '^PASS$' || broken 'the last line is another'
    "$build/tests/on_terminal" "$build/meta-minighost" --ndim 60 --num_tsteps 30 --progress 0 >out
    grep -q ' left' out && broken 'a progress line that was not wanted'
fi

[ $failed = 0 ] && echo 'every file shows the grid'
exit $failed
