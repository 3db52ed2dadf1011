#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank fails before the k-th call of MPI in a phase of a program: killed, stopped, ended by exit() or
# abort(), or asleep for three timeouts; all others come through, in time, and know who it was.
#
# The runs are a sample of all combinations of fault, phase, k, victim, 3 or 4 ranks, shared memory on and off,
# progress thread on and off; in a long run also with OpenCL on half of the ranks. META_TEST_RUNS is their number, and
# META_TEST_SEED their seed. In a long run what is finished stands in a file of the build folder, and is not run
# again by the same libraries; a sample leaves none.
#
# A call may take 1.5 timeouts, and besides, since many ranks share the cores, META_TEST_NOISE seconds. Messages
# that need not name the victim: 5 %, for before ranks have met they do not know each other.
# TEST: backends=any mpi=yes labels=comm,programs
. "$META_TEST_SRCDIR/tests/programs.sh"
LC_ALL=C
export LC_ALL
META_TIMEOUT=2
META_TIMEOUT_ABORT=1
export META_TIMEOUT META_TIMEOUT_ABORT
long=${META_TEST_LONG-0}
if [ "$long" = 1 ]; then runs=1200 jobs=6; else runs=10 jobs=7; fi
runs=${META_TEST_RUNS-$runs}
jobs=${META_TEST_JOBS-$jobs}
seed=${META_TEST_SEED-$(date +%s)}
[ "$long" = 0 ] || seed=${META_TEST_SEED-15}
noise=${META_TEST_NOISE-1}
# Programs with a sanitizer take long to start.
[ "${META_TEST_SANITIZE-no}" = no ] || { META_TIMEOUT=8 runs=${META_TEST_RUNS-4} jobs=2 noise=8; }
case $META_TEST_MPI in
    openmpi) options='--enable-recovery' ;;
    *) options='-disable-auto-cleanup' ;;
esac
export META_TEST_MPI META_TEST_MPIEXEC META_TEST_SRCDIR build here options noise

# with SHARED PROGRESS MODE COMMAND…
cat >with.sh <<'END'
META_SHARED=$1 META_PROGRESS=$2
export META_SHARED META_PROGRESS
unset META_MODE META_RANK_MAP
if [ "$3" = mixed ]; then META_RANK_MAP='0:openmp,1:openmp,*:opencl'; export META_RANK_MAP
else META_MODE=$3; export META_MODE; fi
shift 3
exec "$@"
END
# one RESULTS RANKS FAULT PHASE K VICTIM SHARED PROGRESS MODE: adds a line to the results.
cat >one.sh <<'END'
results=$1 ranks=$2 fault=$3 phase=$4 k=$5 victim=$6
shift 6
folder=$(mktemp -d "$here/run.XXXXXX")
# Open MPI's launcher may not end though all ranks have: a deadlock in its PMIx, seen once.
sh "$here/with.sh" "$@" timeout -k 5 $((60 + 15 * META_TIMEOUT)) $META_TEST_MPIEXEC $options -n "$ranks" \
    "$build/tests/fault_matrix" "$folder" "$ranks" "$fault" "$phase" "$k" "$victim" >"$folder/out" 2>&1 </dev/null
figures=$(awk -v timeout="$META_TIMEOUT" -v ranks="$ranks" -v victim="$victim" -v fault="$fault" \
    -v noise="$noise" -f "$META_TEST_SRCDIR/tests/fault_matrix.awk" "$folder"/calls.* "$folder"/err.* \
    "$folder/out" "$folder"/end.*) || figures=
case $last:$figures in
    *: | 0:*\ late=[1-9]*)
        kept=unready.$ranks-$fault-$phase-$k-$victim
        rm -rf "${here:?}/$kept"
        mv "$folder" "$here/$kept"
        exit ;;
esac
echo "$ranks $fault $phase $k $victim $* : $figures" >>"$results"
case $figures in
    hang=0\ crash=0*\ other=0\ late=0\ *)
        [ -z "${META_TEST_KEEP-}" ] && rm -rf "$folder" && exit ;;
esac
# What it looked like, in one file.
for file in "$folder"/calls.* "$folder"/err.* "$folder"/end.* "$folder/out"; do
    echo "== ${file##*/}"
    cat "$file"
done >"$here/broken.$ranks-$fault-$phase-$k-$victim-$(echo "$*" | tr ' ' -)"
rm -rf "$folder"
END

results=$here/results
if [ "$long" = 1 ]; then
    # Of these libraries; others' results say nothing of them.
    sum=$(cat "$build/.libs/libmeta_comm.so" "$build/.libs/libmeta.so" "$META_TEST_SRCDIR/tests/fault_matrix.awk" \
        "$META_TEST_SRCDIR/tests/fault_matrix.c" 2>/dev/null | cksum | cut -d' ' -f1)
    results=$build/tests/fault_matrix.$sum
fi
touch "$results"

