#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-kernel check tells of each kernel whether the loop over its cells is vectorized, and why not: as the assembly of
# the same kernels in a program has it, with gcc and clang. No other compiler is asked, and no file with a mistake.
# TEST: labels=tools
. "$META_TEST_SRCDIR/tests/programs.sh"
. "$META_TEST_SRCDIR/tests/compilers.sh"
META_CACHE_DIR=$here/cache META_MODE=openmp
export META_CACHE_DIR META_MODE
src=$META_TEST_SRCDIR
case $src in /*) ;; *) src=$(cd "$build" && cd "$src" && pwd) ;; esac
cat >loops.kernel.h <<'END_OF_KERNELS'
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>
#define plain_ARGS(A) A(OUT, T, next) A(IN, T, now, STAR(1)) A(VALUE, T, k)
META_CELLS(plain)
{
    ON(next) = ON(now) * k + AT1(now, 1) * k;
}
#define total_ARGS(A) A(IN, T, x, CELL) A(VALUE, T, k) A(SUM, T, sum)
META_CELLS(total)
{
    ADD(sum, ON(x) * k);
}
#define gather_ARGS(A) A(OUT, T, to) A(IN, T, from, WHOLE) A(IN, int32_t, n, CELL) A(VALUE, T, k)
META_CELLS(gather)
{
    ON(to) = GET(from, ON(n)) * k;
}
/* Only the loop over the lanes of its sum can become vectors. */
#define steps_ARGS(A) A(IN, T, x, CELL) A(VALUE, T, k) A(SUM, T, sum)
META_CELLS(steps)
{
    T y = ON(x);
    while (y > 7)
        y = y * k;
    ADD(sum, y);
}
#define growth_ARGS(A) A(OUT, T, x) A(IN, double, y, CELL)
META_CELLS(growth)
{
    ON(x) =
        (T)exp(ON(y));
}
#define zero_ARGS(A) A(OUT, T, x)
META_CELLS(zero)
{
    ON(x) = 0;
}
#define deposit_ARGS(A) A(ADD, double, x, STAR(1)) A(IN, T, y, CELL)
META_CELLS(deposit)
{
    ADD_TO(AT1(x, 1), ON(y));
}
#define coldest_ARGS(A) A(IN, T, x, CELL) A(VALUE, T, k) A(MIN_AT, T, least)
META_CELLS(coldest)
{
    LOWER(least, ON(x) * k);
}
#define copies_ARGS(A) A(INOUT, T, x) A(IN, T, y, CELL) A(SHARED, T, part, 64)
META_TEAMS(copies, 64, 1, 1)
{
    MEMBERS { SHARED(part, MY(0)) = ON(y); }
    MEMBERS { ON(x) = SHARED(part, MY(0)); }
}
#include META_AGAIN
END_OF_KERNELS
printf '#define META_KERNELS_HERE\n#include "loops.kernel.h"\n' >loops.c
case $(uname -m) in
x86_64) sets='AVX2, AVX-512' ;;
aarch64) sets='SVE' ;;
*) sets= ;;
esac

# check COMPILER STATUS FILE
check()
{
    what="META_CC=$1 meta-kernel check $3"
    META_CC=$1 "$build/meta-kernel" check "$3" --for c >out 2>err </dev/null
    got=$?
    [ $got = "$2" ] || broken "exit status $got, expected $2"
}
found() { grep -qx -e "$1" out || broken "does not print: $1"; }
# Products of vectors in a function.
products() { sed -n "/^$1:/,/\\.size[[:blank:]]*$1,/p" loops.s | grep -c 'vmulp[ds]\|vpmulld'; }

types='f64, f32, i32'
for compiler in gcc clang; do
    compiler_is_here $compiler meta_kernel_reports_vectors_of_$compiler || continue
    check $compiler 0 loops.kernel.h
    found "loops.kernel.h, C11, .*$compiler: ok"
    [ -n "$sets" ] || continue
    for kernel in plain total gather; do
        grep "^$kernel $types: vectorized for .*$sets\$" out >line || broken "does not say that $kernel is vectorized"
        [ "$(grep -c "^$kernel .*vectorized" out)" = 1 ] || broken "several lines on $kernel"
    done
    grep -q "^coldest .*: vectorized for .*$sets\$" out || broken 'does not say that coldest is vectorized'
    found "steps $types: not vectorized for the target, $sets: a loop in the body (line 2[34])"
    grep -q "^growth $types: not vectorized for the target, $sets: .*call.* (line 31)\$" out ||
        broken 'does not say why growth is not vectorized'
    found "zero $types: no loop is left (memset or memcpy) for the target, $sets"
    found "deposit $types: not vectorized for the target, $sets: additions to an ADD array are atomic near other .*"
    ! grep -q '^copies .*vectorized' out || broken 'reports on a kernel of teams'
    # What programs have is the same.
    [ "$(uname -m)" = x86_64 ] || continue
    what="code for AVX-512 by $compiler"
    $compiler -O2 -S -I"$src/core" -I"$src/kernels" loops.c -o loops.s >out 2>err || broken 'is not compiled'
    for type in f64 f32 i32; do
        for kernel in plain total gather; do
            [ "$(products ${kernel}_rows_${type}_2)" != 0 ] || broken "has no vectors in $kernel $type"
        done
        [ "$(products steps_rows_${type}_2)" = 0 ] || broken "has vectors in steps $type"
    done
done

# Of a file with a mistake, only that is said.
sed 's/AT1(now, 1)/AT1(then, 1)/' loops.kernel.h >wrong.kernel.h
check "${CC:-cc}" 1 wrong.kernel.h
! grep -q 'vector' out || broken 'reports on a file with a mistake'
# A compiler that is neither of the two, or hides it.
printf '#include <meta_kernel.h>\n#define one_ARGS(A) A(OUT, T, x)\nMETA_CELLS(one) { ON(x) = 1; }\n#include META_AGAIN\n' \
    >one.kernel.h
cat >other <<END
#!/bin/sh
for argument; do
    shift
    case \$argument in -fdump* | -fsave* | -foptimization*) ;; *) set -- "\$@" "\$argument" ;; esac
done
exec ${CC:-cc} "\$@"
END
chmod +x other
check "$here/other" 0 one.kernel.h
grep -q '^one.kernel.h: no report on vectors: .*other says nothing of loops' out || broken 'does not say that there is none'
[ "$(grep -c vector out)" = 1 ] || broken 'reports all the same'

[ $failed = 0 ] && echo 'kept   meta-kernel reports which loops become vectors'
exit $failed
