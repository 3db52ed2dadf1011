#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that are killed, exit early, stop, or sleep too long, in each phase of a program: with
# META_TIMEOUT set no other one hangs; each gets META_ERR_PEER with the peer, the phase and the tag,
# and exits with a nonzero status. So does the sleeper, when it goes on alone.
# TEST: backends=any mpi=yes labels=comm,programs
. "$META_TEST_SRCDIR/tests/programs.sh"
META_TIMEOUT=2
META_MODE=openmp
export META_TIMEOUT META_MODE
long=${META_TEST_LONG-0}

# Launchers end a job when a rank does, in ways that cannot all be turned off, so each rank stands
# behind a shell that outlives it until the survivors have ended as well.
cat >rank.sh <<'END'
folder=$1
shift
rank=${PMI_RANK-${OMPI_COMM_WORLD_RANK-none}}
"$@" &
echo $! >"$folder/pid.$rank.new"
mv "$folder/pid.$rank.new" "$folder/pid.$rank"
wait $!
echo $? >"$folder/ended.$rank.new"
mv "$folder/ended.$rank.new" "$folder/ended.$rank"
while [ -d "$folder" ] && [ ! -e "$folder/over" ]; do sleep 0.1; done
END
case $META_TEST_MPI in
    openmpi) options='--enable-recovery' ;;
    *) options='-disable-auto-cleanup' ;;
esac

launch_on=
# launch RANKS PROGRAM ARGUMENT…: in the background, in the folder `run`.
launch()
{
    ranks=$1
    shift
    what="$*, $manner"
    rm -rf run
    mkdir run
    # shellcheck disable=SC2086
    $launch_on $META_TEST_MPIEXEC $options -n "$ranks" sh rank.sh "$here/run" "$@" >out 2>err </dev/null &
    job=$!
}
# await SECONDS FILE…: until all are there.
await()
{
    tenths=$((10 * $1))
    shift
    for file in "$@"; do
        while [ ! -e "$file" ]; do
            [ $tenths -gt 0 ] || return 1
            tenths=$((tenths - 1))
            sleep 0.1
        done
    done
}
# end_all: whoever is left, rank 1 above all, which may be stopped.
end_all()
{
    for file in run/pid.*; do
        rank=${file##*.}
        [ "$rank" != 1 ] && [ -e "run/ended.$rank" ] || kill -KILL "$(cat "$file")" 2>/dev/null
    done
    : >run/over
    wait $job
}
# ended WHO…: the survivors have, in time, and not as if all were well.
ended()
{
    for rank in "$@"; do
        if [ ! -e "run/ended.$rank" ]; then
            broken "rank $rank has not ended"
        elif [ "$(cat "run/ended.$rank")" = 0 ]; then
            broken "rank $rank ended with status 0"
        elif [ "$(cat "run/ended.$rank")" -gt 128 ]; then
            broken "rank $rank was ended by signal $(($(cat "run/ended.$rank") - 128))"
        fi
    done
}
# said RANK TEXT: its first error is META_ERR_PEER and has the text.
said()
{
    line=$(head -n 1 "run/told.$1" 2>/dev/null)
    case $line in
        "META_ERR_PEER: "*) ;;
        *) broken "rank $1 was told: $line" ;;
    esac
    echo "$line" | grep -q -e "$2" || broken "rank $1 was told, without '$2': $line"
}

# spared RANK OTHER: rank OTHER, which waited as well, was not named as one that does not.
spared()
{
    ! head -n 1 "run/told.$1" | grep -q "; rank $2 has not waited" || broken "rank $1 was told that rank $2 does not wait"
}

limit=30
[ "${META_TEST_SANITIZE-no}" = no ] || limit=120
# try PHASE TEXT: the text is what survivors must be told.
try()
{
    launch 3 "$build/tests/dying_peer" "$1" "$manner" "$here/run"
    await $limit run/ended.0 run/ended.2
    [ "$manner" != sleep ] || await $limit run/ended.1
    end_all
    ended 0 2
    said 0 "$2"
    said 2 "$2"
    # Before a job is joined, ranks do not know each other.
    [ "$1" = join ] || said 0 'rank 1 '
    [ "$1" = join ] || said 2 'rank 1 '
    [ "$manner" != sleep ] || ended 1
    [ "$manner" != sleep ] || said 1 .
}

for manner in kill sleep exit stop; do
    try exchange 'rank 1.*tag'
    if [ "$manner" = kill ] || [ "$long" = 1 ]; then
        try send 'rank 1.*tag'
        said 0 'has not taken'
    fi
    [ "$manner" != stop ] && [ "$long" != 1 ] || try flush 'meta_flush.*tag'
    [ "$manner" = kill ] || [ "$long" = 1 ] || continue
    try join 'meta_comm_init.*while all ranks join the job'
    try decompose 'meta_decompose.*communicator'
    try redistribute 'meta_redistribute.*communicator'
    try create 'meta_halo_create.*rank'
    try message 'rank 1.*tag 5'
    try finish 'rank 1.*tag\|meta_comm_finalize' # what rank 1 sent at the start may be enough
    try free 'meta_halo_free\|meta_comm_finalize' # which need not be collective
    try reduce 'meta_allreduce'
    try finalize 'meta_comm_finalize'
done

# That a rank of the node has ended is known at once, however long one would wait for it.
META_TIMEOUT=600
for manner in kill exit; do
    for phase in exchange decompose message; do
        try $phase '; rank 1 has ended'
        spared 0 2
        spared 2 0
    done
done
META_TIMEOUT=2