modes=openmp
[ "$long" = 0 ] || ! "$build/meta-info" | grep -q '^  opencl  *usable' || modes='openmp openmp openmp mixed'
# How many calls there are in each phase, and code for devices into the cache.
for mode in $(echo $modes | tr ' ' '\n' | sort -u); do
    for shared in auto off; do
        for progress in calls thread; do
            folder=$here/count.$shared.$progress.$mode
            mkdir "$folder"
            META_TIMEOUT=60 sh with.sh $shared $progress $mode $META_TEST_MPIEXEC -n 3 "$build/tests/fault_matrix" \
                "$folder" 3 none >"$folder/out" 2>&1 </dev/null &
        done
    done
    wait
done
for folder in count.*; do
    what="nobody fails, $folder"
    cat "$folder"/err.* >err
    cp "$folder/out" out
    [ "$(cat "$folder"/end.* | sort -u)" = 'exit 0' ] || broken "somebody does: $(cat "$folder"/calls.*)"
    sed -n "s/^count/$(echo "$folder" | cut -d. -f2- | tr . ' ')/p" "$folder/calls.1"
done >counts
[ $failed = 0 ] || { cat counts; exit 1; }

awk -v runs="$runs" -v seed="$seed" -v modes="$modes" '
    { key = $1 " " $2 " " $3; if (!($4 in seen)) { seen[$4] = 1; phase[phases++] = $4 }; calls[key, $4] = $5 }
    function one_of(list,    part) { return part[1 + int(rand() * split(list, part, " "))] }
    END {
        # What only the watchdog ends.
        print 3, "kill", "init", 1, 1, "auto calls openmp"
        print 3, "kill", "finalize", calls["auto calls openmp", "finalize"], 1, "auto calls openmp"
        srand(seed)
        turn = int(rand() * 65)
        for (n = 0; n < runs; ++n) {
            split("kill stop exit abort sleep", faults, " ")
            f = faults[1 + (turn + n) % 5]
            p = phase[(turn + n) % phases]
            where = one_of("auto off") " " one_of("calls calls thread") " " one_of(modes)
            ranks = one_of("3 3 4")
            print ranks, f, p, int(rand() * (1 + calls[where, p])), int(rand() * ranks), where
        }
    }' counts | sort -u >wanted
# Where a rank is only late, and the watchdog may not end a process, it says so and nothing else happens.
mkdir late
META_TIMEOUT_ABORT=off sh with.sh auto calls openmp $META_TEST_MPIEXEC -n 3 "$build/tests/fault_matrix" "$here/late" 3 \
    sleep init 1 1 >late/out 2>&1 </dev/null &
late=$!
# left: the runs that are still wanted.
left()
{
    grep -v '^$' "$results" | sed 's/ : .*//' | sort -u >finished
    comm -23 wanted finished
}
left | last=0 xargs -r -P "$jobs" -L 1 sh one.sh "$results"
# Again with fewer at a time: where a rank was so slow to start that the others gave it up, so that the fault did not
# come, and where a call was late, which may be for want of a core.
left >unready
last=0 xargs -r -P 2 -L 1 sh one.sh "$results" <unready
left >unready
last=1 META_TIMEOUT=$((2 * META_TIMEOUT)) xargs -r -P 1 -L 1 sh one.sh "$results" <unready
left >unready

wait $late
what='rank 1 is late for MPI_Init_thread()'
cat late/err.* >err
cp late/out out
[ "$(cat late/end.*)" = "$(printf 'exit 0\nexit 0\nexit 0')" ] || broken "a rank did not come through: $(cat late/end.*)"
for rank in 0 2; do
    grep -q 'MPI_Init_thread() has not returned' late/err.$rank || broken "rank $rank says nothing"
done

if [ $((10 * $(wc -l <unready))) -gt "$runs" ]; then
    broken 'too many runs in which the fault did not come: its rank was given up before'
    cat unready unready.*/*
fi
for file in broken.*; do
    [ -e "$file" ] || continue
    echo "BROKEN $file"
    cat "$file"
done
# Only what was wanted counts.
sed 's/ : /:/' "$results" | awk -F: -v mpi="$META_TEST_MPI" -v seed="$seed" '
    FNR == NR { wanted[$0] = 1; next }
    !($1 in wanted) { next }
    {
        ++runs
        count = split($2, part, " ")
        for (k = 1; k <= count; ++k) { split(part[k], pair, "="); sum[pair[1]] += pair[2] }
        split($2, worst, "worst="); if (worst[2] + 0 > most) most = worst[2] + 0
    }
    END {
        percent = sum["told"] ? 100 * sum["named"] / sum["told"] : 0
        printf "fault matrix, %s, seed %s: %d runs, %d hangs, %d crashes, %d ended by UCX, %d survivors told, %.1f %% by the victim'\''s name, %d by another error; %d calls too late, %d without allowance for noise, the longest %.2f s; %d waits after the first error\n",
            mpi, seed, runs, sum["hang"], sum["crash"], sum["ucx"], sum["told"], percent, sum["other"], sum["late"],
            sum["strict"], most, sum["again"]
        exit !(runs > 0 && sum["hang"] == 0 && sum["crash"] == 0 && sum["late"] == 0 && (runs < 300 || percent >= 95))
    }' wanted - || failed=1
exit $failed
