#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kernels are fast whatever the program's flags are: gcc and g++ vectorize them, square roots too, from -O0 on, and clang
# from -O1 on; where they were not optimized, one warning names them. The bits are the same in all cases.
# TEST: labels=core,kernel,build
. "$META_TEST_SRCDIR/tests/programs.sh"
src=$META_TEST_SRCDIR
case $src in /*) ;; *) src=$(cd "$build" && cd "$src" && pwd) ;; esac
export META_MODE META_LOG=warn
unset META_CPU META_LOG_FILE
strict='-Wall -Wextra -Wshadow -Wconversion -Wredundant-decls -Wmissing-noreturn -Wpedantic -Werror'
libraries="-L$build/.libs -lmeta -lm -Wl,-rpath,$build/.libs"
ran=0

cat >root.kernel.h <<'END'
#include <meta_kernel.h>
#define root_ARGS(A) A(OUT, T, y) A(IN, T, x, CELL)
META_CELLS(root)
{
    ON(y) = SQRT(ON(x));
}
/* Contraction would change these. */
#define length_ARGS(A) A(INOUT, T, y) A(IN, T, x, STAR(1)) A(MAX, T, most)
META_CELLS(length)
{
    const T along = AT1(x, 1) - AT1(x, -1);
    ON(y) = SQRT(ON(y) * ON(y) + along * along);
    RAISE(most, ABS(along) - ON(x) * ON(x));
}
/* Told to vectorize this, clang 16 and later read elsewhere in some cells. */
#define quotient_ARGS(A) A(OUT, T, y) A(IN, T, x, WHOLE) A(VALUE, uint32_t, a) A(VALUE, uint32_t, b)
META_CELLS(quotient)
{
    T found = 0;
    if (INDEX(0) % 3 == 1) found = GET(x, a / b);
    ON(y) = found;
}
/* Told that its cells depend on nothing, clang may have one array for several cells of such a loop. */
#define window_ARGS(A) A(OUT, T, y) A(IN, T, x, CELL) A(VALUE, uint32_t, a)
META_CELLS(window)
{
    T w[8], found = 0;
    for (int k = 0; k < 8; ++k) w[k] = ON(x) * (T)(k + 1);
    if (INDEX(0) % 3 == 1) found = w[a % 8];
    ON(y) = found + 100 * w[(a + 3) % 8];
}
#include META_AGAIN
END
# Two files, one of which only calls a kernel; and <math.h> has been used before the kernel file.
cat >main.c <<'END'
#include <math.h>
#include <stdio.h>
#include <string.h>
double before(double x);
double before(double x) { return sqrt(x); }
#define META_KERNELS_HERE
#include "root.kernel.h"
#define TRY(call) if (call) return fprintf(stderr, "%s\n", meta_last_error()), 1
enum { N = 1000 };
int called_elsewhere(const meta_box *box, double *y, const double *x);
static void print(const void *bytes, size_t count)
{
    unsigned char byte[N * 8];
    unsigned long long hash = 14695981039346656037ull;
    memcpy(byte, bytes, count);
    for (size_t k = 0; k < count; ++k) hash = (hash ^ byte[k]) * 1099511628211ull;
    printf("%016llx\n", hash);
}
#define ALL(T, suffix, type)                                                                                   \
    do {                                                                                                       \
        T in[N], out[N], most = 0;                                                                             \
        void *x, *y;                                                                                           \
        for (int k = 0; k < N; ++k) in[k] = (T)(k * 37 % 1009) / (T)7 - (T)0.25;                               \
        in[1] = (T)-0.0, in[2] = (T)-1, in[3] = (T)INFINITY, in[4] = (T)1e-45, in[5] = (T)1e-310, in[6] = 2;   \
        TRY(meta_alloc(&x, sizeof in));                                                                        \
        TRY(meta_alloc(&y, sizeof in));                                                                        \
        TRY(meta_copy_h2d(x, in, sizeof in, NULL));                                                            \
        TRY(root_##suffix(&all, (T *)y, (const T *)x, NULL));                                                  \
        TRY(meta_copy_d2h(out, y, sizeof out, NULL));                                                          \
        print(out, sizeof out);                                                                                \
        TRY(length_##suffix(&inner, (T *)y, (const T *)x, &most, NULL));                                       \
        TRY(meta_copy_d2h(out, y, sizeof out, NULL));                                                          \
        print(out, sizeof out);                                                                                \
        print(&most, sizeof most);                                                                             \
        TRY(quotient_##suffix(&all, (T *)y, (const T *)x, 30, 7, NULL));                                       \
        TRY(meta_copy_d2h(out, y, sizeof out, NULL));                                                          \
        print(out, sizeof out);                                                                                \
        TRY(window_##suffix(&all, (T *)y, (const T *)x, 3, NULL));                                             \
        TRY(meta_copy_d2h(out, y, sizeof out, NULL));                                                          \
        print(out, sizeof out);                                                                                \
        TRY(meta_free(x));                                                                                     \
        TRY(meta_free(y));                                                                                     \
    } while (0)
int main(void)
{
    const meta_box all = {1, {N}, {0}, {N}}, inner = {1, {N}, {10}, {N - 1}};
    TRY(meta_init());
    ALL(double, f64, META_F64);
    ALL(float, f32, META_F32);
    double x[2] = {9, 4};
    void *at;
    TRY(meta_alloc(&at, sizeof x));
    TRY(meta_copy_h2d(at, x, sizeof x, NULL));
    const meta_box two = {1, {1}, {0}, {1}};
    TRY(called_elsewhere(&two, (double *)at + 1, (double *)at));
    TRY(meta_copy_d2h(x, at, sizeof x, NULL));
    TRY(meta_free(at));
    printf("%g %g\n", x[1], before(x[0]));
    return meta_finalize() != META_OK;
}
END
cat >call.c <<'END'
#include "root.kernel.h"
int called_elsewhere(const meta_box *box, double *y, const double *x);
int called_elsewhere(const meta_box *box, double *y, const double *x) { return (int)root_f64(box, y, x, NULL); }
END

# builds 'COMPILER FLAGS' [LINK FLAGS]
builds()
{
    what=$1
    # shellcheck disable=SC2086
    if $1 $strict -I"$src/core" -I"$src/kernels" main.c call.c ${2-} -o program $libraries >out 2>err; then return 0; fi
    broken 'does not compile without a warning'
    return 1
}

# runs [WARNED]: with the bits of the first program, and a warning if it is to have one.
runs()
{
    META_MODE=openmp
    if ! ./program >out 2>err; then broken 'does not run'; return; fi
    ran=$((ran + 1))
    if [ -e bits ]; then cmp -s out bits || broken "other bits than with $first"
    else cp out bits; first=$what; fi
    tail -n 1 out | grep -q -x '3 3' || broken 'does not print 3 3'
    if [ "${1-}" ]; then
        [ "$(grep -c '' err)" = 1 ] && grep -q 'warning: kernels compiled without optimization.*: root, length, quotient, window;.* -O2$' err ||
            broken 'has not the one warning that names its kernels'
        META_LOG=off ./program >/dev/null 2>err && [ ! -s err ] || broken 'warns with META_LOG=off'
    else
        [ ! -s err ] || broken 'has messages on standard error'
    fi
}

# Of each variant and type, in 64-bit and 32-bit elements: the packed instruction, and no call of the function.
case $(uname -m) in
x86_64) variants='0 1 2' ;;
*) variants= ;;
esac
if [ -n "$variants" ] && ! command -v objdump >/dev/null; then
    [ -z "${META_TEST_REQUIRE_TOOLS-}" ] || { echo 'BROKEN: there is no objdump here (Debian: binutils)'; exit 1; }
    variants=
fi
[ -n "$variants" ] || echo 'skipped square_roots_are_packed_instructions: it reads code of x86-64, by objdump'

# packed VARIANT TYPE: the code of that variant has one.
packed()
{
    case $1 in 0) register='[xyz]mm' ;; *) register='[yz]mm' ;; esac
    case $2 in f64) suffix=pd ;; *) suffix=ps ;; esac
    objdump -d -C --no-show-raw-insn program |
        awk -v name="<root_rows_${2}_$1" '/^[0-9a-f]+ </ { inside = index($2, name) == 1 } inside' >code
    [ -s code ] || broken "has no root_rows_${2}_$1"
    grep -q "sqrt$suffix.*$register" code
}

