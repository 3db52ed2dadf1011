#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Exported symbols and dependencies of the built libraries: each exports the functions of its headers,
# a back end and its peer one symbol each, and none links a library that it must not need.
# TEST: labels=core,build smoke=yes
src=${META_TEST_SRCDIR:-.}
build=${META_TEST_BUILDDIR:-.}
status=0

for tool in nm readelf; do
    command -v $tool >/dev/null || { echo "BROKEN: there is no $tool here"; exit 1; }
done

broken() { echo "BROKEN: $*"; status=1; }

# The defined symbols of a library, without their versions and what sanitizers add.
exported() {
    nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ && $2 != "A" { sub(/@.*/, "", $3); print $3 }' |
        grep -v '^__odr_asan' | sort -u
}

# The functions that headers declare.
declared() {
    sed -n 's/^META_API .*[ *]\(meta[a-z]*_[A-Za-z0-9_]*\)(.*/\1/p' "$@" | sort -u
}

# compare LIBRARY HEADERS FURTHER…: exports are the headers' functions and the further symbols.
compare() {
    library=$1 header=$2
    shift 2
    exported "$library" >exported.$$
    # shellcheck disable=SC2086
    { declared $header; for symbol in "$@"; do echo "$symbol"; done; } | sort -u >declared.$$
    test -s exported.$$ || broken "$library shows no symbol"
    for symbol in $(comm -23 exported.$$ declared.$$); do
        broken "$library shows $symbol, not declared in $header"
    done
    for symbol in $(comm -13 exported.$$ declared.$$); do
        broken "$header declares $symbol, which $library does not show"
    done
    rm -f exported.$$ declared.$$
}

# needs_none LIBRARY PATTERN: it is linked with no library whose name matches.
needs_none() {
    for name in $(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -Ei "$2"); do
        broken "$1 is linked with $name"
    done
}

# Where libmeta is opened late, as by Python, its thread-local storage has to fit into what the C library has in
# reserve, of which other libraries have a part.
tls=$(readelf -lW "$build/.libs/libmeta.so" | awk '$1 == "TLS" { print $6 }')
if [ $((tls)) -lt 1 ] || [ $((tls)) -gt 768 ]; then broken "libmeta.so has $((tls)) bytes of thread-local storage"; fi

# The further ones are for the other libraries of this project.
compare "$build/.libs/libmeta.so" "$src/core/meta.h $src/kernels/meta_kernel.h $src/core/library/meta_library.h" \
    meta_core_table meta_ahead_table
needs_none "$build/.libs/libmeta.so" 'mpi|opencl|cuda|amdhip|hsa|gomp|libomp'
if test -e "$build/.libs/libmeta_comm.so"; then
    compare "$build/.libs/libmeta_comm.so" "$src/comm/meta_comm.h" meta_comm_refuse meta_comm_table
    needs_none "$build/.libs/libmeta_comm.so" 'opencl|cuda|amdhip|hsa|gomp|libomp'
fi
metamorph="$src/metamorph/metamorph.h $src/metamorph/metamorph_profiling.h"
test ! -e "$build/.libs/libmeta_comm.so" || metamorph="$metamorph $src/metamorph/metamorph_mpi.h"
compare "$build/.libs/libmeta_metamorph.so" "$metamorph"
needs_none "$build/.libs/libmeta_metamorph.so" 'opencl|cuda|amdhip|hsa|gomp|libomp'
if test -e "$build/.libs/libmeta_io.so"; then
    compare "$build/.libs/libmeta_io.so" "$src/io/meta_io.h"
    needs_none "$build/.libs/libmeta_io.so" 'opencl|cuda|amdhip|hsa|gomp|libomp'
fi
# A module procedure with a C name is every program's: gfortran's own begin with __meta, flang's with _QMmeta.
for library in "$build/.libs/libmeta_fortran.so"; do
    test -e "$library" || continue
    symbols=$(exported "$library" | grep -vE '^(__meta|_QMmeta|meta)')
    test -z "$symbols" || broken "$library shows $(echo $symbols): give them bind(c, name='')"
done
for module in "$build"/.libs/libmeta/*.so; do
    test -e "$module" || continue
    symbols=$(exported "$module")
    test "$symbols" = meta_plugin_v2 || broken "$module shows $symbols"
    needs_none "$module" 'mpi|libmeta'
done
for module in "$build"/.libs/libmeta/peers/*.so; do
    test -e "$module" || continue
    symbols=$(exported "$module")
    test "$symbols" = meta_peer_v1 || broken "$module shows $symbols"
    needs_none "$module" 'mpi|libmeta'
done

test $status = 0 && echo "kept   the symbols are those of the headers"
exit $status
