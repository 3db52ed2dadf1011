#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A kernel file of a program's own compiles without a warning in every way that programs are compiled,
# gives the same bits in all of them, and wrong use of it is an error where it is written.
#
# A sample compiles for all types without optimization, since it is the front end that warns, and with it for a
# floating-point and an integer type, which are also what runs on OpenCL. Where something else than the code is tried,
# there is one instruction set; and so where wrong use is refused, which the front end does.
# TEST: labels=core,kernel,build
src=${META_TEST_SRCDIR:-.}
build=${META_TEST_BUILDDIR:-.}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
status=0 ran=0 long=${META_TEST_LONG-0}
unset META_MODE META_RANK_MAP

# The value of a variable of the built Makefile.
made_with() { sed -n "s/^$1 = //p" "$build/Makefile" 2>/dev/null | head -n 1; }

cc=$(made_with CC)
: "${cc:=cc}"
cxx=${CXX:-c++}
strict='-Wall -Wextra -Wshadow -Wconversion -pedantic -Werror'
include="-I$src/core -I$src/kernels"
libraries="-L$build/.libs -lmeta -lm -Wl,-rpath,$build/.libs"
case ${META_TEST_SANITIZE:-no} in
yes) libraries="-fsanitize=address,undefined $libraries" ;;
thread) libraries="-fsanitize=thread $libraries" ;;
esac

mkdir "$here/files" "$here/sources" "$here/elsewhere"
cp "$src/tests/user_program.kernel.h" "$here/files/"
cp "$src/tests/user_program.c" "$src/tests/user_program_use.c" "$here/sources/"

broken()
{
    echo "BROKEN: $1"
    status=1
}

# builds NAME 'COMPILER FLAGS' [LINK FLAGS]: the program of two files, from the current folder, which need
# not be the one of the sources; $from is the way to them.
builds()
{
    # Where kernels are not optimized (tests/test_user_compile_levels.sh).
    expected_log=none
    case $2 in *clang*-O0* | *-O0*"$level"*) expected_log='warning: kernels compiled without optimization' ;; esac
    for file in user_program user_program_use; do
        if ! $2 $strict $include -I"$from/files" -c "$from/sources/$file.c" -o "$file.o" >log 2>&1; then
            broken "$1: $file.c does not compile without a warning"
            head -n 40 log
            return 1
        fi
    done
    $2 $3 user_program.o user_program_use.o -o program $libraries >log 2>&1 && return 0
    broken "$1: it does not link"
    head -n 40 log
    return 1
}

# runs NAME [MODE…]: with the bits of the first program that ran, or the first lines of them.
runs()
{
    name=$1
    shift
    [ $# != 0 ] || set -- openmp opencl
    for mode; do
        META_MODE=$mode ./program >bits 2>log
        case $? in
        0) ;;
        77) continue ;; # no such device
        *) broken "$name on $mode: it does not run"
           head -n 40 log bits
           continue ;;
        esac
        ran=$((ran + 1))
        if [ -s "$here/bits" ]; then
            head -n "$(wc -l <bits)" "$here/bits" >expected
            [ -s bits ] && cmp -s bits expected || {
                broken "$name on $mode: other bits than those of ${first}"
                diff expected bits | head -n 20
            }
        else
            cp bits "$here/bits"
            first="$name on $mode"
        fi
        grep -v "$expected_log" log >said && { broken "$name on $mode: messages on standard error"; head -n 40 said; }
    done
}

try() { builds "$@" && runs "$1"; }
. "$src/tests/compilers.sh"

cd "$here/elsewhere" || exit 1
from=..

few=-DUSER_PROGRAM_FEW # types
level=-DMETA_KERNEL_PROGRAM_LEVEL
if [ "$long" = 1 ]; then few= one= quick= plain=-O2
else
    one=-DMETA_KERNEL_ONE_VARIANT
    quick="$one $level" plain="-O0 $one $level $few"
fi

