#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# On aarch64 libmeta builds without a warning and its tests pass: cross-built for single processes and OpenMP, in the
# folder aarch64 of the build folder, and run by qemu. Once with the vectors of NEON, and once for each width of SVE
# that there are kernels for; each time the kernels must be those for it.
# TEST: labels=aarch64 alone=yes long=yes
set -u
src=$(cd "${META_TEST_SRCDIR:-.}" && pwd) build=$(cd "${META_TEST_BUILDDIR:-.}" && pwd)
root=/usr/aarch64-linux-gnu
skip() { echo 'skipped aarch64_passes_the_tests'; echo "$*"; exit 77; }
[ "$(uname -m)" != aarch64 ] || skip 'this machine is one: the other tests run on it'
[ "${META_TEST_SANITIZE:-no}" = no ] || skip 'qemu runs no sanitizers'
for tool in aarch64-linux-gnu-gcc qemu-aarch64 ctest; do
    command -v $tool >/dev/null && continue
    [ -z "${META_TEST_REQUIRE_TOOLS-}" ] || { echo "BROKEN: there is no $tool here"; exit 1; }
    skip "there is no $tool here"
done
here=$build/aarch64
mkdir -p "$here" && cd "$here" || exit 1
status=0 tests=0 figure=
# What the settings of this machine's build and of the run say is not for this one.
unset META_CC META_CPU META_MODE META_CHECK META_TEST_LONG CPPFLAGS CFLAGS LDFLAGS MAKEFLAGS MFLAGS MAKELEVEL
META_TEST_BRIEF=1 QEMU_LD_PREFIX=$root PKG_CONFIG_LIBDIR=$root/lib/pkgconfig
export META_TEST_BRIEF QEMU_LD_PREFIX QEMU_CPU PKG_CONFIG_LIBDIR
cc=aarch64-linux-gnu-gcc
! command -v ccache >/dev/null || cc="ccache $cc"

# quietly WHAT COMMAND…: its output only if it fails.
quietly()
{
    what=$1 began=$(date +%s)
    shift
    "$@" >log 2>&1 </dev/null || { tail -n 60 log; echo "BROKEN: $what"; exit 1; }
    echo "$what: $(($(date +%s) - began)) s"
}

quietly configure sh "$src/configure" --host=aarch64-linux-gnu --with-mpi=no --with-opencl=no --with-fortran=no \
    --with-cuda=no --with-hip=no --with-openmp=yes --enable-werror "CC=$cc" EMULATOR=qemu-aarch64
# One after the other: `all` is a make of its own, which would build the same objects at the same time.
quietly make make -j"$(getconf _NPROCESSORS_ONLN)" all
quietly 'make test-programs' make -j"$(getconf _NPROCESSORS_ONLN)" test-programs

# The compiler of texts that are given at run time.
mkdir -p bin && ln -sf "$(command -v aarch64-linux-gnu-gcc)" bin/cc || exit 1

# variant NAME PROCESSOR CTEST-ARGUMENT…: the tests on a processor for which the kernels of that name are the best.
variant()
{
    name=$1 QEMU_CPU=$2
    shift 2
    qemu-aarch64 -E "LD_LIBRARY_PATH=$here/.libs" .libs/meta-info >log 2>&1
    grep -q " $name kernels" log ||
        { cat log; echo "BROKEN: QEMU_CPU=$QEMU_CPU: the kernels are not those for $name"; status=1; return; }
    PATH=$here/bin:$PATH ctest --output-on-failure --no-tests=error -j"$(getconf _NPROCESSORS_ONLN)" "$@" >log 2>&1
    got=$?
    count=$(grep -cE '^ *[0-9]+/[0-9]+ +Test +#[0-9]+: .* Passed +[0-9.]+ sec' log)
    [ $got = 0 ] || { cat log; echo "BROKEN: tests with QEMU_CPU=$QEMU_CPU"; status=1; }
    [ "$count" -ge 10 ] || { cat log; echo "BROKEN: only $count tests passed with QEMU_CPU=$QEMU_CPU"; status=1; }
    tests=$((tests + count)) figure="$figure, $count with $name"
}
# Left out are simulated devices, which compute by the same code, devices that are not there, and tests
# - of compilers for GPUs, which call this machine's c++,
# - that start themselves anew, which qemu could only do for the whole system, by binfmt_misc,
# - that limit memory or look at a killed process, where qemu does not do what Linux does,
# - of the choice between devices, which takes minutes here and computes nothing on them, of gigabytes and of fuzzing.
gpu=gpu_compilers
again='profile|secure|user_cold|user_module|user_text_cold'
linux='board|plugins|pool'
slow='auto_.*|choose.*|coherence.*|course|fuzz.*|large|learn|learned|plan|policy|regret'
but="\\.(opencl|auto|sims)|^($gpu|$again|$linux|$slow)(\\.|\$)"
variant baseline max,sve=off -L '^(core|kernel)$' -E "$but"
# What computes, without META_CHECK=on, whose kernels are for the baseline.
for bits in 256 512; do
    variant sve$bits max,sve$bits=on -L '^(core|kernel)$' -R '^[a-z_]*\.openmp(\.7)?$' -E "$but"
done
echo "figure: $tests tests passed on aarch64 under qemu: ${figure#, }"
exit $status
