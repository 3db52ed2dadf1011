#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-dot3d --blas: on each back end the BLAS library of its peer multiplies, and the header names it;
# without one, and in every other case that cannot be, one line says what to do.
# TEST: backends=any mpi=yes timeout=300 labels=programs,peers
set -u
build=$META_TEST_BUILDDIR
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
unset META_MODE META_RANK_MAP
failed=0 skipped=
small='--nx 40 --ny 30 --nz 20 --iters 3'

broken()
{
    echo "BROKEN $what: $*"
    cat out err
    failed=1
}
# run STATUS RANKS PROGRAM ARGUMENT…: its output is then in out and err.
run()
{
    want=$1 ranks=$2 program=$3
    shift 3
    what="$program $* on $ranks ranks, META_RANK_MAP=${META_RANK_MAP-}"
    $META_TEST_MPIEXEC -n "$ranks" "$build/$program" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$want" ] || broken "exit status $got, expected $want"
}
refused()
{
    text=$1
    shift
    run 2 "$@"
    lines=$(grep -c '^meta-' err)
    [ "$lines" = 1 ] || broken "$lines lines of error, expected one"
    grep -q -e "$text" err || broken "does not say: $text"
}
# right MAP LIBRARY…: on two ranks, in both types, and each library is in the table of ranks.
right()
{
    META_RANK_MAP=$1
    export META_RANK_MAP
    shift
    for type in f64 f32; do
        run 0 2 meta-dot3d $small --blas --type $type
        [ "$(tail -n 1 out)" = PASS ] || broken 'the last line is not PASS'
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
    refused 'libopenblas-dev' 2 meta-dot3d $small --blas
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
    refused 'libclblast-dev' 2 meta-dot3d $small --blas
    unset META_RANK_MAP
fi

refused 'meta-dot3d' 2 meta-dot3d-mpi $small --blas
for type in i64 u32; do refused "$type" 1 meta-dot3d $small --blas --type $type; done
refused 'needless value' 1 meta-dot3d --blas=yes

# A back end whose peer is not there, is damaged, or is something else.
mkdir -p folder/peers
cp "$build/.libs/libmeta/openmp.so" folder/
META_MODE=openmp META_BACKEND_PATH=$here/folder
export META_MODE META_BACKEND_PATH
refused 'there is no file .*folder/peers/openmp.so' 2 meta-dot3d $small --blas
head -c 3000 "$build/.libs/libmeta/peers/openmp.so" >folder/peers/openmp.so
refused 'truncated' 2 meta-dot3d $small --blas
cp folder/openmp.so folder/peers/openmp.so
refused 'no peer of this version' 2 meta-dot3d $small --blas
unset META_MODE META_BACKEND_PATH

[ $failed = 0 ] || exit 1
[ -z "$skipped" ] || { echo "no device or library:$skipped"; exit 77; }
echo 'the dot product is right with every BLAS library'