# for_all_types NAME 'COMPILER FLAGS' [LINK FLAGS]
for_all_types() { builds "$@" && runs "$1" openmp; }

# some 'FLAGS' …: the ways that are tried, each a line; all of META_TEST_LONG=1, else those before `--`.
some()
{
    for flags; do
        if [ "$flags" = -- ]; then
            [ "$long" = 1 ] || return 0
            continue
        fi
        printf '%s\n' "$flags"
    done
}

# The program's compiler, from another folder than the file's.
for_all_types 'C11, -O0' "$cc -std=c11 -O0 $level"
some '-O3 -march=native' "-O2 -ffp-contract=fast $one" -- -O0 -O1 -O2 -O3 -Os '-O2 -g' '-O2 -fPIC' '-O2 -fno-inline' \
    '-O3 -funroll-loops -fno-math-errno' '-O2 -fvisibility=hidden' '-O2 -DMETA_KERNEL_ONE_VARIANT' >flags
while read -r flags; do try "C11, $flags" "$cc -std=c11 $flags $few"; done <flags
[ "$long" != 1 ] || try 'gnu11, -O3 -march=native' "$cc -std=gnu11 -O3 -march=native"
try 'C11, -O2 -flto' "$cc -std=c11 -O2 -flto=auto $few $one" -O2
if compiler_is_here "$cxx" kernels_of_programs_compile_by_cxx; then
    for_all_types 'C++, -std=c++11 -O0' "$cxx -x c++ -std=c++11 -O0 $level" '-x none'
    some '-std=c++17 -O3 -march=native' -- '-std=c++11 -O0' '-std=c++11 -O2' '-std=gnu++17 -O2' >flags
    while read -r flags; do try "C++, $flags" "$cxx -x c++ $flags $few $one" '-x none'; done <flags
    [ "$long" != 1 ] || try 'C++, -std=c++17 -O2 -flto' "$cxx -x c++ -std=c++17 -O2 -flto=auto" '-x none'
fi
if compiler_is_here clang kernels_of_programs_compile_by_clang; then
    [ "$long" != 1 ] || for_all_types 'clang, -std=c11 -O0' 'clang -std=c11 -O0'
    some '-std=gnu11 -O3 -march=native' -- '-std=c11 -O0' '-std=c11 -O2' >flags
    while read -r flags; do try "clang, $flags" "clang $flags $few $one"; done <flags
fi
if compiler_is_here clang++ kernels_of_programs_compile_by_clang_cxx; then
    for_all_types 'clang++, -std=c++17 -O0' 'clang++ -x c++ -std=c++17 -O0' '-x none'
    some -- '-std=c++17 -O3 -march=native' '-std=c++11 -O0' >flags
    while read -r flags; do try "clang++, $flags" "clang++ -x c++ $flags" '-x none'; done <flags
fi

# In a program the linker tells of what keeps a kernel file from including itself.
for first in '#pragma once' '#ifndef A_H
#define A_H'; do
    { echo "$first"; cat <<'END'
#include <meta_kernel.h>
#define guarded_ARGS(A) A(INOUT, T, x)
META_CELLS(guarded) { ON(x) = ON(x) + 1; }
#include META_AGAIN
END
        [ "${first#*ifndef}" = "$first" ] || echo '#endif'; } >guarded.kernel.h
    printf '#define META_KERNELS_HERE\n#include "guarded.kernel.h"\nint main(void) { return 0; }\n' >guarded.c
    ! $cc -std=c11 $include guarded.c -o guarded $libraries >log 2>&1 || broken "links with $first"
    grep -q 'guarded_f64_kernel_file_has_an_include_guard_or_pragma_once' log ||
        { broken "the linker does not tell of $first"; cat log; }
done

# Linked in another folder: an absolute path leads to the kernel file from everywhere.
from=$here
if builds 'C11, -flto, absolute paths' "$cc -std=c11 $plain -flto=auto" -O2; then
    mkdir -p linked && (cd linked && $cc $plain -flto=auto ../user_program.o ../user_program_use.o \
        -o ../program $libraries >../log 2>&1) || { broken 'C11, -flto linked elsewhere'; cat log; }
    runs 'C11, -flto linked elsewhere'
