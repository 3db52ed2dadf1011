#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Files of libmeta as other programs read them, h5py, NumPy and VTK, and files of theirs as libmeta reads them.
# TEST: backends=any mpi=yes labels=io
. "$META_TEST_SRCDIR/tests/programs.sh"
helper=tests/io_file
readers=$META_TEST_SRCDIR/tests/io_readers.py

# Where these are: ./check sees to it.
python='' python_hdf5='' python_vtk=''
for candidate in ${META_TEST_PYTHON-} python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$candidate
    [ -n "$python_hdf5" ] || ! "$candidate" -c 'import h5py, numpy' 2>/dev/null || python_hdf5=$candidate
done
for candidate in ${META_TEST_PYTHON-} python3 /usr/bin/python3; do
    [ -n "$python_vtk" ] || ! "$candidate" -c 'import vtk, numpy' 2>/dev/null || python_vtk=$candidate
done
[ -n "$python" ] || { echo 'there is no NumPy here: its files were not compared'; exit 77; }

# by PYTHON ARGUMENT…
by()
{
    what="io_readers.py $*"
    program=$1
    shift
    "$program" "$readers" "$@" >out 2>err || broken 'failed'
}

run 0 3 $helper write npy rho.npy 3
by "$python" read_npy rho.npy
mkdir theirs
by "$python" write_npy theirs
for name in plain fortran version2; do
    run 0 2 $helper copy theirs/$name.npy array copied.npy
    by "$python" same copied.npy rho
done
run 0 3 $helper copy theirs/line.npy array copied.npy
by "$python" same copied.npy line

# refused TEXT FROM NAME
refused()
{
    run 1 2 $helper copy "$2" "$3" refused.npy
    grep -qF "$1" err || broken "the message has not got: $1"
    [ ! -e refused.npy ] || broken 'wrote a file'
}
refused 'of the other byte order' theirs/foreign.npy array
refused "of type '<c16'" theirs/complex.npy array
refused 'has a shape that no field has' theirs/scalar.npy array
refused 'has a shape that no field has' theirs/none.npy array

if grep -q 'define HAVE_HDF5' "$build/config.h"; then
    if [ -n "$python_hdf5" ]; then
        run 0 3 $helper write hdf5 run.h5 3
        by "$python_hdf5" read_hdf5 run.h5
        run 0 2 $helper begin hdf5 beside.h5 3
        by "$python_hdf5" read_hdf5 beside.h5
        by "$python_hdf5" write_hdf5 theirs.h5
        for name in whole packed foreign tall; do
            run 0 2 $helper copy theirs.h5 $name copied.npy
            by "$python" same copied.npy rho
        done
        run 0 2 $helper copy theirs.h5-blocked whole copied.npy
        by "$python" same copied.npy rho
        run 0 3 $helper copy theirs.h5 small copied.npy
        by "$python" same copied.npy small
        # What is no field is left out, and the error says why.
        refused 'has 0 dimensions' theirs.h5 text
        refused 'has 0 dimensions' theirs.h5 single
        refused 'a type that is not read: compound of 16 bytes' theirs.h5 pairs
        refused 'is no dataset: a group' theirs.h5 group
        refused 'has 0 elements along dimension 1' theirs.h5 empty
        refused 'a type that is not read: floats of 2 bytes' theirs.h5 half
        refused 'a type that is not read: strings' theirs.h5 words
        refused 'is a link' theirs.h5 elsewhere
        refused 'has 2 strings' theirs.h5 texts
        refused 'an enumeration' theirs.h5 flag
        refused "has no field 'nothing'" theirs.h5 nothing
        refused 'has no field' theirs.h5-bare rho
        for field in foreign packed small tall whole; do grep -q "$field" err && broken "has $field"; done
    else
        echo 'there is no h5py here: HDF5 files were not compared'
    fi
else
    run 1 2 $helper write hdf5 run.h5 3
    grep -q 'was built without it: install HDF5' err || broken 'does not say what to install'
fi

if grep -q 'define HAVE_ZLIB' "$build/config.h"; then
    for step in 1 3 5 4; do run 0 3 $helper write vtk "run_$step.vti" $step; done
    by "$python" read_series series.pvd 0.5 1.5 2
    if [ -n "$python_vtk" ]; then
        by "$python_vtk" read_vtk run_3.vti
        META_TEST_CHUNK=4096 run 0 2 $helper begin vtk run_3.vti 3
        by "$python_vtk" read_vtk run_3.vti
    else
        echo 'there is no VTK here: its files were not compared'
    fi
    run 1 2 $helper copy run_3.vti rho refused.npy
    grep -q 'which this library only writes' err || broken 'does not say so'
fi

if grep -q 'define HAVE_PNG' "$build/config.h"; then
    # Plane z = 2 of 7 x 5 cells: the least one below at the left, the greatest one above at the right.
    for ranks in 1 3 4; do
        run 0 $ranks $helper write png plane.png 0
        what='the picture'
        "$build/tests/read_png" plane.png 0 454 636 0 318 227 >out 2>err || broken 'cannot be read'
        [ "$(cat out)" = "$(printf '637 455\n18 22 72\n250 232 92\n24 144 148\n')" ] || broken 'is another one'
    done
fi

[ $failed = 0 ] && echo 'kept   others read these files, and these read theirs'
exit $failed
