#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-dot3d --blas: on each back end the peer's BLAS library computes the product, and the header names
# it; without one, and in every other unsupported case, one line says what to do.
# TEST: backends=any mpi=yes labels=programs,peers
. "$META_TEST_SRCDIR/tests/programs.sh"
# LeakSanitizer itself crashes, or hangs, over the threads of the OpenCL peer's libraries.
[ "${META_TEST_SANITIZE-no}" = no ] || export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
skipped=
small='--nx 40 --ny 30 --nz 20 --iters 3'

# right MAP LIBRARY…: on two ranks, in both types, and each library is in the table of ranks.
right()
{
    META_RANK_MAP=$1
    export META_RANK_MAP
    shift
    for type in f64 f32; do
        run 0 2 meta-dot3d $small --blas --type $type
        last_line PASS
        for library in "$@"; do
            grep -q "^ *[0-9][0-9]* .*  $library" out || broken "does not name $library"
        done
    done
    unset META_RANK_MAP
}
# built NAME: whether configure found it.
built() { grep -q "^#define META_$1 " "$build/config.h"; }

if built BLAS; then
    right '*:openmp' OpenBLAS
    META_MODE=openmp
    export META_MODE
    run 0 3 meta-dot3d $small --blas
    run 0 1 meta-dot3d --nx 1 --ny 1 --nz 1 --iters 1 --blas
    unset META_MODE
else
    skipped="$skipped OpenBLAS"
    META_RANK_MAP='*:openmp'
    export META_RANK_MAP
    refused 2 'libopenblas-dev' meta-dot3d $small --blas
    unset META_RANK_MAP
fi
if ! "$build/meta-info" | grep -q '^  opencl  *usable'; then skipped="$skipped opencl"
elif built CLBLAST; then
    right '*:opencl' CLBlast
    ! built BLAS || right '1:opencl,*:openmp' OpenBLAS CLBlast
else
    skipped="$skipped CLBlast"
    META_RANK_MAP='*:opencl'
    export META_RANK_MAP
    refused 2 'libclblast-dev' meta-dot3d $small --blas
    unset META_RANK_MAP
fi

refused 2 'meta-dot3d' meta-dot3d-mpi $small --blas
for type in i64 u32; do refused 1 "$type" meta-dot3d $small --blas --type $type; done
refused 1 'needless value' meta-dot3d --blas=yes

# A back end whose peer is not there, is damaged, or is something else.
mkdir -p folder/peers
cp "$build/.libs/libmeta/openmp.so" folder/
META_MODE=openmp META_BACKEND_PATH=$here/folder
export META_MODE META_BACKEND_PATH
refused 2 'there is no file .*folder/peers/openmp.so' meta-dot3d $small --blas
head -c 3000 "$build/.libs/libmeta/peers/openmp.so" >folder/peers/openmp.so
refused 2 'truncated' meta-dot3d $small --blas
cp folder/openmp.so folder/peers/openmp.so
refused 2 'no peer of this version' meta-dot3d $small --blas
unset META_MODE META_BACKEND_PATH

[ $failed = 0 ] || exit 1
[ -z "$skipped" ] || { echo "no device or library:$skipped"; exit 77; }
echo 'the dot product is right with every BLAS library'
