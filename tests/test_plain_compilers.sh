#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Of a typical mistake in a kernel file, or in a call of its kernels, the program's own compiler says first what is
# wrong, or where; gcc and g++ end within a hundred lines, and so do all compilers where the list of parameters is wrong.
# TEST: labels=tools,build
. "$META_TEST_SRCDIR/tests/programs.sh"
. "$META_TEST_SRCDIR/tests/compilers.sh"
. "$META_TEST_SRCDIR/tests/kernel_mistakes.sh"
MOST=100 # lines
tried=0
include="-I$META_TEST_SRCDIR/core -I$META_TEST_SRCDIR/kernels"
write_sound_kernels
printf '#define META_KERNELS_HERE\n#include "mistake.kernel.h"\n' >program.c
compilers=
for compiler in gcc g++ clang clang++; do
    : >out
    : >err
    what=$compiler
    compiler_is_here $compiler "mistakes_are_found_in_messages_of_$compiler" || continue
    compilers="$compilers $compiler"
done

# compile COMPILER FILE [FLAGS]: its messages, for which no code is made.
compile()
{
    case $1 in *++) language='-x c++' ;; *) language= ;; esac
    # shellcheck disable=SC2086
    LC_ALL=C $1 $language -fsyntax-only $include ${3-} "$2" >out 2>err
}

# judge COMPILER FIRST MANY: what it has said.
judge()
{
    tried=$((tried + 1))
    said=$(grep -m 1 -e 'error: ' -e 'warning: ' err)
    printf '%s\n' "$said" | grep -q -e "$2" || broken "the first message is not of '$2': $said"
    lines=$(wc -l <err)
    [ "${META_TEST_LIST-}" != 1 ] || printf '%-8s %5d  %s\n' "$1" "$lines" "$said"
    case " $3 " in *" $1 "*) return ;; esac
    [ "$lines" -le $MOST ] || broken "$lines lines are too many"
}

mistake()
{
    [ "${4-}" != none ] || return 0
    sed "$3" sound.kernel.h >mistake.kernel.h
    case ${4-} in parameter*) many= ;; *) many="clang clang++ ${5-}" ;; esac
    [ "${META_TEST_LIST-}" != 1 ] || printf '\n%s\n' "$3"
    for compiler in $compilers; do
        case $compiler$many in clang++?*) continue ;; esac # a body is the same to clang
        what="$compiler after $3"
        case " $many " in *" $compiler "*) flags=-DMETA_KERNEL_ONE_VARIANT ;; *) flags= ;; esac
        compile "$compiler" program.c $flags
        judge "$compiler" "${4:-mistake.kernel.h:$1:}" "$many"
    done
}

cp sound.kernel.h mistake.kernel.h
for compiler in $compilers; do
    what="$compiler and a sound file"
    compile "$compiler" program.c && [ ! -s err ] || broken 'does not take it'
done
mistakes_in_kernels

# call CALL FIRST: of a sound kernel.
call()
{
    cat >call.c <<END
#include "sound.kernel.h"
meta_err step(const meta_box *box, double *u, const double *v, const int32_t *mask, double *sum, double *most);
meta_err step(const meta_box *box, double *u, const double *v, const int32_t *mask, double *sum, double *most)
{
    return $1;
}
END
    for compiler in $compilers; do
        what="$compiler and $1"
        compile "$compiler" call.c
        [ "${META_TEST_LIST-}" != 1 ] || printf '\n%s\n' "$1"
        judge "$compiler" "$2" 'clang clang++'
    done
}
here='call.c:5:'
call 'wave_f64(box, u, v, mask, v, 0.5, sum, NULL)' "$here"
call 'wave_f64(box, u, v, mask, v, 0.5, sum, most, most, NULL)' "$here"
call 'wave_f64(box, u, v, v, v, 0.5, sum, most, NULL)' "$here"
call 'wave_f32(box, u, v, mask, v, 0.5f, sum, most, NULL)' "$here"
call 'wave_f64(box, v, v, mask, v, 0.5, sum, most, NULL)' "$here"
call 'wave_i32(box, u, v, mask, v, 0.5, sum, most, NULL)' "$here"
call 'waves_f64(box, u, v, mask, v, 0.5, sum, most, NULL)' "$here"

[ $failed = 0 ] && echo "kept   $tried times a compiler says first what is wrong"
exit $failed