# Variants for the processor that the compiler was told of are the same code. For SSE2 clang expects a packed square
# root to take as long as two others, and uses it from -O2 on.
vectorizes()
{
    case $what in
    *-march=*) tried=${variants%% *} ;;
    *clang*-O[1gs]*) tried=${variants#* } ;;
    *) tried=$variants ;;
    esac
    for variant in $tried; do
        for type in f64 f32; do
            packed "$variant" $type || broken "root_rows_${type}_$variant has no packed square root"
        done
    done
    if [ -n "$variants" ] && grep -q 'call.*sqrt' code; then broken 'calls sqrt()'; fi
}

# fast 'COMPILER FLAGS' [LINK FLAGS]
fast() { ! builds "$@" || { runs; vectorizes; }; }
# slow 'COMPILER FLAGS': the warning is right, and what looks for packed instructions finds none.
slow()
{
    builds "$@" || return
    runs warned
    for variant in $variants; do
        if packed "$variant" f64; then broken "root_rows_f64_$variant is vectorized"; fi
    done
}

# each COMMAND 'FLAGS' …: all of them with META_TEST_LONG=1, else those before `--`.
each()
{
    command=$1
    shift
    for flags; do
        if [ "$flags" = -- ]; then
            [ "${META_TEST_LONG-}" = 1 ] || return 0
            continue
        fi
        # A newer clang says that after `-x none` there come only libraries.
        case $command in clang++) command="$command -Wno-unused-command-line-argument" ;; esac
        case $command in *++*) fast "$command -x c++ $flags" '-x none' ;; *) fast "$command $flags" ;; esac
    done
}

