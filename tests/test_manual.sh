#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual: each exported function has a page with an example, pages are well-formed and refer to pages that there
# are, those of programs have the programs' options; the site that `make html` makes has every function and no
# broken link; what is not documented is an error. The examples themselves are run by test_manual_*.c.
# TEST: labels=documents smoke=yes
. "$META_TEST_SRCDIR/tests/programs.sh"
top=$META_TEST_SRCDIR
pages=$build/.libs/share/man
: >out >err

# found WHAT TEXT: some are missing or wrong.
found()
{
    what=$1
    [ -z "$2" ] || broken "$2"
}

headers="core/meta.h core/library/meta_library.h kernels/meta_kernel.h"
metamorph="metamorph/metamorph.h metamorph/metamorph_profiling.h"
if [ "${META_TEST_MPI:-none}" != none ]; then
    headers="$headers comm/meta_comm.h io/meta_io.h"
    metamorph="$metamorph metamorph/metamorph_mpi.h"
fi
functions=$(cd "$top" && sed -n 's/^META_API .*[ *]\(meta_[a-z0-9_]*\)(.*/\1/p
    s/^META_API .*[ *]\(metamorph_[A-Za-z0-9_]*\)(.*/\1/p' $headers $metamorph | sort -u)
what='the list of functions'
[ "$(echo "$functions" | wc -l)" -gt 80 ] || broken 'is too short'
[ "$(echo "$functions" | grep -c '^metamorph_')" -gt 25 ] || broken "has too few of MetaMorph's"

# ------------------------------------------------------------------ pages

# What the page of a function, or the one that it refers to, lacks.
found 'pages of functions' "$(cd "$pages" && for name in $functions; do
    file=man3/$name.3 to=
    [ -s "$file" ] || { echo "there is no page of $name"; continue; }
    read -r first to <"$file"
    [ "$first" = .so ] && file=$to
    awk -v name="$name" '
        /^\.SH / { section = substr($0, 5); has[section] = 1; next }
        section == "NAME" { names = names $0 }
        section == "EXAMPLE" { example = example "\n" $0 }
        END {
            if (names !~ "(^|[ ,])" name "[ ,]") print name ": the section NAME has not got it"
            if (example !~ name " *\\(" && example !~ /META_CELLS/) print name ": the example does not call it"
            split("NAME,SYNOPSIS,DESCRIPTION,EXAMPLE,SEE ALSO", section_list, ",")
            for (k = 1; k <= 5; ++k)
                if (!(section_list[k] in has)) print name ": no section " section_list[k]
        }' "$file"
done)"

# MetaMorph's names: a page of ours, or a libmeta function's page that says what else has the name.
found "pages of MetaMorph's names" "$(cd "$top" && sed -n 's/^#define \([A-Za-z0-9_]*\)  *\(metamorph_[A-Za-z0-9_]*\)$/\1 \2/p' \
    $metamorph | (cd "$pages" && while read -r name ours; do
    file=man3/$name.3 to=
    [ -s "$file" ] || { echo "there is no page of $name"; continue; }
    read -r first to <"$file"
    [ "$first" = .so ] && file=$to
    grep -qF "$ours" "$file" || echo "$file does not name $ours"
    grep -qF "#define $name $ours" "man3/$ours.3" || [ "$(head -c 3 "man3/$ours.3")" = .so ] ||
        echo "the page of $ours does not name $name"
done))"

