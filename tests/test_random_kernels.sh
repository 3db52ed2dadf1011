#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Random kernels compute the bits that plain serial loops do, on every device, and on OpenMP with every
# instruction set. META_CHECK=on finds nothing in them, and each access that is made to leave its array.
#
#   test_random_kernels.sh [--only kNUMBER | --count COUNT]
#
# META_TEST_SEED is of the kernels and of their data; a kernel depends on it and its own number alone.
# TEST: backends=all labels=core
. "${META_TEST_SRCDIR:-.}/tests/random.sh"

case ${META_MODE:-openmp} in
openmp) count=$(some 4 1000) flags=-O2 ;;
*) count=$(some 2 1000) flags='-O0 -DMETA_KERNEL_ONE_VARIANT -DMETA_KERNEL_PROGRAM_LEVEL' ;; # the CPU code does not run
esac
first=0
case ${1-} in
--only) first=${2#k} count=1 ;;
--count) count=$2 ;;
esac
generate "$first" "$count"
compile "$here/kernels.so" "$cc -std=c11 $flags" || exit 1
case ${META_MODE:-openmp} in
openmp)
    for META_CPU in baseline avx2 avx512 sve256 sve512; do
        export META_CPU
        META_MODE=openmp "$build/meta-info" 2>/dev/null | grep -q " $META_CPU kernels" || continue
        run "$here/kernels.so" "$META_CPU"
    done ;;
*) run "$here/kernels.so" "$META_MODE" ;;
esac
if [ -z "${META_CHECK-}" ]; then
    export META_CHECK=on
    unset META_CPU
    case ${META_MODE:-openmp} in
    openmp) run "$here/kernels.so" META_CHECK=on ;;
    *) run "$here/kernels.so" META_CHECK=on 2 "$(some 1 1000)" ;; # each text is compiled once more
    esac
fi
exit $status
