#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Of a typical mistake in a kernel file, meta-kernel check and meta-kernel embed say at most ten lines, of which the
# first that matters has the file, the line and the cause; embed then writes nothing.
# TEST: labels=tools
. "$META_TEST_SRCDIR/tests/programs.sh"
tried=0

. "$META_TEST_SRCDIR/tests/kernel_mistakes.sh"
write_sound_kernels

# said FILE TEXT: a file has at most ten lines, and one of the first two is TEXT, a pattern behind the file and line.
said()
{
    [ "$(wc -l <"$1")" -le 10 ] || { broken "$(wc -l <"$1") lines are too many"; return; }
    head -n 2 "$1" | grep -q "mistake.kernel.h:$2" || broken "the first lines do not have mistake.kernel.h:$2"
}
# mistake LINE TEXT SED …: the file with what SED makes of it.
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

mistakes_in_kernels

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
