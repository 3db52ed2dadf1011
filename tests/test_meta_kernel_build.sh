#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-kernel build: what it makes ahead of time runs where nothing can be compiled, whoever of the user
# and root owns it, and nothing that others could have written is loaded.
# TEST: backends=any binaries=yes labels=tools
. "$META_TEST_SRCDIR/tests/programs.sh"
META_CACHE_DIR=$here/cache
export META_CACHE_DIR
src=$META_TEST_SRCDIR
case $src in /*) ;; *) src=$(cd "$build" && cd "$src" && pwd) ;; esac
case ${META_TEST_SANITIZE-no} in
yes) sanitize='-fsanitize=address,undefined' ;;
thread) sanitize='-fsanitize=thread' ;;
*) sanitize= ;;
esac
cat >heat.kernel.h <<'END'
#include <meta_kernel.h>
#define heat_ARGS(A) A(OUT, T, next) A(IN, T, now, STAR(1)) A(VALUE, T, k) A(MAX, T, change)
META_CELLS(heat)
{
    const T by = k * (AT1(now, -1) + AT1(now, 1) - 2 * AT1(now, 0));
    AT1(next, 0) = AT1(now, 0) + by;
    RAISE(change, ABS(by));
}
#define doubled_ARGS(A) A(INOUT, T, x)
META_CELLS(doubled)
{
    AT1(x, 0) *= 2;
}
#include META_AGAIN
END
# Floating-point sums, for which META_REPRODUCIBLE=on needs other code, and a body of OpenCL's own.
cat >sums.kernel.h <<'END'
#define META_KERNEL_TYPES META_KERNEL_F64
#include <meta_kernel.h>
#define total_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum)
META_CELLS(total)
{
    ADD(sum, ON(x));
}
#define halves_ARGS(A) A(IN, T, x, STAR(1)) A(SUM, T, sum) A(SHARED, T, tile, 32)
META_TEAMS(halves, 32, 1, 1)
{
    MEMBERS { SHARED(tile, MY(0)) = ON(x) / 2; }
    MEMBERS { ADD(sum, SHARED(tile, EXTENT(0) - 1 - MY(0))); }
}
#ifdef META_NATIVE_OPENCL
META_NATIVE_OPENCL(halves)
{
    MEMBERS { ADD(sum, *&ON(x) / 2); }
}
#endif
#include META_AGAIN
END

# A program that gives the text at run time, or with LINKED has the kernels; it prints what changed.
cat >main.c <<'END'
#ifdef LINKED
#define META_KERNELS_HERE
#define META_KERNEL_ONE_VARIANT
#include "sub/heat.kernel.h"
#else
#define META_KERNEL_NO_PASS
#include <meta_kernel.h>
#endif
#include <stdio.h>
#define TRY(call) if (call) return fprintf(stderr, "%s\n", meta_last_error()), 1
int main(void)
{
    const meta_box box = {1, {100}, {1}, {99}};
    double data[100], k = 0.25, change, most;
    int64_t most_bits;
    meta_kernel *kernel;
    void *now, *next;
    for (int n = 0; n < 100; ++n) data[n] = n * n % 17;
    TRY(meta_init());
#ifdef LINKED
    kernel = &heat_f64_kernel;
#else
    static char text[10000];
    FILE *from = fopen("heat.kernel.h", "r");
    if (!from || fread(text, 1, sizeof text - 1, from) == 0) return 2;
    TRY(meta_kernel_compile(&kernel, "heat", META_F64, "heat.kernel.h", text));
#endif
    TRY(meta_alloc(&now, sizeof data)); TRY(meta_alloc(&next, sizeof data));
    TRY(meta_copy_h2d(now, data, sizeof data, NULL));
    TRY(meta_fill(next, 100, &k, META_F64, NULL));
    const void *arguments[] = {next, now, &k, &change};
    TRY(meta_kernel_run(kernel, &box, arguments, NULL));
    /* The library's own kernels of several types. */
    TRY(meta_reduce(&most, now, &box, META_MAX, META_F64, NULL));
    TRY(meta_reduce(&most_bits, now, &box, META_MAX, META_I64, NULL));
    printf("%g\n", change);
    TRY(meta_free(now)); TRY(meta_free(next));
    return meta_finalize() != META_OK;
}
END
cat >sums.c <<'END'
#define META_KERNELS_HERE
#define META_KERNEL_ONE_VARIANT
#include "sub/sums.kernel.h"
#include <stdio.h>
#define TRY(call) if (call) return fprintf(stderr, "%s\n", meta_last_error()), 1
int main(void)
{
    const meta_box box = {1, {100}, {1}, {99}};
    double data[100], sum, half;
    void *x;
    for (int n = 0; n < 100; ++n) data[n] = n % 17;
    TRY(meta_init());
    TRY(meta_alloc(&x, sizeof data));
    TRY(meta_copy_h2d(x, data, sizeof data, NULL));
    TRY(total_f64(&box, x, &sum, NULL));
    TRY(halves_f64(&box, x, &half, NULL));
    printf("%g\n", sum + half - 1151.75);
    TRY(meta_free(x));
    return meta_finalize() != META_OK;
}
END
mkdir sub && cp heat.kernel.h sums.kernel.h sub/
for linked in '' -DLINKED; do
    # shellcheck disable=SC2086
    ${CC:-cc} $sanitize $linked -I"$src/core" -I"$src/kernels" main.c -o "main$linked" -L"$build/.libs" -lmeta -lm \
        -Wl,-rpath,"$build/.libs" || exit 1
