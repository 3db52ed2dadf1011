# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the tests of programs. They then run in a temporary folder, which is removed
# at exit, with $build the build folder, $failed 0, and no device requested.
set -u
build=$META_TEST_BUILDDIR
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
unset META_MODE META_RANK_MAP
failed=0

# made_with VARIABLE: what configure has found out for this build.
made_with() { sed -n "s/^$1 = //p" "$build/Makefile" | head -n 1; }

need_opencl()
{
    "$build/meta-info" | grep -q '^  opencl  *usable' || { echo 'no device: opencl'; exit 77; }
}

# A run that does not end: where its processes are, then an end.
limit=120
[ "${META_TEST_SANITIZE-no}" = no ] || limit=400
end_of()
{
    echo "BROKEN $what: still running after $limit s"
    failed=1
    ps -A -o pid,ppid,stat,wchan:20,args | grep -e "[ /]$program" -e '[h]ydra' -e '[o]rted'
    for pid in $(pgrep "$(printf '%.15s' "$program")"); do
        gdb -p "$pid" -batch -ex 'thread apply all backtrace 20' 2>/dev/null
    done
    kill "$1"
    sleep 2
    kill -KILL "$1" 2>/dev/null
}
# run STATUS RANKS PROGRAM ARGUMENT…: its output is then in out and err. A status may be `any`.
run()
{
    want=$1 ranks=$2 program=$3
    shift 3
    what="$program $* on $ranks ranks, META_RANK_MAP=${META_RANK_MAP-}"
    $META_TEST_MPIEXEC -n "$ranks" "$build/$program" "$@" >out 2>err </dev/null &
    job=$! naps=0 tenths=0
    while kill -0 $job 2>/dev/null; do
        if [ $naps -lt 25 ]; then
            naps=$((naps + 1))
            sleep 0.02
        else
            tenths=$((tenths + 1))
            [ $tenths != $((10 * limit)) ] || end_of $job
            sleep 0.1
        fi
    done
    wait $job
    got=$?
    [ "$want" = any ] || [ "$got" = "$want" ] || broken "exit status $got, expected $want"
}
broken()
{
    echo "BROKEN $what: $*"
    cat out err
    failed=1
}
# few WORD…: all of them; only the last where a sanitizer makes every run slow.
few()
{
    [ "${META_TEST_SANITIZE-no}" = no ] || shift $(($# - 1))
    echo "$@"
}
last_line() { [ "$(tail -n 1 out)" = "$1" ] || broken "the last line is not $1"; }
# refused RANKS TEXT PROGRAM ARGUMENT…: one line with TEXT, status 2.
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
}
