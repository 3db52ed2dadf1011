#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whatever happens while a file is written, the older ones stay: the disk is full from each call on that
# writes, the process is killed at each, and a rank does not come.
# TEST: backends=any mpi=yes timeout=300 labels=io
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
            what="$way $format, $fault=$at"
            env $fault=$at LD_PRELOAD="$crash" $META_TEST_MPIEXEC -n 1 "$build/$helper" $way $format file 2 \
                >out 2>err </dev/null
            got=$?
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