slow 'gcc -O0 -DMETA_KERNEL_PROGRAM_LEVEL'
each gcc -O0 '-O2 -march=native' -- -Og -O1 -O2 -O3 -Os '-O0 -march=native' '-O2 -ffp-contract=fast' '-O2 -flto=auto' \
    '-O0 -g' '-O2 -D_FORTIFY_SOURCE=2' '-O2 -fno-inline' '-O2 -frounding-math' '-O0 -std=c11'
each g++ -O0 -- -Og -O2 -O3 -Os '-std=c++11 -O2 -march=native' '-O2 -flto=auto' '-O0 -std=c++20'
if command -v clang >/dev/null; then
    slow 'clang -O0'
    each clang -O2 -- -O1 -Og -O3 -Os '-O3 -march=native' '-O2 -D_FORTIFY_SOURCE=2'
fi
if command -v clang++ >/dev/null; then
    [ "${META_TEST_LONG-}" != 1 ] || slow 'clang++ -x c++ -O0' '-x none'
    each clang++ -O1 -- -O2 -Os '-std=c++11 -O3 -march=native'
fi
# Other devices compile from the text, where the program's level does not matter.
if builds 'gcc -O0 -DMETA_KERNEL_PROGRAM_LEVEL' && "$build/meta-info" | grep -q '^  opencl  *usable'; then
    META_MODE=opencl ./program >out 2>err || broken 'does not run on opencl'
    [ ! -s err ] || broken 'warns on opencl'
fi

[ $failed = 0 ] && echo "kept   $ran programs with the same bits"
exit $failed
