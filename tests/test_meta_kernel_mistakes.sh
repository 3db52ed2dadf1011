#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Of a typical mistake in a kernel file, meta-kernel check and meta-kernel embed say at most ten lines, of which the
# first that matters has the file, the line and the cause; embed then writes nothing.
# TEST: labels=tools
. "$META_TEST_SRCDIR/tests/programs.sh"
tried=0

cat >sound.kernel.h <<'END'
#include <meta_kernel.h>
#define wave_ARGS(A)                                  \
    A(INOUT, T, older) A(IN, T, now, STAR(1))         \
    A(IN, int32_t, mask, CELL) A(IN, T, table, WHOLE) \
    A(VALUE, T, c2) A(SUM, T, total) A(MAX, T, height)
META_CELLS(wave)
{
    const T change = AT(now, -1, 0, 0) + AT(now, 1, 0, 0) - 2 * ON(now);
    ON(older) = c2 * change + GET(table, ON(mask));
    ADD(total, change);
    RAISE(height, ON(older));
}
#define sums_ARGS(A) A(IN, T, x, CELL) A(OUT, T, y) A(ADD, int32_t, hits, CELL) A(SHARED, T, part, 64)
META_TEAMS(sums, 64, 1, 1)
{
    MEMBERS { SHARED(part, MY(0)) = ON(x); }
    MEMBERS
    {
        ON(y) = SHARED(part, EXTENT(0) - 1 - MY(0));
        ADD_TO(ON(hits), 1);
    }
}
#include META_AGAIN
END

# said FILE TEXT: a file has at most ten lines, and one of the first two is TEXT, a pattern behind the file and line.
said()
{
    [ "$(wc -l <"$1")" -le 10 ] || { broken "$(wc -l <"$1") lines are too many"; return; }
    head -n 2 "$1" | grep -q "mistake.kernel.h:$2" || broken "the first lines do not have mistake.kernel.h:$2"
}
# mistake LINE TEXT SED: the file with what SED makes of it.
mistake()
{
    tried=$((tried + 1))
    sed "$3" sound.kernel.h >mistake.kernel.h
    what="meta-kernel check after $3"
    "$build/meta-kernel" check mistake.kernel.h --for c,c++ >out 2>err </dev/null
    [ $? = 1 ] || broken 'has not refused the file'
    said out "$1:.*$2"
    what="meta-kernel embed after $3"
    rm -f written.c
    "$build/meta-kernel" embed mistake.kernel.h -o written.c >out 2>err </dev/null
    [ $? = 1 ] || broken 'has not refused the file'
    said err "$1:.*$2"
    [ ! -e written.c ] || broken 'has written a file'
}

what='meta-kernel check of a sound file'
"$build/meta-kernel" check sound.kernel.h --for c,c++ >out 2>err || broken 'refuses it'
what='meta-kernel embed of a sound file'
"$build/meta-kernel" embed sound.kernel.h -o written.c >out 2>err || broken 'refuses it'

