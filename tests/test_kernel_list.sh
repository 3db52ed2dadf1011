#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-info --kernels lists the kernels of shared objects, and says which file it cannot open.
# TEST: labels=tools
. "$META_TEST_SRCDIR/tests/programs.sh"
top=$META_TEST_SRCDIR

cat >two.kernel.h <<'END'
#include <meta_kernel.h>
#ifndef RATES
#define RATES
typedef struct rates { double grow, decay; } rates;
#endif
#define blur_ARGS(A) A(OUT, T, out) A(IN, T, in, BOX(1)) A(IN, uint32_t, mask, CELL) A(SUM, T, all)
META_CELLS(blur)
{
    AT(out, 0, 0, 0) = AT(mask, 0, 0, 0) ? AT(in, -1, 0, 0) : AT(in, 0, 0, 0);
    ADD(all, AT(out, 0, 0, 0));
}
#define grow_ARGS(A)                                                                               \
    A(INOUT, T, field) A(VALUE, rates, rate) A(IN, T, side, SIDES(2, 0, 0, 1, 0, 0))               \
    A(IN, T, table, WHOLE) A(IN, T, depth, CELL, PLANE(2), GROWN(0, -1, 0)) A(MIN, T, least) A(MAX, int64_t, most)
META_CELLS(grow)
{
    AT(field, 0, 0, 0) += (T)(rate.grow - rate.decay) * AT(side, -2, 0, 0) + GET(table, 3);
    LOWER(least, AT(field, 0, 0, 0));
    RAISE(most, INDEX(0));
}
#define pour_ARGS(A)                                                                               \
    A(ADD, T, into, SIDES(0, 1, 0, 0, 0, 0)) A(ADD, uint32_t, drops, CELL) A(INOUT, T, any, WHOLE)     \
    A(SCALAR, T, share) A(MIN_AT, T, low) A(MAX_AT, int32_t, high)
META_CELLS(pour)
{
    LOWER(low, share);
    RAISE(high, 1);
    ADD_TO(AT(into, 1, 0, 0), share * GET(any, 2));
    ADD_TO(AT(drops, 0, 0, 0), 1);
}
#define blocks_ARGS(A) A(OUT, T, out) A(SHARED, T, tile, 2 * 8) A(SHARED, double, more, 3) A(VALUE, T, k)
META_TEAMS(blocks, 8, 2, 1)
{
    MEMBERS { SHARED(tile, MY(0) + 8 * MY(1)) = k; }
    MEMBERS { AT(out, 0, 0, 0) = SHARED(tile, MY(0) + 8 * MY(1)); }
}
#include META_AGAIN
END
printf '#define META_KERNELS_HERE\n#include "two.kernel.h"\n' >two.c
cc=$(sed -n 's/^CC = //p' "$build/Makefile")
sanitize=
[ "${META_TEST_SANITIZE-no}" != yes ] || sanitize='-fsanitize=address,undefined'
# shellcheck disable=SC2086
$cc -std=c11 -O1 -Wall -Wextra -Werror $sanitize -fPIC -shared -I"$top/core" -I"$top/kernels" two.c -o two.so \
    -L"$build/.libs" -lmeta || exit 1

what='meta-info --kernels'
"$build/meta-info" --kernels two.so >out 2>err || broken 'fails'
{
    echo 'two.so: 8 kernels'
    for kernel in 'blur f64' 'grow f64' 'pour f64' 'blocks f64' 'blur f32' 'grow f32' 'pour f32' 'blocks f32'; do
        teams=
        case $kernel in blocks*) teams=', teams of 8 x 2 x 1' ;; esac
        echo "  $kernel, two.kernel.h$teams"
        case $kernel in
        blur*) printf '    %s\n' 'OUT    T out' 'IN     T in, BOX(1)' 'IN     uint32_t mask, CELL' \
            'SUM    T all' ;;
        grow*) printf '    %s\n' 'INOUT  T field' 'VALUE  rates rate' \
            'IN     T side, SIDES(2, 0, 0, 1, 0, 0)' 'IN     T table, WHOLE' \
            'IN     T depth, CELL, PLANE(2), GROWN(0, -1, 0)' 'MIN    T least' \
            'MAX    int64_t most' ;;
        blocks*) printf '    %s\n' 'OUT    T out' 'SHARED T tile, 16' 'SHARED double more, 3' 'VALUE  T k' ;;
        *) printf '    %s\n' 'ADD    T into, SIDES(0, 1, 0, 0, 0, 0)' 'ADD    uint32_t drops, CELL' \
            'INOUT  T any, WHOLE' 'SCALAR T share' 'MIN_AT T low' 'MAX_AT int32_t high' ;;
        esac
    done
} >expected
LC_ALL=C sort expected >expected.sorted
LC_ALL=C sort out | diff - expected.sorted || broken 'the list is not complete'
"$build/meta-info" --kernels --json two.so >out 2>err || broken 'fails with --json'
[ "$(grep -c '"name": "grow"' out)" = 2 ] || broken 'the document does not name each kernel'
grep -q '"reach": "SIDES(2, 0, 0, 1, 0, 0)"' out || broken 'the document does not say the reach'
tr -d '\n ' <out | grep -q '"team":\[8,2,1\],"shared":\[{"type":"T","name":"tile","count":16}' ||
    broken 'the document does not say the teams'
grep -q '"shape": "PLANE(2), GROWN(0, -1, 0)"' out || broken 'the document does not say the shape'

"$build/meta-info" --kernels nowhere.so >out 2>err && broken 'opens a file that does not exist'
grep -q '^meta-info: .*nowhere.so' err || broken 'does not name the file'
"$build/meta-info" --kernels >out 2>err && broken 'takes no file for a file'
grep -q 'no shared object' err || broken 'does not ask for a file'

[ $failed = 0 ] && echo 'kernels of shared objects are listed'
exit $failed
