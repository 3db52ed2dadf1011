#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A run of MiniGhost restarted from a checkpoint gives bitwise the same result, on any ranks and
# back ends; older checkpoints survive a crash at any moment, a full disk, and a deleted folder.
# TEST: backends=any mpi=yes labels=programs
. "$META_TEST_SRCDIR/tests/programs.sh"
need_opencl

same() { cmp -s "$1" "$2" || broken "$1 is not $2"; }
# The spikes of several variables are where they are on any process grid.
spikes='--scaling 1 --nx 11 --ny 9 --nz 8 --num_vars 4 --num_spikes 5 --num_tsteps 2 --debug_grid 1'
run 0 1 meta-minighost $spikes --npx 1 --error_tol 5 --grid-out one.f64
for cut in $(few 1:2:3 2:1:2 1:3:1 1:1:2); do
    set -- $(echo $cut | tr : ' ')
    run 0 $(($1 * $2 * $3)) meta-minighost $spikes --npx $1 --npy $2 --npz $3 --error_tol 5 --grid-out many.f64
    same many.f64 one.f64
done

# Written by two ranks, gone on from by others; three rounds, so before, in and after one of spikes.
# In a short run f32 on one mix: what type cells have and where they are does not depend on each other.
for type in $(few f64 f32); do
    rm -f cp.*
    problem="--scaling 1 --nx 13 --ny 11 --nz 9 --num_vars 3 --num_spikes 3 --num_tsteps 6 --type $type"
    run 0 2 meta-minighost $problem --npx 2 --stencil 24 --checkpoint_interval 2 --checkpoint_file cp \
        --grid-out whole.f64 --json whole.json
    [ "$(ls cp.*)" = "$(printf 'cp.%d\n' 0 1 2 3 4 5 6 7 8)" ] || broken 'not the checkpoints 0 to 8'
    maps=$(few '?:openmp' '?:opencl' '0:opencl,?:openmp' '0:openmp,?:opencl')
    [ $type = f64 ] || [ "${META_TEST_LONG-0}" = 1 ] || maps='0:openmp,?:opencl'
    number=0 sample=no
    [ $type != f64 ] || [ "${META_TEST_SANITIZE-no}" != no ] || [ "${META_TEST_LONG-0}" = 1 ] || sample=yes
    for map in $maps; do
        number=$((number + 1))
        META_RANK_MAP=$(echo "$map" | tr '?' '*')
        export META_RANK_MAP
        for cut in $(few 0:1:1:1 2:1:3:1 5:2:1:2 8:1:1:2 5:1:2:1); do
            # In a short run two or three of five process grids on each mix, and each of them on two or three mixes.
            number=$((number + 1))
            [ $sample = no ] || [ $((number * 2 % 5)) -lt 3 ] || continue
            set -- $(echo $cut | tr : ' ')
            run 0 $(($2 * $3 * $4)) meta-minighost --restart_file cp --restart_cp_num $1 --npx $2 --npy $3 --npz $4 \
                --grid-out again.f64
            same again.f64 whole.f64
        done
    done
    unset META_RANK_MAP
    # On the same process grid what is reported is the same, to the last digit.
    run 0 2 meta-minighost --restart_file cp --restart_cp_num 3 --npx 2 --json again.json
    sed -n '/"final"/,/]/p' whole.json >final
    sed -n '/"final"/,/]/p' again.json | cmp -s - final || broken 'the final sums are others'
done
# A run may go on further than was planned, and add its checkpoints.
run 0 2 meta-minighost --restart_file cp --restart_cp_num -1 --npx 2 --num_tsteps 8 --checkpoint_file cp \
    --checkpoint_interval 1 --checkpoint_keep 3
[ "$(ls cp.*)" = "$(printf 'cp.%d\n' 0 1 10 2 3 4 5 8 9)" ] || broken 'not 9 and 10 for 6 and 7'
run 0 2 meta-minighost --restart_file cp --restart_cp_num 10 --npx 2
grep -q 'no time step was left' out || broken 'does not say that nothing was left to do'
rm -f cp.*
run 0 2 meta-minighost $problem --npx 2 --num_spikes 1 --checkpoint_file cp --checkpoint_interval 1 --checkpoint_keep 2
[ "$(ls cp.*)" = "$(printf 'cp.%d\n' 4 5)" ] || broken 'not two checkpoints kept'