fi
# Reproducible builds: __FILE__ leads to the file from the top folder,
cd "$here" || exit 1
from=$here
try 'C11, -ffile-prefix-map' "$cc -std=c11 $plain -ffile-prefix-map=$here=."
if grep -q "$here/files" program; then
    broken '-ffile-prefix-map: the program has the path of the kernel file'
fi
# and from elsewhere the text comes in a file of its own; without it the assembler says what it lacks.
cd elsewhere || exit 1
if $cc -std=c11 $plain -ffile-prefix-map="$here"=. $include -I"$from/files" -c "$from/sources/user_program.c" \
    -o user_program.o >log 2>&1; then
    broken 'a text that is not found: it compiles'
elif ! grep -q 'user_program.kernel.h' log; then
    broken 'a text that is not found: the file is not named'
    cat log
fi
for name in heat paint pour peaks turn fold; do
    echo "extern const char meta_kernel_text_$name[]; const char meta_kernel_text_$name[] = {"
    od -An -v -tx1 "$from/files/user_program.kernel.h" | sed 's/ \(..\)/0x\1,/g'
    echo '0};'
done >text.c
$cc -c text.c -o text.o
for flags in "-ffile-prefix-map=$here=." '-flto=auto'; do
    try "C11, text apart, $flags" "$cc -std=c11 $plain -DMETA_KERNEL_TEXT_APART $flags" text.o
done

# ------------------------------------------------------------------ wrong use

# refused NAME 'COMPILER FLAGS' 'WORDS' <<PROGRAM: it does not compile, and the message has the words.
refused()
{
    cat >wrong.c
    if $2 $quick $include -I"$here/files" -c wrong.c -o wrong.o >log 2>&1; then
        broken "$1: it compiles"
    elif ! grep -qi -e "$3" log; then
        broken "$1: the compiler does not say '$3':"
        head -n 20 log
    fi
}
head='#include "user_program.kernel.h"
meta_err wrong(const meta_box *box, double *u, const double *v, double *most, uint64_t *count, heat_shape shape, meta_event *done);
meta_err wrong(const meta_box *box, double *u, const double *v, double *most, uint64_t *count, heat_shape shape, meta_event *done)'
for compiler in "$cc -std=c11 -Werror" "$cxx -x c++ -std=c++11 -Werror"; do
    command -v ${compiler%% *} >/dev/null || continue
    # The right use, to see that nothing else is wrong.
    printf '%s { return heat_f64(box, u, v, 2.0, shape, most, count, done); }\n' "$head" >right.c
    $compiler $include -I"$here/files" -c right.c -o right.o >log 2>&1 || { broken 'the right use is refused'; cat log; }
    refused "$compiler: a missing argument" "$compiler" 'too few arguments\|cannot convert' <<PROGRAM
$head { return heat_f64(box, u, v, 2.0, shape, most, done); }
PROGRAM
    refused "$compiler: one argument too many" "$compiler" 'too many arguments\|cannot convert' <<PROGRAM
$head { return heat_f64(box, u, v, v, 2.0, shape, most, count, done); }
PROGRAM
    refused "$compiler: a buffer for a number" "$compiler" 'incompatible type\|cannot convert' <<PROGRAM
$head { return heat_f64(box, u, v, v, shape, most, count, done); }
PROGRAM
    refused "$compiler: a number for a buffer" "$compiler" 'incompatible type\|cannot convert' <<PROGRAM
$head { return heat_f64(box, 2.0, v, 2.0, shape, most, count, done); }
PROGRAM
    refused "$compiler: constant data for an output" "$compiler" 'discards\|invalid conversion' <<PROGRAM
$head { return heat_f64(box, v, u, 2.0, shape, most, count, done); }
PROGRAM
    refused "$compiler: an array of another type" "$compiler" 'incompatible pointer\|cannot convert' <<PROGRAM
