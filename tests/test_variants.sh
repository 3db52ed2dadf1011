#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The OpenMP kernels of every instruction set that this processor supports pass the kernel tests, with
# cached and with non-temporal stores.
# TEST: labels=core
build=${META_TEST_BUILDDIR:-.}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
status=0 ran=0
META_MODE=openmp META_TEST_BRIEF=1 # each program runs whole elsewhere
export META_MODE META_TEST_BRIEF META_CPU META_STREAM_BYTES
for META_CPU in baseline avx2 avx512 sve256 sve512; do
    "$build/meta-info" >"$out" 2>&1
    if ! grep -q " $META_CPU kernels" "$out"; then
        if grep -q -e 'does not have these instructions' -e 'SVE vectors have' \
            -e 'as far as they were built' "$out"; then
            echo "not here: $META_CPU"
            continue
        fi
        cat "$out"
        exit 1
    fi
    for run in off:copy off:launch off:pack off:reduce off:stencil off:user_kernels off:user_results \
        0:copy 0:stencil 0:same_bits 0:user_kernels; do
        META_STREAM_BYTES=${run%:*}
        test=${run#*:}
        "$build/tests/test_$test" >"$out" 2>&1
        case $? in
            0) ran=$((ran + 1)) ;;
            77) [ $test = same_bits ] || status=1 ;; # with OpenMP alone there is nothing to compare
            *) echo "BROKEN: test_$test with META_CPU=$META_CPU META_STREAM_BYTES=$META_STREAM_BYTES"
               cat "$out"; status=1 ;;
        esac
    done
done
unset META_CPU
# A sum must not depend on what the machine was found to be better at; rows of grids of 24 MiB are always aligned.
for stencil in 21 22 23 24; do
    [ -x "$build/meta-minighost" ] || break
    for META_STREAM_BYTES in 0 off; do
        "$build/meta-minighost" --scaling 1 --nx 301 --ny 122 --nz 91 --num_vars 1 --num_tsteps 3 \
            --stencil $stencil --json "$out.$META_STREAM_BYTES" >"$out" 2>&1 || { cat "$out"; status=1; }
        grep -o '"grid_sum": *[^,]*' "$out.$META_STREAM_BYTES" >"$out.sums.$META_STREAM_BYTES"
    done
    if [ -s "$out.sums.0" ] && cmp -s "$out.sums.0" "$out.sums.off"; then ran=$((ran + 1))
    else echo "BROKEN: stencil $stencil: its sums depend on META_STREAM_BYTES"; status=1; fi
done
rm -f "$out".*
# The OpenCL back end has such kernels for CPUs.
META_MODE=opencl META_STREAM_BYTES=0 "$build/tests/test_stencil" >"$out" 2>&1
case $? in 0 | 77) ;; *) echo 'BROKEN: test_stencil on opencl with META_STREAM_BYTES=0'; cat "$out"; status=1 ;; esac
unset META_CPU META_STREAM_BYTES
for wrong in META_STREAM_BYTES=lots META_CPU=abacus; do
    env $wrong "$build/meta-info" >"$out" 2>&1 && { echo "BROKEN: $wrong is taken"; status=1; }
    grep -q "$wrong: give" "$out" || { echo "BROKEN: $wrong is refused in other words:"; cat "$out"; status=1; }
done
[ $ran -ge 8 ] || { echo "BROKEN: only $ran programs ran"; status=1; }
[ $status = 0 ] && echo "kept   $ran programs with every instruction set there is"
exit $status