# What is not ours, or of another problem.
refused 2 'checkpoint cp.5 already' meta-minighost $problem --npx 2 --checkpoint_file cp --checkpoint_interval 1
refused 2 'not 14 x 11 x 9' meta-minighost --restart_file cp --npx 2 --scaling 1 --nx 14 --ny 11 --nz 9
refused 2 'stencil 23' meta-minighost --restart_file cp --npx 2 --stencil 23
refused 2 'type f64' meta-minighost --restart_file cp --npx 2 --type f64
refused 2 'num_vars 2' meta-minighost --restart_file cp --npx 2 --num_vars 2
refused 2 'num_tsteps 2' meta-minighost --restart_file cp --npx 2 --num_tsteps 2
refused 2 'cp.7 cannot be read' meta-minighost --restart_file cp --restart_cp_num 7
refused 2 'no checkpoint none.0' meta-minighost --restart_file none
refused 2 'restart_file' meta-minighost --restart_cp_num 0
refused 2 'checkpoint_file' meta-minighost --checkpoint_interval 5
refused 2 'grid-in' meta-minighost --restart_file cp --grid-in whole.f64
refused 2 'checkpoint_method' meta-minighost --checkpoint_method 2
refused 2 'the folder of no/such/cp cannot be read' meta-minighost $problem --npx 2 --checkpoint_file no/such/cp --checkpoint_interval 1
cp cp.5 cp.6
printf x | dd of=cp.6 bs=1 seek=2000 conv=notrunc 2>dd
refused 2 'cp.6 is damaged: piece 0 of field .variable 1' meta-minighost --restart_file cp --npx 2
truncate -s -1 cp.6
refused 2 'cp.6 is cut off' meta-minighost --restart_file cp --npx 2
cp whole.json cp.6
refused 2 'cp.6 is no file of a format' meta-minighost --restart_file cp --npx 2
mkdir cp.7
refused 2 'not a regular file' meta-minighost --restart_file cp --npx 2
rm -r cp.*

# A folder that vanishes while the run goes on, and comes back.
mkdir away
long='--scaling 1 --nx 40 --ny 40 --nz 40 --num_vars 2 --num_tsteps 60 --npx 1'
$META_TEST_MPIEXEC -n 1 "$build/meta-minighost" $long --checkpoint_file away/cp --checkpoint_interval 1 \
    --grid-out gone.f64 --json gone.json >out 2>err </dev/null &
