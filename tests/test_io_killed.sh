#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whatever happens while a file is written, the older ones stay: the disk is full from each call on that
# writes, the process is killed at each, all ranks are killed at any time, and a rank does not come.
# TEST: backends=any mpi=yes labels=io
. "$META_TEST_SRCDIR/tests/programs.sh"
helper=tests/io_file

# At every sixth call in a short run, from a random one on.
seed=${META_TEST_SEED-$(date +%s)}
echo "seed $seed"
stride=6
[ "${META_TEST_LONG-0}" != 1 ] || stride=1
crash=$build/tests/plugins/.libs/crash.so
formats='checkpoint npy'
! grep -q 'define HAVE_PNG' "$build/config.h" || formats="$formats png"
! grep -q 'define HAVE_ZLIB' "$build/config.h" || formats="$formats vtk"
! grep -q 'define HAVE_HDF5' "$build/config.h" || formats="$formats hdf5"

# Under a sanitizer's runtime nothing can be loaded before it.
most=100
[ "${META_TEST_SANITIZE-no}" = no ] || most=0
for format in $formats; do
    rm -f file* series*
    run 0 2 $helper write $format file 1
    mkdir -p old
    cp file* old
    for fault in FULL_AT CRASH_AT; do
        way=write
        [ $fault = CRASH_AT ] || [ $format = npy ] || way=begin
        at=$((1 + seed % stride))
        while [ $at -le $most ]; do
            export "$fault=$at" LD_PRELOAD="$crash"
            run any 1 $helper $way $format file 2
            unset $fault LD_PRELOAD
            what="$way $format, $fault=$at"
            [ $got != 0 ] || break
            if [ $fault = FULL_AT ]; then
                grep -q 'No space left on device' err || broken 'does not say that the disk is full'
                ! ls file*.partial 2>/dev/null || broken 'left a part of a file'
            fi
            # A file that got its name before is complete, and so the next one.
            for name in old/*; do
                cmp -s $name ${name#old/} || [ "$format" != checkpoint ] || broken "$name is another one"
            done
            if [ $format = checkpoint ]; then
                $META_TEST_MPIEXEC -n 1 "$build/$helper" check file 1 >out 2>err </dev/null || broken 'is damaged'
                rm -f file.1
            elif [ $format = png ]; then
                "$build/tests/read_png" file >out 2>err || broken 'is damaged'
                cp old/* .
            elif [ $format = vtk ]; then
                [ "$(tail -n 1 file)" = '</VTKFile>' ] || broken 'is damaged'
                cp old/* .
            elif ! cmp -s old/file file; then
                field=array
                [ $format = npy ] || field=rho
                $META_TEST_MPIEXEC -n 1 "$build/$helper" copy file $field copied.npy >out 2>err </dev/null ||
                    broken 'is damaged'
                cp old/* .
            fi
            at=$((at + stride))
        done
        [ $most = 0 ] || { [ $at -gt 4 ] && [ $at -lt $most ]; } || broken "$fault ended at $at"
        echo "$format, $fault: $at calls"
        rm -f file*
        cp old/* .
    done
    rm -rf old
done

# All ranks are killed while they write one file after the other; each step that was announced is there,
# and every file that has its name is whole. In a short run twice with each format.
rounds=2
[ "${META_TEST_LONG-0}" != 1 ] || rounds=50
cat >rank.sh <<'END'
echo $$ >pid.$$
exec "$@"
END
kills=0
for format in checkpoint npy $(echo "$formats" | tr ' ' '\n' | grep -e hdf5 -e vtk); do
    rm -f file* series*
    next=1
    for delay in $(awk -v seed="$seed" -v rounds=$rounds 'BEGIN { srand(seed); while (rounds--) print 0.3 * rand() }'); do
        rm -f pid.*
        what="many $format, killed after $delay s from step $next on"
        : >out
        $META_TEST_MPIEXEC -n 2 sh rank.sh "$build/$helper" many $format file $next >out 2>err </dev/null &
        job=$! naps=0
        while [ ! -s out ] && kill -0 $job 2>/dev/null && [ $naps -lt 1000 ]; do
            naps=$((naps + 1))
            sleep 0.02
        done
        sleep "$delay"
        kill -KILL $(cat pid.*)
        wait $job
        last=$(grep -x '[0-9][0-9]*' out | tail -n 1)
        [ -n "$last" ] || { broken 'wrote nothing'; break; }
        next=$((last + 2)) # one may have got its name without having been announced
        kills=$((kills + 1))
        # Of checkpoints the last three stay.
        kept=file least=$last
        [ $format != checkpoint ] || kept=$(ls file.* | grep -v partial | sort -t . -k 2nr)
        [ $format != checkpoint ] || [ $last -lt 3 ] || [ "$(echo "$kept" | grep -c .)" -ge 3 ] || broken "only $kept are there"
        if [ $format = vtk ]; then
            [ "$(tail -n 1 file)" = '</VTKFile>' ] || broken 'is damaged'
            continue
        fi
        for file in $kept; do
            $META_TEST_MPIEXEC -n 1 "$build/$helper" check "$file" $least >out 2>err </dev/null || broken "$file is damaged"
            least=1
        done
    done
done
echo "killed $kills times"

# A rank that does not come: the others have an error after META_TIMEOUT.
for format in $formats; do
    export META_TIMEOUT=1
    what="$format without rank 1"
    $META_TEST_MPIEXEC -n 3 "$build/$helper" skip $format late 1 >out 2>err </dev/null && broken 'succeeded'
    grep -q 'META_TIMEOUT' err || broken 'does not name META_TIMEOUT'
    ! ls late* 2>/dev/null || broken 'wrote a file'
    unset META_TIMEOUT
done

[ $failed = 0 ] && echo 'kept   older files stay'
exit $failed