# hog SECONDS CORE COUNT: processes that compute on a core, and leave little of it to others.
hog()
{
    for k in $(seq "$3"); do
        taskset -c "$2" timeout "$1" sh -c 'while :; do :; done' &
        hogs="$hogs $!"
    done
}
unhog()
{
    # shellcheck disable=SC2086
    [ -z "$hogs" ] || kill $hogs
    hogs=
}
hogs=
core=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//') # the first that this process may use

# A rank that compiles is slow, and not dead; also on a core where waiting ranks seldom run.
META_TIMEOUT=1
cat >slow-cc <<END
#!/bin/sh
sleep $((3 * META_TIMEOUT))
exec ${CC-cc} "\$@"
END
chmod +x slow-cc
for phase in exchange reduce starved $([ "$long" = 1 ] && echo message); do
    manner=compile
    META_CC=$here/slow-cc
    META_CACHE_DIR=$here/cache.$phase
    export META_CC META_CACHE_DIR
    if [ $phase = starved ]; then
        phase=reduce
        hog $limit "$core" 4
        launch_on="taskset -c $core"
    fi
    launch 3 "$build/tests/dying_peer" $phase compile "$here/run"
    await $limit run/ended.0 run/ended.1 run/ended.2
    end_all
    unhog
    launch_on=
    unset META_CC META_CACHE_DIR
    # Nobody sends the message.
    [ $phase = message ] && said 0 'rank 1 .*tag 5' && said 2 'rank 1 .*tag 5' && continue
    for rank in 0 1 2; do
        [ "$(cat run/ended.$rank)" = 0 ] || broken "rank $rank was told: $(cat run/told.$rank)"
    done
done
META_TIMEOUT=2

# A program of ours, which may also end its job.
await_end()
{
    tenths=$((10 * limit))
    while kill -0 $job 2>/dev/null && { [ ! -e run/ended.0 ] || [ ! -e run/ended.2 ]; }; do
        [ $tenths -gt 0 ] || broken 'has not ended'
        [ $tenths -gt 0 ] || return
        tenths=$((tenths - 1))
        sleep 0.1
    done
}
# A checkpoint that is not complete does not stay.
checkpoints='--checkpoint_interval 1 --checkpoint_keep 2 --checkpoint_file cp'
set -- KILL '' KILL "$checkpoints" STOP "$checkpoints"
while [ $# -gt 0 ]; do
    manner=$1
    checkpoints=$2
    shift 2
    # UCX would end a survivor that reads the victim's memory.
    [ -z "$checkpoints" ] || export UCX_TLS=^cma
    # shellcheck disable=SC2086
    launch 3 "$build/meta-minighost" --scaling 1 --nx 24 --ny 24 --nz 24 --num_vars 1 \
        --num_tsteps 1000000 --report_diffusion 0 $checkpoints
    # What comes before the time steps is the program's own MPI, which nothing ends.
    await $limit run/pid.0 run/pid.1 run/pid.2
    tenths=$((10 * limit))
    until grep -q '^spike ' out || [ $tenths = 0 ]; do
        tenths=$((tenths - 1))
        sleep 0.1
    done
    sleep 1
    kill -$manner "$(cat run/pid.1)"
    await_end
    alive=no
    kill -0 $job 2>/dev/null && alive=yes
    end_all
    got=$?
    if [ $alive = yes ]; then ended 0 2; else [ $got != 0 ] || broken 'ended with status 0'; fi
    grep -q META_TIMEOUT err || broken 'does not say why'
    for file in cp*.partial; do [ ! -e "$file" ] || broken "$file is left"; done
    rm -f cp.*
done

# Nor where rank 0, which made it, is stopped before it can remove it.
manner='STOP of rank 0 in the middle of a checkpoint'
# shellcheck disable=SC2086
launch 3 "$build/meta-minighost" --scaling 1 --nx 24 --ny 24 --nz 24 --num_vars 1 \
    --num_tsteps 1000000 --report_diffusion 0 $checkpoints
await $limit run/pid.0 run/pid.1 run/pid.2
tenths=$((10 * limit))
until ls cp.[0-9]* >/dev/null 2>&1 || [ $tenths = 0 ]; do
    tenths=$((tenths - 1))
    sleep 0.1
done
tries=1000
kill -STOP "$(cat run/pid.0)"
until [ -e cp.partial ] || [ $tries = 0 ]; do
    tries=$((tries - 1))
    kill -CONT "$(cat run/pid.0)"
    sleep 0.00$((tries % 10))
    kill -STOP "$(cat run/pid.0)"
done
[ $tries -gt 0 ] || broken 'was never met with a part of a checkpoint'
tenths=$((10 * limit))
while [ -e cp.partial ] && [ $tenths -gt 0 ]; do
    tenths=$((tenths - 1))
    sleep 0.1
done
for file in cp*.partial; do [ ! -e "$file" ] || broken "$file is left"; done
kill -KILL "$(cat run/pid.0)" 2>/dev/null
end_all
rm -f cp.*

# A job that is suspended as a whole, and goes on rank by rank, has lost nobody.
manner=suspended
launch 3 "$build/meta-minighost" --scaling 1 --nx 24 --ny 24 --nz 24 --num_vars 1 \
    --num_tsteps 1000000 --report_diffusion 0
await $limit run/pid.0 run/pid.1 run/pid.2
for k in 1 2; do
    sleep 1
    for rank in 0 1 2; do kill -STOP "$(cat run/pid.$rank)"; done
    sleep 3
    for rank in 2 1 0; do
        kill -CONT "$(cat run/pid.$rank)"
        sleep 0.3
    done
done
sleep 3
for rank in 0 1 2; do
    kill -0 "$(cat run/pid.$rank)" 2>/dev/null || broken "rank $rank has ended"
done
kill -KILL "$(cat run/pid.1)" 2>/dev/null
await_end
end_all

[ $failed = 0 ] && echo 'nobody waited for the dead'
exit $failed