done
# shellcheck disable=SC2086
${CC:-cc} $sanitize -I"$src/core" -I"$src/kernels" sums.c -o sums -L"$build/.libs" -lmeta -lm \
    -Wl,-rpath,"$build/.libs" || exit 1

# did STATUS ARGUMENT…
did()
{
    want=$1
    shift
    what="meta-kernel $*"
    "$build/meta-kernel" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ] || broken "exit status $got, expected $want"
}
says() { grep -q -- "$1" err || broken "does not say: $1"; }
found() { grep -q -- "$1" out || broken "does not print: $1"; }
# runs NAME VARIABLE…: without any compiler, and an empty cache.
runs()
{
    what=$*
    program=$1
    shift
    env PATH="$here/tools" META_CACHE_DIR=off META_KERNEL_PATH="$here/objects" "$@" "./$program" >out 2>err || broken 'fails'
    [ "$(cat out)" = 4.75 ] || broken 'computes something else'
}
# refused TEXT NAME VARIABLE…: with that message.
refused()
{
    text=$1
    what=$*
    program=$2
    shift 2
    ! env PATH="$here/tools" META_CACHE_DIR=off META_KERNEL_PATH="$here/objects" "$@" "./$program" >out 2>err || broken 'runs'
    says "$text"
}

mkdir tools # PoCL itself links what it has compiled
ln -s "$(command -v ld)" tools/

did 2 build heat.kernel.h -o objects
says 'build: for what'
did 2 build heat.kernel.h --for cpu
says 'into which folder'
did 2 build heat.kernel.h --for cuda -o objects
says 'of which architecture'
did 2 build --for cpu -o objects
says 'which file'
did 2 build heat.kernel.h --for cpu:sse9 -o objects
says 'give an instruction set'
did 2 build no_such.kernel.h --for cpu -o objects
says 'No such file'
did 2 build heat.kernel.h --for cpu -o heat.kernel.h/objects
says 'cannot be opened'
mkdir open && chmod 777 open
did 2 build heat.kernel.h --for cpu -o open
says 'no program would load code from folder .*open: others can write to it'

# The CPU: every instruction set, and a smaller one where the best is not there.
did 0 build heat.kernel.h --for cpu -o objects
found '^heat.kernel.h, CPU with baseline: built$'
chmod -R a-w objects
runs main META_MODE=openmp META_JIT=load
runs main META_MODE=openmp META_CPU=baseline
chmod -R u+w objects
rm -r objects
did 0 build heat.kernel.h --for cpu:baseline -o objects
[ "$(ls objects | wc -l)" = 1 ] || broken 'leaves other files'
runs main META_MODE=openmp META_JIT=load
runs main META_MODE=openmp
# With a compiler nothing is compiled either.
did 0 build heat.kernel.h --for cpu:native -o objects
printf '#!/bin/sh\necho compiled >>"%s/compiles"\nexec cc "$@"\n' "$here" >counts
chmod +x counts
what='a compiler is there'
META_CC=$here/counts META_CACHE_DIR=off META_KERNEL_PATH=$here/objects META_MODE=openmp ./main >out 2>err || broken 'fails'
[ ! -e compiles ] || broken 'compiles'
refused 'META_KERNEL_PATH.* objects, and META_JIT=load\|META_KERNEL_PATH' main META_MODE=openmp META_JIT=load META_KERNEL_PATH="$here"
printf '\n' >>heat.kernel.h
refused 'nor in META_KERNEL_PATH' main META_MODE=openmp META_JIT=load
cp sub/heat.kernel.h .