$head { return heat_f32(box, u, v, 2.0f, shape, most, count, done); }
PROGRAM
    refused "$compiler: a type that the file is not compiled for" "$compiler" 'heat_u32' <<PROGRAM
$head { return heat_u32(box, u, v, 2, shape, most, count, done); }
PROGRAM
    refused "$compiler: writing to an input" "$compiler" 'read-only' <<PROGRAM
#define META_KERNELS_HERE
#define META_KERNEL_FILE "wrong.c"
#include <meta_kernel.h>
#define bad_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL)
META_CELLS(bad) { AT(in, 0, 0, 0) = AT(out, 0, 0, 0); }
#include META_AGAIN
PROGRAM
    refused "$compiler: an unknown array" "$compiler" 'there' <<PROGRAM
#define META_KERNELS_HERE
#define META_KERNEL_FILE "wrong.c"
#include <meta_kernel.h>
#define bad_ARGS(A) A(OUT, T, out)
META_CELLS(bad) { AT(out, 0, 0, 0) = AT(there, 0, 0, 0); }
#include META_AGAIN
PROGRAM
    refused "$compiler: an input without its reach" "$compiler" 'in) has no reach' <<PROGRAM
#define META_KERNELS_HERE
#define META_KERNEL_FILE "wrong.c"
#include <meta_kernel.h>
#define bad_ARGS(A) A(OUT, T, out) A(IN, T, in)
META_CELLS(bad) { AT(out, 0, 0, 0) = AT(in, 0, 0, 0); }
#include META_AGAIN
PROGRAM
    # refused_body NAME 'WORDS' 'LIST' 'BODY': that kernel.
    refused_body()
    {
        refused "$compiler: $1" "$compiler" "$2" <<PROGRAM
#define META_KERNELS_HERE
#define META_KERNEL_FILE "wrong.c"
#include <meta_kernel.h>
#define bad_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL) $3
META_CELLS(bad) { AT(out, 0, 0, 0) = AT(in, 0, 0, 0); $4; }
#include META_AGAIN
PROGRAM
    }
    sum='A(ADD, T, sum, STAR(1))'
    refused_body 'reading an array that cells add to' 'incompatible\|cannot convert\|no match' "$sum" 'AT(out, 0, 0, 0) = AT(sum, 0, 0, 0)'
    refused_body 'writing an array that cells add to' 'incompatible\|no match\|no known conversion' "$sum" 'AT(sum, 0, 0, 0) = AT(in, 0, 0, 0)'
    refused_body 'adding without ADD_TO' 'invalid operands\|no match' "$sum" 'AT(sum, 0, 0, 0) += 1'
    refused_body 'ADD() of an array' 'sum' "$sum" 'ADD(sum, 1)'
    refused_body 'ADD_TO() of an output' 'meta_added' '' 'ADD_TO(AT(out, 0, 0, 0), 1)'
    refused_body 'ADD_TO() of an input' 'meta_added' '' 'ADD_TO(AT(in, 0, 0, 0), 1)'
    refused_body 'ADD without its reach' 'sum) has no reach' 'A(ADD, T, sum)' ''
    refused_body 'writing to a scalar' 'read-only' 'A(SCALAR, T, a)' 'a = 2'
    refused_body 'a scalar with a reach' 'only arrays have a reach' 'A(SCALAR, T, a, CELL)' ''
    refused_body 'an in-out array with a reach' 'both, STAR(1)) has a reach' 'A(INOUT, T, both, STAR(1))' ''
    refused_body 'a whole output' 'all, WHOLE) has a reach that OUT' 'A(OUT, T, all, WHOLE)' 'GET(all, 0) = 1'
    refused "$compiler: a number for a scalar" "$compiler" 'incompatible type\|cannot convert' <<PROGRAM
