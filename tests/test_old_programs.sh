#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program, a module of kernels and a plug-in that are compiled with the headers of 0.2.0 (abi/0.2.0) run with the
# libraries of today, and the layouts of structures are those that they know. In a long run also with libraries whose
# structures have grown.
# TEST: labels=core,comm,io,build
. "$META_TEST_SRCDIR/tests/programs.sh"
src=$META_TEST_SRCDIR old=$META_TEST_SRCDIR/abi/0.2.0
cc=$(made_with CC) && cc=${cc#ccache }
mpi=$(made_with MPI_CPPFLAGS) mpi_libs=$(made_with MPI_LIBS) program_mpi=program_mpi
[ "${META_TEST_MPI-none}" != none ] || mpi=none program_mpi=
case ${META_TEST_SANITIZE-no} in
yes) cc="$cc -fsanitize=address,undefined" ;;
thread) cc="$cc -fsanitize=thread" ;;
esac
META_CACHE_DIR=$here/cache
export META_CACHE_DIR
unset META_CHECK # one of the runs sets it
mkdir plugins headers files
flags='-std=gnu11 -O1 -Wall -Wextra -Werror -DMETA_KERNEL_ONE_VARIANT'
paths="-I$old/include -L$build/.libs"

# ------------------------------------------------------------------ layouts

read_headers='meta.h meta_library.h meta_kernel.h meta_kernel_team.h meta_space.h meta_types.h meta_kernels.h
    meta_extreme.h meta_kernel_extremes.h meta_backend.h'
includes='#include <meta_backend.h>
#include <meta_library.h>'
if [ "$mpi" != none ]; then
    read_headers="$read_headers meta_comm.h meta_io.h"
    includes="$includes