# Folders and files that others can write, or that belong to others, are not used; damage is found.
chmod g+w objects
refused 'no code is loaded from .*objects: others can write to it' main META_MODE=openmp META_JIT=load
chmod g-w objects
chmod o+w objects/*
refused 'is not loaded: others can write to it' main META_MODE=openmp META_JIT=load
chmod o-w objects/*
if [ "$(id -u)" = 0 ]; then
    chown 12345 objects/*
    refused 'belongs to user 12345, who is not root' main META_MODE=openmp META_JIT=load
    chown 0 objects/*
    if command -v setpriv >/dev/null; then
        # A user's program loads what root has put there.
        chmod 755 "$here"
        as_user="setpriv --reuid 12345 --regid 12345 --clear-groups"
        # Below a home that only root can enter the user has no libraries.
        if ! $as_user test -r "$build/.libs/libmeta.so.0" 2>/dev/null; then
            cp -rL "$build/.libs" libs && chmod -R a+rX libs
            as_user="$as_user env LD_LIBRARY_PATH=$here/libs"
        fi
        what='objects of root, for a user'
        # shellcheck disable=SC2086
        $as_user env HOME="$here/none" META_CACHE_DIR=off META_JIT=load META_MODE=openmp \
            META_KERNEL_PATH="$here/objects" ./main >out 2>err || broken 'fails'
        [ "$(cat out)" = 4.75 ] || broken 'computes something else'
        chown 23456 objects
        # shellcheck disable=SC2086
        ! $as_user env HOME="$here/none" META_CACHE_DIR=off META_JIT=load META_MODE=openmp \
            META_KERNEL_PATH="$here/objects" ./main >out 2>err || broken 'loads what a stranger could have put there'
        says 'belongs to user 23456, who is not root, and this process to user 12345'
        chown 0 objects
    fi
fi
# Files of another version of the format say so.
for file in objects/*; do printf 9 | dd of="$file" bs=1 seek=7 conv=notrunc 2>/dev/null; done
refused 'is of version 9 of the file format, and this libmeta reads version 1: build it again' \
    main META_MODE=openmp META_JIT=load
for file in objects/*; do printf 1 | dd of="$file" bs=1 seek=7 conv=notrunc 2>/dev/null; done
runs main META_MODE=openmp META_JIT=load
for file in objects/*; do printf x | dd of="$file" bs=1 seek=3000 conv=notrunc 2>/dev/null; done
refused 'is damaged), and META_JIT=load does not allow' main META_MODE=openmp META_JIT=load

# OpenCL: with the library's own programs. The kernels of a program that was built elsewhere are found too.
if "$build/meta-info" | grep -q '^  opencl  *usable'; then
    did 0 build heat.kernel.h --for opencl,cpu:native -o objects
    found "^libmeta's own kernels, OpenCL device 0, .*: built$"
    found '^doubled f32, OpenCL device 0, .*: built$'
    runs main META_MODE=opencl META_JIT=load
    runs main-DLINKED META_MODE=opencl META_JIT=load
    runs main-DLINKED META_MODE=opencl META_JIT=load META_CHECK=on
    # Settings that need code of their own.
    did 0 build sums.kernel.h --for opencl -o objects
    for setting in '' META_CHECK=on META_REPRODUCIBLE=on 'META_CHECK=on META_REPRODUCIBLE=on'; do
        # shellcheck disable=SC2086
        runs sums META_MODE=opencl META_JIT=load $setting
    done
    rm -r objects
    did 0 build sums.kernel.h --for opencl -o objects --plain
    runs sums META_MODE=opencl META_JIT=load
    refused 'kernel total is not in the cache' sums META_MODE=opencl META_JIT=load META_REPRODUCIBLE=on
    refused 'kernel total is not in the cache' sums META_MODE=opencl META_JIT=load META_CHECK=on
fi
OCL_ICD_VENDORS=$here/none "$build/meta-kernel" build heat.kernel.h --for opencl -o objects >out 2>err
[ $? = 3 ] || broken 'another status than 3 without an OpenCL device'
found '^all kernels, OpenCL: not built: .*no OpenCL platform found.*; build on a machine that has the device'

# GPUs, where there is a compiler: an image of the right kind for each kernel, type and setting.
# image TARGET KIND WORD FILE COUNT OPTION…: COUNT files of KIND, which have WORD in them.
image()
{
    rm -rf objects
    target=$1 kind=$2 word=$3 file=$4 count=$5
    shift 5
    "$build/meta-kernel" build "$file" --for "$target" -o objects "$@" >out 2>err
    got=$?
    what="meta-kernel build $file --for $target $*"
    if [ $got = 3 ] && grep -q 'not built: .* was found.*; install ' out; then return; fi
    [ $got = 0 ] || broken "exit status $got"
    [ "$(ls objects/"$kind"-*.bin | wc -l)" = "$count" ] || broken "$(ls objects | wc -l) files, expected $count"
    for file in objects/"$kind"-*.bin; do
        grep -q meta_user_entry "$file" || broken 'has no entry'
        grep -q "$word" "$file" || broken "is no code with $word"
    done
}
image cuda:sm_90 cuda ELF heat.kernel.h 8
image cuda:sm_90 cuda ELF heat.kernel.h 4 --plain
image cuda:sm_90 cuda ELF sums.kernel.h 8
image hip:gfx90a hip gfx90a heat.kernel.h 4 --plain
image hip:gfx90a hip gfx90a sums.kernel.h 8

# The ready kernels, hundreds of them: NVRTC takes the least time.
if [ "${META_TEST_LONG-}" = 1 ]; then
    rm -rf objects
    what='meta-kernel build --library --for cuda:sm_90'
    "$build/meta-kernel" build --library --for cuda:sm_90 -o objects >out 2>err
    case $? in
    0) for kernel in meta_axpby meta_constant_3d7p meta_csr; do found "^${kernel}.* f64, CUDA for sm_90: built$"; done ;;
    3) found 'not built: .* was found.*; install ' ;;
    *) broken 'fails' ;;
    esac
fi

[ $failed = 0 ] && echo 'kept   what is built ahead of time runs where nothing can be compiled'
exit $failed
