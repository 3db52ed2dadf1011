#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The public headers are self-contained, in strict C11 and in C++11, without a warning; in a program they and kernel files
# cause none in any standard, whatever warnings it asks for.
# TEST: labels=core,build
src=${META_TEST_SRCDIR:-.}
build=${META_TEST_BUILDDIR:-.}
status=0

# The value of a variable of the built Makefile.
made_with() { sed -n "s/^$1 = //p" "$build/Makefile" 2>/dev/null | head -n 1; }

cc=$(made_with CC)
: "${cc:=cc}"
cxx=${CXX:-c++}
broken() { echo "BROKEN: $*"; status=1; }
. "$src/tests/compilers.sh"
compiler_is_here "$cxx" the_headers_stand_alone_in_cxx || cxx=
strict="-DMETA_JUDGE_HEADERS -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror -fsyntax-only"
include="-I$src/core -I$src/core/library -I$src/kernels -I$src/backends -I$src/comm -I$src/metamorph -I$src/io"
# MPI's own headers are not ours to judge.
mpi=$(made_with MPI_CPPFLAGS | sed 's/-I *\//-isystem \//g')

# compiles LANGUAGE COMPILER HEADER: twice included, and alone.
compiles() {
    if ! printf '#include "%s"\n#include "%s"\n' "$3" "$3" |
        $2 $strict $include $mpi -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -x "$1" -; then
        echo "BROKEN: $3 as $1 by $2"
        status=1
    fi
}

headers="meta.h meta_library.h metamorph.h metamorph_profiling.h"
case ${META_TEST_MPI:-none} in
none) ;;
*) headers="$headers meta_comm.h meta_io.h metamorph_mpi.h" ;;
esac
for header in $headers; do
    compiles c "$cc -std=c11" $header
    [ -z "$cxx" ] || compiles c++ "$cxx -std=c++11" $header
done
# MetaMorph's names are ours, too: both headers in one file are an error that says what to do.
for order in 'meta metamorph' 'metamorph meta'; do
    said=$(printf '#include "%s.h"\n' $order | $cc -std=c11 $strict $include -x c - 2>&1)
    case $said in
    *METAMORPH_NO_NAMES*) ;;
    *) echo "BROKEN: $order in one file: $said"; status=1 ;;
    esac
    { echo '#define METAMORPH_NO_NAMES' && printf '#include "%s.h"\n' $order; } |
        $cc -std=c11 $strict $include -x c - || { echo "BROKEN: $order with METAMORPH_NO_NAMES"; status=1; }
done
# Without a pass over a kernel file, which tests of kernels make.
compiles c "$cc -std=c11 -DMETA_KERNEL_NO_PASS" meta_kernel.h
[ -z "$cxx" ] || compiles c++ "$cxx -std=c++11 -DMETA_KERNEL_NO_PASS" meta_kernel.h
# Authors of back ends write in C, or in C++ where a GPU's compiler is one.
compiles c "$cc -std=c11 -Wno-unused-function" meta_backend.h
[ -z "$cxx" ] || compiles c++ "$cxx -std=c++11 -Wno-unused-function" meta_backend.h

# All that compilers warn of by name, in a program: its headers, and kernel files as C and C++ have them.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
many="-Wall -Wextra -pedantic -Wcast-align -Wcast-qual -Wconversion -Wdouble-promotion -Wduplicated-branches
    -Wduplicated-cond -Wfloat-equal -Wformat=2 -Wlogical-op -Wmissing-declarations -Wnull-dereference -Wpointer-arith
    -Wredundant-decls -Wshadow -Wsign-conversion -Wswitch-default -Wswitch-enum -Wundef -Wunused-macros -Wvla
    -Wwrite-strings"
many_of_c="-Wbad-function-cast -Wc++-compat -Wdeclaration-after-statement -Wmissing-prototypes -Wnested-externs
    -Wold-style-definition -Wstrict-prototypes"
many_of_cxx="-Weffc++ -Wold-style-cast -Woverloaded-virtual -Wsuggest-override -Wuseless-cast
    -Wzero-as-null-pointer-constant"
for header in $headers meta_backend.h meta_host_kernels.h; do
    printf '#include "%s"\n' "$header" >"$scratch/$header.c"
done
for file in cg gray_scott heat particles teams; do
    printf '#define META_KERNELS_HERE\n#include "%s"\n' "$src/examples/$file.kernel.h" >"$scratch/$file.c"
done
printf '#include <meta.h>\n#include "%s"\n%s\n' "$src/examples/heat.kernel.h" \
    'extern meta_err fill(void *to, double x);
meta_err fill(void *to, double x) { return meta_fill(to, 10, &x, META_F64, META_ASYNC); }' >"$scratch/calls.c"
tried=0
# sweep LANGUAGE COMPILER STANDARDS WARNINGS
sweep()
{
    compiler_is_here "$2" programs_have_no_warnings_of_ours || return
    for standard in $3; do
        echo 'int main(void) { return 0; }' >"$scratch/none"
        # The oldest compilers lack the newest standards.
        $2 -std="$standard" -fsyntax-only -x "$1" "$scratch/none" 2>/dev/null || continue
        for file in "$scratch"/*.c; do
            tried=$((tried + 1))
            $2 -std="$standard" $4 -Werror -fsyntax-only -DMETA_KERNEL_ONE_VARIANT= $include $mpi -DOMPI_SKIP_MPICXX \
                -DMPICH_SKIP_MPICXX -x "$1" "$file" || broken "${file##*/} by $2 -std=$standard"
        done
    done
}
# A sample has the oldest and the newest standard, between which no header of ours tells any apart but C11.
if [ "${META_TEST_LONG-}" = 1 ]; then of_c='c99 c11 c17 gnu17 c2x' of_cxx='c++11 c++14 c++17 c++20 c++23 c++2b'
else of_c='c99 c11 c2x' of_cxx='c++11 c++2b'
fi
sweep c gcc "$of_c" "$many $many_of_c"
sweep c++ g++ "$of_cxx" "$many $many_of_cxx"
# Of padding in structures every program has its own.
sweep c clang "$of_c" '-Weverything -Wno-padded'
sweep c++ clang++ "$of_cxx" '-Weverything -Wno-padded -Wno-c++98-compat'

test $status = 0 && echo "kept   the headers stand alone, and $tried files of programs are without a warning"
exit $status
