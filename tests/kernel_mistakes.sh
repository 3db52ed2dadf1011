# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the tests of what is said of mistakes in kernel files, which have functions
#
#   mistake LINE TEXT SED [PLAIN [MANY]]
#
# SED makes a mistake of sound.kernel.h, which is written here. meta-kernel says TEXT of it, with its LINE. PLAIN is what
# compilers say first, where that is not of this line; `none` where only the linker does. MANY are those of gcc and g++
# that go on for more than a hundred lines.
# shellcheck disable=SC2016
write_sound_kernels()
{
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
}

mistakes_in_kernels()
{
# In the list.
mistake 3 "'INN' is no kind of parameter" 's/A(IN, T, now/A(INN, T, now/' \
    'parameter A(INN, T, now, STAR(1)) is of no kind'
mistake 3 "'T' is no kind of parameter" 's/A(IN, T, now/A(T, IN, now/' 'parameter A(T, IN, now, STAR(1)) is of no kind'
mistake 5 "'VALUE, T c2' of 2 parts" 's/VALUE, T, c2/VALUE, T c2/' 'parameter A(VALUE, T c2) has no name'
mistake 5 "'SUM, T' of 2 parts" 's/SUM, T, total/SUM, T/' 'parameter A(SUM, T) has no name'
mistake 5 "'c2 SUM' is no name of a parameter: is a comma missing" 's/VALUE, T, c2) A(SUM, T, total/VALUE, T, c2 SUM/' \
    'mistake.kernel.h:[56]:' 'gcc g++'
mistake 3 'array now is IN and has no reach' 's/now, STAR(1)/now/' 'parameter A(IN, T, now) has no reach'
mistake 13 'array hits is ADD and has no reach' 's/hits, CELL/hits/' 'parameter A(ADD, int32_t, hits) has no reach'
mistake 3 "'STARS(1)' of array now is neither a reach" 's/STAR(1)/STARS(1)/' \
    'parameter A(IN, T, now, STARS(1)) has an item that is neither a reach'
mistake 3 "'1' of array now is neither a reach" 's/STAR(1)/1/' \
    'parameter A(IN, T, now, 1) has an item that is neither a reach'
mistake 3 "'STAR' of array now has no numbers" 's/STAR(1)/STAR/' \
    'parameter A(IN, T, now, STAR) has an item that is neither a reach'
mistake 3 "'SIDES(1, 1, 0, 0)' of array now has 4 numbers: SIDES takes 6" 's/STAR(1)/SIDES(1, 1, 0, 0)/' \
    'parameter A(IN, T, now, SIDES(1, 1, 0, 0)) has an item with the wrong number of numbers'
mistake 3 "'SIDES1(-1, 1)' of array now has a negative number" 's/STAR(1)/SIDES1(-1, 1)/' \
    'the reach of now has a number that is not'
mistake 3 "older is INOUT.* no reach 'STAR(1)'" 's/INOUT, T, older/INOUT, T, older, STAR(1)/' \
    'parameter A(INOUT, T, older, STAR(1)) has a reach'
mistake 13 "y is OUT.*leave 'CELL' out" 's/OUT, T, y/OUT, T, y, CELL/' 'parameter A(OUT, T, y, CELL) has a reach'
mistake 3 "',' between two parameters" 's/older) A/older), A/' \
    'wave_ARGS: this list of parameters is missing or has a mistake\|mistake.kernel.h:[36]:.* expected identifier'
mistake 5 "the type of c2 is 'T \*', a pointer" 's/VALUE, T, c2/VALUE, T *, c2/' 'the type of c2 is a pointer'
mistake 3 "the type of now is 'const T \*', a pointer" 's/IN, T, now/IN, const T *, now/' 'the type of now is a pointer'
mistake 4 'two parameters are called now' 's/mask, CELL/now, CELL/' now 'gcc g++'
mistake 5 'SUM total has an item behind its name' 's/SUM, T, total/SUM, T, total, CELL/' \
    'parameter A(SUM, T, total, CELL) has an item behind its name'
mistake 13 'SHARED part has no number of elements' 's/part, 64/part/' \
    'parameter A(SHARED, T, part) has no number of elements'
mistake 3 "'Real' undeclared" 's/IN, T, now/IN, Real, now/' '.Real.' g++
mistake 5 "'VALU' is no kind of parameter" 's/VALUE, T, c2/VALU, T, c2/' 'parameter A(VALU, T, c2) is of no kind'
mistake 5 "'rates' undeclared" 's/VALUE, T, c2/VALUE, rates, c2/' '.rates.' g++
mistake 14 'A(SHARED, T, part, 64) is for kernels that META_TEAMS begins' 's/META_TEAMS(sums, 64, 1, 1)/META_CELLS(sums)/' \
    'parameter A(SHARED, T, part, 64) is for kernels that META_TEAMS begins'
# In what goes with it.
mistake 14 'META_TEAMS' 's/META_TEAMS(sums, 64, 1, 1)/META_TEAMS(sums, 64, 1)/' \
    'META_TEAMS(name, x, y, z) has three extents'
mistake 6 'kernel wave has no list of parameters: #define wave_ARGS(A) is missing' 's/wave_ARGS/waves_ARGS/' \
    'wave_ARGS: this list of parameters is missing or has a mistake'
mistake 6 "'META_CELL' begins no kernel" 's/META_CELLS/META_CELL/' 'META_CELL begins no kernel'
mistake 6 'its last line, #include META_AGAIN, is missing' 's/#include META_AGAIN//' none
mistake 6 'does not begin with #include <meta_kernel.h>' 's/#include <meta_kernel.h>//' 'mistake.kernel.h:\(6\|23\):'
# In the body.
mistake 8 "'noww' undeclared" 's/AT(now, -1/AT(noww, -1/' '' g++
mistake 9 "'cc2' undeclared" 's/= c2/= cc2/'
mistake 8 'AT() of now at (-2, 0, 0, 0), beyond the reach' 's/AT(now, -1/AT(now, -2/' 'AT() of .*beyond the reach'
mistake 8 'macro "AT" requires 4 arguments, but only 3 given' 's/AT(now, -1, 0, 0)/AT(now, -1, 0)/'
mistake 9 'GET() of mask, which is IN: use AT() or ON()' 's/ON(mask))/GET(mask, 0))/' 'GET() of .*not WHOLE'
mistake 9 'ON() of table, which is IN with WHOLE' 's/GET(table, ON(mask))/ON(table)/' 'AT() of .*beyond the reach'
mistake 9 'ON() of c2, which is VALUE' 's/= c2/= ON(c2)/' '' g++
mistake 10 'ON() of now, which is IN: what is written is OUT or INOUT' 's/ADD(total, change)/ON(now) = change/'
mistake 20 'ON() of hits, which is ADD: its elements are added to by ADD_TO()' 's/ADD_TO(ON(hits), 1)/ON(hits) += 1/'
mistake 16 'ON() of part, which is SHARED: use SHARED()' 's/{ SHARED(part, MY(0)) = ON(x); }/{ ON(part) = ON(x); }/' \
    '' g++
mistake 10 'ADD() of height, which is MAX: write RAISE()' 's/ADD(total/ADD(height/'
mistake 11 'RAISE() of older, which is INOUT' 's/RAISE(height/RAISE(older/'
mistake 9 "expected ',' or ';' before" 's/ON(now);/ON(now)/' 'mistake.kernel.h:[89]:' gcc
mistake 9 "function 'SQRTT'" 's/c2 \* change/SQRTT(change)/'
mistake 10 "read-only parameter 'c2'" 's/ADD(total, change)/c2 = change/'
mistake 9 'the parenthesis here is not closed' 's/ON(mask));/ON(mask);/' \
    'a body before this leaves a parenthesis open\|macro invocation\|within macro arguments'
mistake 7 'the body that begins here is not closed' 's/RAISE(height/if (change > 0) { RAISE(height/' \
    'mistake.kernel.h:14:'
mistake 8 "expected" 's/T change = /T change == /'
mistake 10 "expected\|called object" 's/ADD(total, change);/ADD(total, change)/' 'mistake.kernel.h:1[01]:'
mistake 9 'macro "GET" requires 2 arguments' 's/GET(table, ON(mask))/GET(table)/'
mistake 9 "expected ';'" 's/c2 \* change/c2 change/'
mistake 8 "unknown type name 'Real'" 's/const T/const Real/'
mistake 16 "meta_i" 's/MEMBERS { SHARED/{ SHARED/' '' 'gcc g++'
}