# References at the end of pages and in texts. Without MPI there are no pages of messages and of applications.
absent='^$'
[ "${META_TEST_MPI:-none}" != none ] || absent='there is no (meta_comm|meta_halo|meta_io|metamorph_mpi|meta-minighost|meta-dot3d)'
found 'references of pages' "$(cd "$pages" && { printf './%s\n' man*/*.[137] && grep -H . man*/*.[137]; } | awk '
    /^\.\/man/ { sub(/.*\//, ""); there[$0] = 1; next }
    {
        file = $0
        sub(/:.*/, "", file)
        line = substr($0, length(file) + 2)
        gsub(/\\-/, "-", line)
        if (line ~ /^\.so /) refer(substr(line, 10))
        else if (line ~ /^\.BR [^ ]+ \([137]\)/) {
            split(line, word, " ")
            refer(word[2] "." substr(word[3], 2, 1))
        } else while (match(line, /\\fB[A-Za-z0-9_.-]+\\fP\([137]\)/)) {
            refer(substr(line, RSTART + 3, RLENGTH - 9) "." substr(line, RSTART + RLENGTH - 2, 1))
            line = substr(line, RSTART + RLENGTH)
        }
    }
    function refer(name) { ++count; from[name] = file }
    END {
        for (name in from) if (!(name in there)) print from[name] ": there is no " name
        if (count < 1000) print "only " count " were found"
    }' | grep -vE "$absent")"

# Where these are: ./check sees to it.
if command -v groff >/dev/null; then
    found 'groff' "$(cd "$pages" && groff -Kutf8 -man -ww -Tutf8 -z man*/*.[137] 2>&1 | head -n 20)"
else
    echo 'there is no groff here: pages were not formatted'
fi
if command -v mandoc >/dev/null; then
    found 'mandoc' "$(cd "$pages" && LC_ALL=C mandoc -Tlint -Wwarning man*/*.[137] 2>&1 |
        grep -vE '\.so is fragile|missing date|missing manual title' | head -n 20)"
fi
if command -v man >/dev/null; then
    for name in meta_alloc meta_copy_d2h META_ERR_BOUNDS META_CELLS meta.h metamorph_alloc \
        meta_dotProd make_slab_from_3d metamorph.h libmeta libmeta-env meta-info; do
        what="man $name"
        man -M "$pages" -w $name >out 2>err || broken 'finds no page'
    done
fi

# The program of libmeta(7).
what='the example of libmeta(7)'
awk '/^\.EE/ { on = 0 } on; /^\.EX/ { on = ++block == 2 }' "$pages/man7/libmeta.7" | sed 's/\\e/\\/g' >sum.c
cc=$(sed -n 's/^CC = //p' "$build/Makefile")
$cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$top/core" -I"$top/kernels" sum.c >out 2>err ||
    broken 'does not compile'
grep -q 'int main' sum.c || broken 'is missing'

# Options of programs, in the help and on the page.
for program in meta-info meta-kernel meta-plot-profile meta-bench meta-minighost meta-dot3d; do
    [ -e "$build/$program" ] || continue
    what="options of $program"
    "$build/$program" --help </dev/null >help 2>err || broken 'has no help'
    sed -n 's/^  *\(--*[a-zA-Z][a-z_0-9-]*\)\( .*\)*$/\1/p' help | sort -u >in_help
    sed -n '/^\.SH OPTIONS/,/^\.SH \(EXIT\|FIGURES\|NOTES\)/s/^\.BI* \(\\-[^ ]*\).*/\1/p' "$pages/man1/$program.1" |
        sed 's/\\-/-/g' | sort -u >on_page
    [ -s in_help ] || broken 'were not found in the help'
    diff in_help on_page >out || broken 'differ on the page'
done

# ------------------------------------------------------------------ what the generator refuses

awk=$(sed -n 's/^AWK = //p' "$build/Makefile")
# refused TEXT LINE…: a header of these lines, with that message.
refused()
{
    what="a header with: $2"
    text=$1
    shift
    mkdir -p made
    printf '%s\n' '/** @file bad.h' ' *  Seeded. */' "$@" >bad.h
    ! LC_ALL=C $awk -v version=0 -v folder=made -f "$top/doc/metamorph.awk" -f "$top/doc/manual.awk" bad.h calls.c >out 2>err ||
        broken 'was accepted'
    grep -qF "$text" err || broken "is not refused with: $text"
}
printf '%s\n' '/* EXAMPLE: meta_good */' 'meta_good(1);' '/* END OF EXAMPLE */' >calls.c
refused 'meta_bare has no comment' 'META_API int meta_bare(int a);'
refused 'META_BARE has no comment' '#define META_BARE 1'
refused 'meta_bad has no example' '/** Text. */' 'META_API meta_err meta_bad(int a);'
refused 'meta_good has no parameter b' '/** Text.' ' *  @param b  text */' 'META_API meta_err meta_good(int a);'
what='a sound header'
printf '%s\n' '/** @file good.h' ' *  Sound. */' '/** Text of @p a, in code: `x`.' ' *  @param a  text' \
    ' *  @return META_ERR_TYPE if so */' 'META_API meta_err meta_good(int a);' >good.h
LC_ALL=C $awk -v version=0 -v folder=made -f "$top/doc/metamorph.awk" -f "$top/doc/manual.awk" good.h calls.c >out 2>err || broken 'is refused'
for line in '^\.SH PARAMETERS' '^\.I a$' '^\.B META_ERR_TYPE' '^if so' '\\fBx\\fP' '^meta_good(1);'; do
    grep -q "$line" made/meta_good.3 || broken "has no line $line on the page"
done

# ------------------------------------------------------------------ the site

# doxygen LINE…: with further settings; its output is in out.
site()
{
    rm -rf html
    { cat "$build/doc/Doxyfile" && echo "OUTPUT_DIRECTORY = $here" && echo 'WARN_AS_ERROR = FAIL_ON_WARNINGS' &&
        printf '%s\n' "$@"; } >Doxyfile
    "$doxygen" Doxyfile >out 2>&1
}
doxygen=$(sed -n 's/^DOXYGEN = //p' "$build/Makefile")
if command -v "$doxygen" >/dev/null; then
    what='the site'
    site 'QUIET = YES' || broken 'has errors'
    ! grep . out >err || broken 'has warnings'
    found 'links of the site' "$(cd html && {
        grep -oE '\b(id|name)="[^"]*"' ./*.html | sed -E 's/^\.\/([^:]*):(id|name)="(.*)"$/id \1#\3/'
        find . -type f | sed 's/^\.\//id /'
        grep -oE '\b(href|src)="[^"]*"' ./*.html | sed -E 's/^\.\/([^:]*):(href|src)="(.*)"$/link \1 \3/'
    } | awk '
        $1 == "id" { there[$2] = 1; next }
        $3 ~ /^(https?|mailto|javascript):/ { next }
        { ++links; from[links] = $2; to[links] = $3 }
        END {
            for (k = 1; k <= links; ++k) {
                if (to[k] ~ /^#/) to[k] = from[k] to[k]
                if (!(to[k] in there) && to[k] !~ /#$/) print from[k] ": " to[k]
            }
            if (links < 1000) print "only " links " were found"
        }' | head -n 20)"
    what='the search of the site'
    cat html/search/*.js >found
    for name in $functions; do echo "'$name'"; done >wanted
    grep -oFf wanted found | sort -u | cmp -s - wanted || broken 'does not find every function'
    for guide in "$top"/doc/*.md; do
        what="the site: $guide"
        title=$(sed -n 's/^# //p' "$guide" | head -n 1 | sed "s/\`//g; s/'/\&#39;/g")
        grep -qF ">$title<" html/index.html html/pages.html || broken "no page is called $title"
    done
    what='a name without documentation'
    printf '/** @file bad.h\n *  Seeded. */\nint meta_bare(int a);\n' >bad.h
    ! site "INPUT += $here/bad.h" || broken 'is no error'
    grep -q 'meta_bare.*not documented' out || broken 'is not said'
    what='a link to no guide'
    # shellcheck disable=SC2016 # Markdown
    printf '# Bad\n\nSee `doc/nowhere.md`.\n' | cat - >bad.md
    sed -i '1i\
<!-- licence -->' bad.md
    ! site "INPUT += $here/bad.md" || broken 'is no error'
else
    echo "there is no $doxygen here: the site was not made"
fi

# ------------------------------------------------------------------ the cheat sheet

what='the cheat sheet'
for name in $(grep -oE '`meta_[a-z0-9_]+`' "$top/doc/cheat-sheet.md" | tr -d '`' | sort -u); do
    grep -qwE "META_API .*$name" "$top"/core/meta.h "$top"/core/library/*.h "$top"/kernels/meta_kernel.h "$top"/comm/*.h "$top"/io/*.h ||
        broken "has $name, which does not exist"
done
for name in $(grep -oE '\bMETA_[A-Z_]+\b' "$top/doc/cheat-sheet.md" | sort -u); do
    grep -rqw "$name" "$top/core/base/env.def" "$top/kernels" "$top/core/meta.h" ||
        broken "has $name, which does not exist"
done

# ------------------------------------------------------------------ meta-info --documents

what='meta-info --documents'
"$build/meta-info" --documents >out 2>err || broken 'fails'
"$build/meta-info" --json >all 2>err || broken 'fails with --json'
for entry in "readme $top/README.md" "cheat_sheet $top/doc/cheat-sheet.md" "guides $top/doc" "examples $top/examples" \
    "manual $build/.libs/share/man"; do
    path=$(realpath "${entry#* }")
    grep -qF " $path" out || broken "does not print $path"
    grep -q "\"${entry%% *}\": \"$path\"" all || broken "does not say ${entry%% *} as JSON"
done
grep -q '^    tutorial.md  *Porting an MPI code' out || broken 'has no titles'

[ $failed = 0 ] && echo "kept   $(echo "$functions" | wc -l) functions have pages"
exit $failed
