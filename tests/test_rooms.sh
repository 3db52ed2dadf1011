#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No room of the libraries includes or calls a room above it, and no files depend on each other but
# those that tests/rooms.list names. Calls are taken from the symbols of the built objects.
# TEST: labels=core,build smoke=yes
set -u
src=${META_TEST_SRCDIR:-.}
build=${META_TEST_BUILDDIR:-.}
src=$(cd "$src" && pwd) || exit 1
build=$(cd "$build" && pwd) || exit 1
status=0

# The value of a variable of the built Makefile.
made_with() { sed -n "s/^$1 = //p" "$build/Makefile" 2>/dev/null | head -n 1; }

nm=${NM:-$(made_with NM)}
: "${nm:=nm}"
cc=$(made_with CC)
: "${cc:=cc}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# facts SOURCES BUILD: what tests/rooms.awk reads.
facts()
{
    (
        cd "$1" || exit 1
        folders=
        for library in core comm io; do [ ! -d $library ] || folders="$folders $library"; done
        # shellcheck disable=SC2086 # words of a list
        files=$(find $folders -name '*.[ch]' -o -name '*.def' | LC_ALL=C sort)
        printf 'file %s\n' $files
        awk '/^[ \t]*#[ \t]*include[ \t]*["<]/ {
            name = $0
            sub(/^[^"<]*["<]/, "", name)
            sub(/[">].*/, "", name)
            print "include", FILENAME, FNR, name
        }' $files
    )
    (
        cd "$2" || exit 1
        folders=
        for library in core comm io; do [ ! -d $library ] || folders="$folders $library"; done
        # shellcheck disable=SC2086 # words of a list
        $nm -A -P $(find $folders -name 'libmeta_la-*.o' -o -name 'libmeta_comm_la-*.o' -o -name 'libmeta_io_la-*.o') | awk '{
            source = $1
            sub(/\.o:$/, ".c", source)
            sub(/\.libs\//, "", source)
            sub(/libmeta[a-z_]*_la-/, "", source)
            print "symbol", source, $2, $3
        }'
    )
}

# judge SOURCES BUILD LIST: the report, and whether all is well.
judge()
{
    facts "$1" "$2" >"$scratch/facts"
    awk -f "$src/tests/rooms.awk" "$3" "$scratch/facts"
}

# ------------------------------------------------------------------ seeded violations are reported

# plant FILE LINE…: a file of the small tree; a C file is compiled as the library's are.
plant()
{
    path=$1 name=$(basename "$1" .c) folder=$(dirname "$1")
    shift
    mkdir -p "$scratch/tree/$folder/.libs"
    printf '%s\n' "$@" >"$scratch/tree/$path"
    case $path in
    core/*.c) object=$folder/.libs/libmeta_la-$name.o ;;
    comm/*.c) object=$folder/.libs/libmeta_comm_la-$name.o ;;
    *) return ;;
    esac
    $cc -I"$scratch/tree/core" -c -o "$scratch/tree/$object" "$scratch/tree/$path" || exit 1
}

# A tree without a violation: a low room, two on one level, a room of another library.
plant_tree()
{
    rm -rf "$scratch/tree"
    if test -d "$scratch/clean"; then
        cp -R "$scratch/clean" "$scratch/tree"
        cp "$scratch/clean.list" "$scratch/list"
        return
    fi
    plant core/meta.h 'int meta_public(void);'
    plant core/low/low.h 'int low_a(void);' 'int low_b(void);'
    plant core/low/a.c '#include "low/low.h"' 'int low_a(void) { return 1; }'
    plant core/low/b.c '#include "low/low.h"' 'int low_b(void) { return low_a(); }'
    plant core/left/left.h 'extern int left_value;'
    plant core/left/left.c '#include "low/low.h"' '#include "left.h"' 'int left_value;' \
        'int left(void) { return low_b(); }'
    plant core/right/right.c '#include "meta.h"' 'int right(void) { return 1; }'
    plant core/internal.h '#include "left/left.h"'
    plant core/top.c '#include "internal.h"' '#include "left/left.h"' 'int right(void);' \
        'int meta_public(void) { return left_value + right(); }'
    plant comm/base/base.c '#include "internal.h"' 'int meta_public(void);' \
        'int comm_base(void) { return meta_public(); }'
    printf '%s\n' 'interface core/meta.h' 'export core/internal.h' 'core low' 'core left right' \
        'core .' 'comm base' >"$scratch/list"
    cp -R "$scratch/tree" "$scratch/clean"
    cp "$scratch/list" "$scratch/clean.list"
}

# reported WHAT: the tree as it stands now is broken, and the report has the words WHAT.
reported()
{
    if judge "$scratch/tree" "$scratch/tree" "$scratch/list" >"$scratch/report"; then
        echo "BROKEN: not reported: $1"
        status=1
    elif ! grep -qF -- "$1" "$scratch/report"; then
        echo "BROKEN: the report does not have the words: $1"
        cat "$scratch/report"
        status=1
    fi
    plant_tree
}

plant_tree
judge "$scratch/tree" "$scratch/tree" "$scratch/list" >"$scratch/report" ||
    { echo 'BROKEN: a tree without a violation is reported'; cat "$scratch/report"; status=1; }

plant core/low/b.c 'int left(void);' 'int low_b(void) { return left(); }'
reported 'core/low/b.c uses left of core/left/left.c'
plant core/low/b.c 'extern int left_value;' 'int *low_b(void) { return &left_value; }'
reported 'core/low/b.c uses left_value of core/left/left.c'
plant core/low/b.c '#pragma weak left' 'int left(void);' 'int low_b(void) { return left ? left() : 0; }'
reported 'core/low/b.c uses left of core/left/left.c'
plant core/left/left.c 'int right(void);' 'int left_value;' 'int left(void) { return right(); }'
reported 'core/left/left.c uses right of core/right/right.c'
plant core/left/left.c 'int meta_public(void);' 'int left_value;' \
    'int left(void) { return meta_public(); }'
reported 'core/left/left.c uses meta_public of core/top.c'
plant core/low/low.h '#include "left/left.h"'
reported 'core/low/low.h:1 includes core/left/left.h'
plant core/low/low.h ' # include "../left/left.h"'
reported 'core/low/low.h:1 includes core/left/left.h'
plant core/meta.h '#include <low/low.h>'
reported 'core/meta.h:1 includes core/low/low.h'
plant core/left/left.c '#include "internal.h"' 'int left(void) { return 1; }' 'int left_value;'
reported 'core/left/left.c:1 includes core/internal.h'
plant comm/base/base.c '#include "low/low.h"'
reported 'comm/base/base.c:1 includes core/low/low.h'
plant core/attic/old.c 'int old;'
reported 'core/attic/ is not in the list'
plant core/low/a.c 'int low_b(void);' 'int low_a(void) { return low_b(); }'
reported 'a circle of 2 files that the list does not have: core/low/a.c core/low/b.c'
plant core/left/more.h '#include "left.h"'
plant core/left/left.h '#include "more.h"' 'extern int left_value;'
reported 'a circle of 2 files that the list does not have: core/left/left.h core/left/more.h'
echo 'core gone' >>"$scratch/list"
reported 'the list has a room core/gone/ that has no file'
echo 'circle core/low/a.c core/low/b.c: they count on each other' >>"$scratch/list"
reported 'the list has a circle that is none: core/low/a.c core/low/b.c'
echo 'circle core/low/b.c core/low/a.c:' >>"$scratch/list"
reported 'no reason is given'
plant core/low/a.c 'int low_b(void);' 'int low_a(void) { return low_b(); }'
echo 'circle core/low/b.c core/low/a.c: they count on each other' >>"$scratch/list"
judge "$scratch/tree" "$scratch/tree" "$scratch/list" >"$scratch/report" ||
    { echo 'BROKEN: a circle of the list is reported'; cat "$scratch/report"; status=1; }

test $status = 0 && echo 'kept   seeded violations are reported'

# ------------------------------------------------------------------ the libraries

if judge "$src" "$build" "$src/tests/rooms.list" >"$scratch/report"; then
    echo 'kept   no room knows a room above it'
else
    status=1
fi
cat "$scratch/report"
grep -q '^symbol core/' "$scratch/facts" ||
    { echo "BROKEN: $build has no objects of libmeta"; status=1; }
test "${META_TEST_MPI:-none}" = none || grep -q '^symbol comm/' "$scratch/facts" ||
    { echo "BROKEN: $build has no objects of libmeta_comm"; status=1; }
test "${META_TEST_MPI:-none}" = none || grep -q '^symbol io/' "$scratch/facts" ||
    { echo "BROKEN: $build has no objects of libmeta_io"; status=1; }
exit $status
