#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reproducible sums of random kernels, whose cells contribute numbers of any size, have the bits of the
# exact sum of what serial loops contribute, rounded once: on every device, and on OpenMP for any number
# of threads.
#
#   test_random_sums.sh [--only kNUMBER]
#
# META_TEST_SEED is of the kernels and of their data.
# TEST: backends=all labels=core
. "${META_TEST_SRCDIR:-.}/tests/random.sh"

case ${META_MODE:-openmp} in
openmp) count=$(some 4 1000) flags=-O2 ;;
*) count=$(some 2 1000) flags='-O0 -DMETA_KERNEL_ONE_VARIANT -DMETA_KERNEL_PROGRAM_LEVEL' ;; # the CPU code does not run
esac
first=0
if [ "${1-}" = --only ]; then
    first=${2#k} count=1
fi
generate "$first" "$count" any-addends
compile "$here/kernels.so" "$cc -std=c11 $flags" || exit 1
export META_REPRODUCIBLE=on
case ${META_MODE:-openmp} in
openmp)
    for META_THREADS in 1 2 5; do
        export META_THREADS
        run "$here/kernels.so" "$META_THREADS threads"
    done ;;
*) run "$here/kernels.so" "$META_MODE" ;;
esac
exit $status