# In the list.
mistake 3 "'INN' is no kind of parameter" 's/A(IN, T, now/A(INN, T, now/'
mistake 3 "'T' is no kind of parameter" 's/A(IN, T, now/A(T, IN, now/'
mistake 5 "'VALUE, T c2' of 2 parts" 's/VALUE, T, c2/VALUE, T c2/'
mistake 5 "'SUM, T' of 2 parts" 's/SUM, T, total/SUM, T/'
mistake 5 "'c2 SUM' is no name of a parameter: is a comma missing" 's/VALUE, T, c2) A(SUM, T, total/VALUE, T, c2 SUM/'
mistake 3 'array now is IN and has no reach' 's/now, STAR(1)/now/'
mistake 13 'array hits is ADD and has no reach' 's/hits, CELL/hits/'
mistake 3 "'STARS(1)' of array now is neither a reach" 's/STAR(1)/STARS(1)/'
mistake 3 "'1' of array now is neither a reach" 's/STAR(1)/1/'
mistake 3 "'STAR' of array now has no numbers" 's/STAR(1)/STAR/'
mistake 3 "'SIDES(1, 1, 0, 0)' of array now has 4 numbers: SIDES takes 6" 's/STAR(1)/SIDES(1, 1, 0, 0)/'
mistake 3 "'SIDES1(-1, 1)' of array now has a negative number" 's/STAR(1)/SIDES1(-1, 1)/'
mistake 3 "older is INOUT.* no reach 'STAR(1)'" 's/INOUT, T, older/INOUT, T, older, STAR(1)/'
mistake 13 "y is OUT.*leave 'CELL' out" 's/OUT, T, y/OUT, T, y, CELL/'
mistake 3 "',' between two parameters" 's/older) A/older), A/'
mistake 5 "the type of c2 is 'T \*', a pointer" 's/VALUE, T, c2/VALUE, T *, c2/'
mistake 3 "the type of now is 'const T \*', a pointer" 's/IN, T, now/IN, const T *, now/'
mistake 4 'two parameters are called now' 's/mask, CELL/now, CELL/'
mistake 5 'SUM total has an item behind its name' 's/SUM, T, total/SUM, T, total, CELL/'
mistake 13 'SHARED part has no number of elements' 's/part, 64/part/'
mistake 3 "unknown type name 'Real'" 's/IN, T, now/IN, Real, now/'
# In what goes with it.
mistake 6 'kernel wave has no list of parameters: #define wave_ARGS(A) is missing' 's/wave_ARGS/waves_ARGS/'
mistake 6 "'META_CELL' begins no kernel" 's/META_CELLS/META_CELL/'
mistake 6 'its last line, #include META_AGAIN, is missing' 's/#include META_AGAIN//'
mistake 6 'does not begin with #include <meta_kernel.h>' 's/#include <meta_kernel.h>//'
# In the body.
mistake 8 "'noww' undeclared" 's/AT(now, -1/AT(noww, -1/'
mistake 9 "'cc2' undeclared" 's/= c2/= cc2/'
mistake 8 'AT() of now at (-2, 0, 0, 0), beyond the reach' 's/AT(now, -1/AT(now, -2/'
mistake 8 'macro "AT" requires 4 arguments, but only 3 given' 's/AT(now, -1, 0, 0)/AT(now, -1, 0)/'
mistake 9 'GET() of mask, which is IN: use AT() or ON()' 's/ON(mask))/GET(mask, 0))/'
mistake 9 'ON() of table, which is IN with WHOLE' 's/GET(table, ON(mask))/ON(table)/'
mistake 9 'ON() of c2, which is VALUE' 's/= c2/= ON(c2)/'
mistake 10 'ON() of now, which is IN: what is written is OUT or INOUT' 's/ADD(total, change)/ON(now) = change/'
mistake 20 'ON() of hits, which is ADD: its elements are added to by ADD_TO()' 's/ADD_TO(ON(hits), 1)/ON(hits) += 1/'
mistake 16 'ON() of part, which is SHARED: use SHARED()' 's/{ SHARED(part, MY(0)) = ON(x); }/{ ON(part) = ON(x); }/'
mistake 10 'ADD() of height, which is MAX: write RAISE()' 's/ADD(total/ADD(height/'
mistake 11 'RAISE() of older, which is INOUT' 's/RAISE(height/RAISE(older/'
mistake 9 "expected ',' or ';' before" 's/ON(now);/ON(now)/'
mistake 9 "function 'SQRTT'" 's/c2 \* change/SQRTT(change)/'
mistake 10 "read-only parameter 'c2'" 's/ADD(total, change)/c2 = change/'
mistake 9 'the parenthesis here is not closed' 's/ON(mask));/ON(mask);/'
mistake 7 'the body that begins here is not closed' 's/RAISE(height/if (change > 0) { RAISE(height/'

# Words that stand for others are the file's own affair.
cat >sound.kernel.h <<'END'
#include <meta_kernel.h>
#define NEAR   STAR(1)
#define ONE(A) A(IN, T, from, NEAR)
#define copy_ARGS(A) ONE(A) A(OUT, T, to) A(SUM, int64_t, cells)
#if 0
#define other_ARGS(A) A(INN, T, from)
#endif
#ifdef COPY_ALL
#define all_ARGS(A) A(IN, T, from, WHOLE) A(OUT, T, to)
#else
#define all_ARGS(A) A(IN, T, from, CELL) A(OUT, T, to)
#endif
META_CELLS(all) { ON(to) = ON(from); }
META_CELLS(copy)
{
#ifdef COPY_NOTHING
    if (ON(from) > 0) {
#else
    {
#endif
        ON(to) = AT(from, 1, 0, 0) == 0 ? 1 : ON(from);
    }
    ADD(cells, 1);
}
#include META_AGAIN
END
what='meta-kernel check of a file with macros of its own'
"$build/meta-kernel" check sound.kernel.h --for c >out 2>err || broken 'refuses it'

# A program for CPUs alone may have headers of its own.
echo 'typedef double number;' >number.h
sed '1a #include "number.h"' sound.kernel.h >own.kernel.h
what='meta-kernel embed of a file with a header of its own'
"$build/meta-kernel" embed own.kernel.h -o written.c >out 2>err || broken 'refuses it'

# All of it, for those who want that.
printf '#include <meta_kernel.h>\n#define f_ARGS(A) A(INOUT, T, x)\nMETA_CELLS(f) { ON(x) = nothing; }\n#include META_AGAIN\n' \
    >mistake.kernel.h
what='meta-kernel check --verbose'
"$build/meta-kernel" check mistake.kernel.h --for c --verbose >out 2>err
[ "$(grep -c "error: 'nothing' undeclared" out)" -gt 3 ] || broken 'does not have all that the compiler says'
[ $failed = 0 ] && echo "kept   $tried mistakes are said in ten lines, with file, line and cause"
exit $failed