what='a folder that vanishes'
while ! [ -e away/cp.3 ] && kill -0 $! 2>/dev/null; do sleep 0.02; done
mv away hidden
while ! grep -q warning err && kill -0 $! 2>/dev/null; do sleep 0.02; done
wait $! || broken "exit status $?"
warned=$(grep -c '^meta-minighost: warning: checkpoint away/cp' err)
[ "$warned" -gt 0 ] || broken 'no warning'
[ "$(grep -c . err)" = "$warned" ] || broken 'other lines than warnings'
grep -q "\"failed\": $warned" gone.json || broken 'the report counts others'
[ "$(tail -n 1 out)" = PASS ] || broken 'did not end'
mv hidden away
rm -f away/*.partial
run 0 2 meta-minighost --restart_file away/cp --npx 2 --grid-out again.f64
same again.f64 gone.f64

# The disk is full from each call on that writes the second checkpoint or a later one, and the program
# killed at each; in a short run at every sixth, from a random one on. The sanitizers must be loaded
# first, so that nothing can be before them.
seed=${META_TEST_SEED-$(date +%s)}
echo "seed $seed"
stride=6 rounds="1 2 3"
[ "${META_TEST_LONG-0}" != 1 ] || stride=1 rounds='1 2 3 4 5 6'
tiny='--scaling 1 --nx 5 --ny 4 --nz 3 --num_vars 2 --num_tsteps 2 --npx 1'
run 0 1 meta-minighost $tiny --grid-out whole.f64
crash=$build/tests/plugins/.libs/crash.so
for fault in FULL_AT CRASH_AT; do
    at=$((1 + seed % stride)) most=100
    [ "${META_TEST_SANITIZE-no}" = no ] || most=0
    while [ $at -le $most ]; do
        rm -f cp.*
        what="$fault=$at"
        env $fault=$at LD_PRELOAD="$crash" $META_TEST_MPIEXEC -n 1 "$build/meta-minighost" $tiny \
            --checkpoint_file cp --checkpoint_interval 1 >out 2>err </dev/null
        got=$?
        if [ $fault = FULL_AT ]; then
            [ $got = 0 ] || broken "exit status $got"
            ! ls cp*.partial 2>/dev/null || broken 'left a part of a checkpoint'
            [ -s err ] || break
            grep -v '^meta-minighost: warning: checkpoint cp.[01] cannot be written' err &&
                broken 'other lines than warnings'
        else
            [ $got != 0 ] || break
        fi
        if [ -e cp.0 ]; then
            run 0 1 meta-minighost --restart_file cp --checkpoint_file cp --checkpoint_interval 1 \
                --grid-out again.f64
            same again.f64 whole.f64
        else
            refused 1 'no checkpoint cp.0' meta-minighost --restart_file cp
        fi
        at=$((at + stride))
    done
    [ $most = 0 ] || { [ $at -gt 15 ] && [ $at -lt $most ]; } || broken "$fault ended at $at"
    echo "$fault: $at calls"
done

# The disk is full for rank 1 alone, which writes some of the pieces: the warning names it.
if [ "${META_TEST_SANITIZE-no}" = no ]; then
    rm -f cp.*
    what='a full disk on rank 1'
    large='--scaling 1 --nx 110 --ny 110 --nz 110 --num_vars 2 --num_tsteps 1 --npx 2 --checkpoint_file cp --checkpoint_interval 1'
    # Open MPI 5.0.7's launcher crashes when it is given two programs, so rank 1 is told apart by its environment.
    cat >full_for_1 <<'END'
#!/bin/sh
[ "${PMI_RANK-${OMPI_COMM_WORLD_RANK-}}" != 1 ] || export FULL_AT=1 LD_PRELOAD="$CRASH_LIBRARY"
exec "$@"
END
    chmod +x full_for_1
    CRASH_LIBRARY=$crash $META_TEST_MPIEXEC -n 2 ./full_for_1 "$build/meta-minighost" $large >out 2>err </dev/null ||
        broken "exit status $?"
    grep -q '^meta-minighost: warning: checkpoint cp.0 cannot be written: rank 1: .*No space left' err ||
        broken 'does not name the rank'
    ! ls cp* 2>/dev/null || broken 'left a part of a checkpoint'
fi

# Killed at any time, with two ranks.
size='--scaling 1 --nx 24 --ny 20 --nz 20 --num_vars 3 --num_tsteps 40 --npx 2'
run 0 2 meta-minighost $size --grid-out whole.f64
rm -f cp.*
printf '#!/bin/sh\necho $$ >"$1.$PPID.$$"\nshift\nexec "$@"\n' >noted
chmod +x noted
for round in $(few $rounds); do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    rm -f pid.*
    from=
    ls cp.[0-9]* >/dev/null 2>&1 && from='--restart_file cp'
    $META_TEST_MPIEXEC -n 2 ./noted "$here/pid" "$build/meta-minighost" $size $from \
        --checkpoint_file cp --checkpoint_interval 1 --checkpoint_keep 4 >out 2>err </dev/null &
    job=$!
    sleep 0.$((seed / 65536 % 7 + 2))$((seed / 7 % 10))
    kill -KILL $(cat pid.* 2>/dev/null) 2>/dev/null
    wait $job
    what="killed in round $round"
    ls cp.[0-9]* >/dev/null 2>&1 || continue
    run 0 3 meta-minighost --restart_file cp --npx 1 --npy 3 --grid-out again.f64
    same again.f64 whole.f64
done

[ $failed = 0 ] && echo 'every run went on as if nothing had happened'
exit $failed