#include "user_program.kernel.h"
meta_err wrong(const meta_box *box, double *u, int32_t *n);
meta_err wrong(const meta_box *box, double *u, int32_t *n) { return pour_f64(box, u, u, 2.0, n, n, META_ASYNC); }
PROGRAM
    refused "$compiler: constant data to add to" "$compiler" 'discards\|invalid conversion' <<PROGRAM
#include "user_program.kernel.h"
meta_err wrong(const meta_box *box, const double *u, int32_t *n);
meta_err wrong(const meta_box *box, const double *u, int32_t *n) { return pour_f64(box, u, u, u, n, n, META_ASYNC); }
PROGRAM
    refused "$compiler: a parameter of an unknown kind" "$compiler" 'A(INPUT, .* is of no kind' <<PROGRAM
#define META_KERNELS_HERE
#define META_KERNEL_FILE "wrong.c"
#include <meta_kernel.h>
#define bad_ARGS(A) A(OUT, T, out) A(INPUT, T, in, CELL)
META_CELLS(bad) { AT(out, 0, 0, 0) = 1; }
#include META_AGAIN
PROGRAM
    refused "$compiler: a reach of more cells than can be" "$compiler" 'reach of in has a number that is not one of 0 to 255' <<PROGRAM
#define META_KERNELS_HERE
#define META_KERNEL_FILE "wrong.c"
#include <meta_kernel.h>
#define bad_ARGS(A) A(OUT, T, out) A(IN, T, in, STAR(300))
META_CELLS(bad) { AT(out, 0, 0, 0) = AT(in, 1, 0, 0); }
#include META_AGAIN
PROGRAM
    for access in 'AT(near, 2, 0, 0)' 'AT(near, 0, -2, 0)' 'AT(near, 1, 1, 0)' 'AT(sides, 1, 0, 0)' \
        'AT2(sides, -3, 0)' 'AT(sides, 0, 0, 2)' 'AT4(near, 0, 0, 0, 2)' 'AT(cell, 0, 0, 1)' 'AT1(cell, FAR - 1)' \
        'AT(level, 0, 0, 2)' 'AT(table, 0, 0, 0)' 'ON(table)' 'GET(near, 0)' 'AT(out, 1, 0, 0)'; do
        # In C++ the same macros check the same conditions: a sample has three there.
        case $long$compiler$access in
        0*c++*'AT(near, 2, 0, 0)' | 0*c++*'AT2(sides, -3, 0)' | 0*c++*'GET(near, 0)') ;;
        0*c++*) continue ;;
        esac
        case $access in
        GET*) words='GET() of.*WHOLE' ;;
        *) words='AT() of.*beyond the reach' ;;
        esac
        for flags in -O0 -O2; do
            for line in '#define META_KERNELS_HERE' ''; do # and where kernels are only called
                # In a sample optimized where they are only called.
                case $long$flags$line in 0-O0 | 0-O2?*) continue ;; esac
                refused "$compiler $flags: $access beyond the reach" "$compiler $flags" "$words" <<PROGRAM
$line
#define META_KERNEL_FILE "wrong.c"
#include <meta_kernel.h>
#define FAR 2
#define bad_ARGS(A) A(OUT, T, out) A(IN, T, near, STAR(1)) A(IN, T, sides, SIDES(2, 0, 0, 1, 1, 1)) \\
    A(IN, T, cell, CELL) A(IN, T, level, BOX(1), LINE(2)) A(IN, T, table, WHOLE)
META_CELLS(bad) { AT(out, 0, 0, 0) = 1 + $access; }
#include META_AGAIN
PROGRAM
            done
        done
    done
    # What is within reach, or only known when it runs, compiles.
    cat >right.c <<PROGRAM
#define META_KERNELS_HERE
#define META_KERNEL_FILE "right.c"
#include <meta_kernel.h>
#define FAR 2
#define good_ARGS(A) A(OUT, T, out) A(IN, T, near, STAR(FAR)) A(IN, T, sides, SIDES(2, 0, 0, 1, 1, 1)) \\
    A(IN, T, level, BOX(1), LINE(2)) A(IN, T, table, WHOLE) A(IN, int32_t, where, CELL)