#include <meta_comm.h>
#include <meta_io.h>"
fi
cp "$src"/core/meta.h "$src"/core/library/meta_library.h "$src"/kernels/*.h "$src/backends/meta_backend.h" headers
[ "$mpi" = none ] || cp "$src/comm/meta_comm.h" "$src/io/meta_io.h" headers
chmod -R u+w headers

# layouts_of FOLDER FILE: what a compiler makes of the headers there.
layouts_of()
{
    # shellcheck disable=SC2086
    (cd "$1" && awk -v include="$includes" -f "$src/tests/layouts.awk" $read_headers) >"$2.c" &&
        $cc -w -I"$1" ${mpi#none} -o "$2.bin" "$2.c" && ./"$2.bin" >"$2"
}
# compared STATUS WHAT HEADER SED-COMMAND TEXT: with a header of today's changed so, and what is then said.
compared()
{
    what=$2
    rm -rf changed
    cp -r headers changed
    [ "$3" = none ] || sed "$4" "headers/$3" >"changed/$3"
    [ "$3" = none ] || ! cmp -s "headers/$3" "changed/$3" || { : >out; : >err; broken "no such line in $3"; }
    layouts_of "$here/changed" new.layouts 2>err || { : >out; broken 'does not compile'; return; }
    awk -f "$src/tests/layouts_differ.awk" old.layouts new.layouts >out 2>err
    got=$?
    [ $got = "$1" ] || broken "status $got instead of $1"
    [ -z "$5" ] || grep -q -e "$5" out || broken "it does not say: $5"
}

# ------------------------------------------------------------------ compiling, each beside the others

# shellcheck disable=SC2086
compiled()
{
    $cc $flags $paths -o program "$old/program.c" -lmeta -lm -ldl >program.log 2>&1 &
    $cc $flags $paths -fPIC -shared -o module.so "$old/module.c" -lmeta >module.log 2>&1 &
    $cc $flags $paths -ffp-contract=off -fopenmp-simd -fvisibility=hidden -fPIC -shared -o plugins/old.so "$old/old.c" \
        -lm >old.log 2>&1 &
    [ "$mpi" = none ] || $cc $flags $paths $mpi -Wno-cast-function-type -o program_mpi "$old/program_mpi.c" -lmeta_io \
        -lmeta_comm -lmeta $mpi_libs >program_mpi.log 2>&1 &
    layouts_of "$old/include" old.layouts 2>old.layouts.log
    wait
}
compiled
for made in program module.so plugins/old.so old.layouts $program_mpi; do
    [ -s "$made" ] && continue
    cat ./*.log
    echo "BROKEN: $made is not compiled"
    exit 1
done

compared 0 'the headers of today' none '' ''
compared 0 'a member appended to a structure with a size' meta.h 's/^} meta_pool_desc;/uint64_t later;\n&/' ''
compared 1 'a member in the middle of it' meta.h 's/^    uint64_t reused; /uint64_t later;\n&/' 'meta_pool_desc.reused was at'
compared 1 'a member appended where older ones have padding' meta_comm.h 's/^} meta_halo_desc;/int later;\n&/' \
    'meta_halo_desc.later begins at byte'
compared 1 'a member appended to a structure without a size' meta_kernel.h 's/^} meta_kernel_rows;/int later;\n&/' \
    'meta_kernel_rows has no size'
compared 1 'another number of an enumerator' meta_kernel.h 's/^    META_PARAMETER_ADD, /META_PARAMETER_LATER, &/' \
    'META_PARAMETER_ADD was 3 and is 4'
compared 1 'a longer array' meta_kernel.h 's/^#define META_KERNEL_DIMS 4/#define META_KERNEL_DIMS 5/' 'META_KERNEL_DIMS was 4'
[ $failed = 0 ] && echo 'kept   structures are laid out as programs of 0.2.0 know them'

# ------------------------------------------------------------------ running

# as_it_was LIBRARIES MODE RANKS PROGRAM ARGUMENT…: without META_MODE where MODE is default.
as_it_was()
{
    libraries=$1 mode=$2 ranks=$3
    shift 3
    what="META_MODE=$mode $*"
    launch=
    [ "$ranks" = 0 ] || launch="$META_TEST_MPIEXEC -n $ranks"
    # shellcheck disable=SC2086
    LD_LIBRARY_PATH=$libraries META_MODE=$mode META_BACKEND_PATH=$here/plugins $launch "$@" >out 2>err </dev/null
    got=$?
    [ $got = 0 ] && grep -q ': as it was$' out || broken "exit status $got"
}
# runs LIBRARIES MODE…
runs()
{
    with=$1
    shift
    for one; do as_it_was "$with" "$one" 0 ./program ./module.so; done
    META_CHECK=on
    export META_CHECK
    as_it_was "$with" openmp 0 ./program ./module.so
    unset META_CHECK
    [ "$mpi" != none ] || return
    for ranks in 1 2; do
        rm -rf files
        mkdir files
        as_it_was "$with" openmp $ranks ./program_mpi files
    done
}
runs "$build/.libs" openmp old auto
if "$build/meta-info" | grep -q '^  opencl  *usable'; then
    # To compile kernels for OpenCL takes a second each.
    short=short
    [ "${META_TEST_LONG-0}" != 1 ] || short=
    # shellcheck disable=SC2086
    as_it_was "$build/.libs" opencl 0 ./program ./module.so $short
fi
[ $failed = 0 ] && echo 'kept   programs, kernels and plug-ins of 0.2.0 run'

# ------------------------------------------------------------------ structures that have grown

[ "${META_TEST_LONG-0}" = 1 ] || exit $failed
what='libraries of a later version'
mkdir grown
(cd "$src" && for folder in .git */config.status; do echo "./${folder%/config.status}"; done >"$here/left_out" &&
    tar cf - -X "$here/left_out" .) | (cd grown && tar xf -)
chmod -R u+w grown
mkdir grown/build
for header in core/meta.h core/library/meta_library.h kernels/meta_kernel.h backends/meta_backend.h comm/meta_comm.h \
    io/meta_io.h; do
    awk -f "$src/tests/grow.awk" "$src/$header" >"grown/$header"
done
grep -q grown grown/core/meta.h || broken 'nothing has grown'
(cd grown/build && unset MAKEFLAGS MAKELEVEL MFLAGS && PATH=$(dirname "$(made_with MPICC)"):$PATH ../configure --with-mpi="$(made_with with_mpi)" \
    --with-openmp=yes --with-opencl=no --with-fortran=no --with-cuda=no --with-hip=no &&
    make -s -j"$(nproc)" all) >out 2>err || broken 'cannot be built'
[ $failed = 1 ] || runs "$here/grown/build/.libs" openmp old
[ $failed = 0 ] && echo 'kept   programs, kernels and plug-ins of 0.2.0 run where structures have grown'
exit $failed
