#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The public headers are self-contained, in strict C11 and in C++11, without a warning.
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
strict="-pedantic -Wall -Wextra -Wshadow -Wconversion -Werror -fsyntax-only"
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

test $status = 0 && echo "kept   the headers stand alone"
exit $status