META_CELLS(good)
{
    int away = 0;
    AT(out, 0, 0, 0) = AT(near, 2, 0, 0) + AT(near, 0, -FAR, 0) + AT(sides, -2, 1, -1) + AT(level, 7, 7, 1) +
        AT(near, away, 0, 0) + AT(near, ON(where), 0, 0) + AT(near, 100 * away, 0, 0) + GET(table, away);
}
#include META_AGAIN
PROGRAM
    $compiler -Wall -Wextra -Wshadow -Wconversion -pedantic $include -c right.c -o right.o >log 2>&1 ||
        { broken "$compiler: what is within reach is refused"; head -n 20 log; }
    # refused_team NAME 'WORDS' 'EXTENTS' 'MEMORY' 'BODY': a kernel of teams.
    refused_team()
    {
        refused "$compiler: $1" "$compiler" "$2" <<PROGRAM
#define META_KERNELS_HERE
#define META_KERNEL_FILE "wrong.c"
#include <meta_kernel.h>
#define bad_ARGS(A) A(OUT, T, out) A(IN, T, in, STAR(1)) A(SUM, T, sum) $4
META_TEAMS(bad, $3) { MEMBERS { ON(out) = ON(in); } $5; }
#include META_AGAIN
PROGRAM
    }
    tile='A(SHARED, T, tile, 8)'
    refused_team 'shared memory outside phases' 'meta_i' '8, 1, 1' "$tile" 'SHARED(tile, 0) = 1'
    refused_team 'an array outside phases' 'meta_i' '8, 1, 1' "$tile" 'ON(out) = 1'
    refused_team 'a place outside phases' 'meta_i' '8, 1, 1' "$tile" 'if (MY(0) == 0) return'
    refused_team 'a reach that is too far from the member' 'beyond the reach' '8, 1, 1' '' 'MEMBERS { ON(out) = AT(in, 2, 0, 0); }'
    refused_team 'a team without a member' 'has 1 to 65536 members' '8, 0, 1' '' ''
    refused_team 'a team of too many members' 'has 1 to 65536 members' '65536, 2, 1' '' ''
    refused_team 'too much shared memory' 'share more than 65536 bytes' '8, 1, 1' "$tile A(SHARED, double, more, 8192)" ''
    refused_team 'shared memory that is not shared' 'share' '8, 1, 1' "$tile" 'MEMBERS { SHARED(other, 0) = 1; }'
    refused_team 'a negative count' 'negative\|too large' '8, 1, 1' 'A(SHARED, T, tile, -3)' ''
    refused_team 'no count' 'tile) has no number of elements' '8, 1, 1' 'A(SHARED, T, tile)' ''
    refused_body 'shared memory without teams' 'is for kernels that META_TEAMS begins' "$tile" ''
    refused_body 'a phase without teams' 'meta_e0' '' 'MEMBERS { ON(out) = 1; }'
    refused "$compiler: a shape that does not exist" "$compiler" 'GROW(1, 0, 0)) has an item that is neither a reach nor a shape' <<PROGRAM
#define META_KERNELS_HERE
#define META_KERNEL_FILE "wrong.c"
#include <meta_kernel.h>
#define bad_ARGS(A) A(OUT, T, out, GROW(1, 0, 0))
META_CELLS(bad) { AT(out, 0, 0, 0) = 1; }
#include META_AGAIN
PROGRAM
    refused "$compiler: -ffast-math" "$compiler -O2 -ffast-math" 'ffast-math' <<PROGRAM
#include "user_program.kernel.h"
PROGRAM
    refused "$compiler: -Ofast" "$compiler -Ofast" 'ffast-math' <<PROGRAM
#include "user_program.kernel.h"
PROGRAM
done

[ $ran -ge 12 ] || broken "only $ran programs ran"
[ $status = 0 ] && echo "kept   $ran programs with the same bits"
exit $status
