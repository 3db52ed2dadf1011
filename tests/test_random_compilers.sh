#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Random kernels compile without a warning and compute the same bits with every compiler, language and
# level of optimization; the compilers of CUDA and HIP, which need no GPU, take them without a warning.
# TEST: labels=core,build
. "${META_TEST_SRCDIR:-.}/tests/random.sh"
. "$src/tests/compilers.sh"
META_MODE=openmp
export META_MODE

first=0
if [ "${1-}" = --only ]; then
    first=${2#k} count=1
else
    count=$(some 2 400)
fi
generate "$first" "$count"

# try 'COMPILER FLAGS' [LINK FLAGS]
try()
{
    case $1 in clang++*) name=clang_cxx ;; clang*) name=clang ;; "$cxx "*) name=cxx ;; *) name=c ;; esac
    compiler_is_here "${1%% *}" random_kernels_compile_by_$name || return
    compile "$here/kernels.so" "$@" && run "$here/kernels.so" "$1"
}

one=-DMETA_KERNEL_ONE_VARIANT level=-DMETA_KERNEL_PROGRAM_LEVEL
try "$cc -std=c11 -O0 $one $level"
try "$cc -std=gnu11 -O3 -march=native $one"
try "$cc -std=c11 -O2 -flto=auto $one" -O2
try "$cxx -x c++ -std=c++11 -O2 $one" '-x none'
try "clang -std=c11 -O2 $one"
if [ "${META_TEST_LONG-}" = 1 ]; then
    for flags in -O0 -O1 -O2 -O3 -Os "-O2 $level"; do try "$cc -std=c11 $flags"; done
    try "$cc -std=c11 -O2 -ffp-contract=fast $one"
    try "$cxx -x c++ -std=c++17 -O3 -march=native $one" '-x none'
    for flags in -O0 -O2 -O3 '-O3 -march=native'; do try "clang -std=c11 $flags"; done
    try "clang++ -x c++ -std=c++17 -O2 $one" '-x none'
fi

compile "$here/kernels.so" "$cc -std=c11 -O0 $one $level" && {
    "$build/tests/random_compile" "$here/kernels.so" >"$here/out" 2>&1
    case $? in
    0 | 77) grep -e '^kept' -e '^skipped' "$here/out" ;;
    *) broken "NVRTC or hipRTC, META_TEST_SEED=$seed"
       cat "$here/out" ;;
    esac
}
exit $status
