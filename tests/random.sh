# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the tests of random kernels: writes and compiles them, in a folder that is removed at exit.
# $build is the build folder, $seed the seed, $status what to exit with.
src=${META_TEST_SRCDIR:-.}
build=${META_TEST_BUILDDIR:-.}
seed=${META_TEST_SEED:-20151013}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
status=0

# The value of a variable of the built Makefile.
made_with() { sed -n "s/^$1 = //p" "$build/Makefile" 2>/dev/null | head -n 1; }
cc=$(made_with CC)
: "${cc:=cc}"
cxx=${CXX:-c++}
# What a random condition compares may be known from its type, or from the condition beside it, or be the
# complement of what was narrower.
strict='-Wall -Wextra -Werror -Wno-type-limits -Wno-tautological-compare -Wno-sign-compare'
include="-I$src/core -I$src/kernels -I$src/tests"
case ${META_TEST_SANITIZE:-no} in
yes) sanitize='-fsanitize=address,undefined' ;;
thread) sanitize='-fsanitize=thread' ;;
*) sanitize= ;;
esac

broken()
{
    echo "BROKEN: $1"
    status=1
}

# some FEW MANY: how many kernels; fewer where each is slow, many in a long run.
some()
{
    if [ "${META_TEST_BRIEF-}" = 1 ]; then echo 2
    elif [ "${META_TEST_LONG-}" = 1 ]; then echo "$2"
    elif [ "$sanitize" ]; then echo $(($1 / 4))
    else echo "$1"; fi
}

# generate FIRST COUNT [any-addends]: sets $files.
generate()
{
    mkdir "$here/text"
    # shellcheck disable=SC2086
    made=$("$build/tests/random_kernels" "$seed" "$1" "$2" "$here/text" ${3-}) || exit 1
    files=${made% *}
    echo "META_TEST_SEED=$seed: kernels $1 to $(($1 + $2 - 1)), ${made#* } with all their types"
    n=0
    while [ $n -lt "$files" ]; do
        # shellcheck disable=SC2086
        $cc -std=c11 -w -O1 -ffp-contract=off -fPIC $sanitize $include -c "$here/text/oracle_$n.c" \
            -o "$here/oracle_$n.o" || exit 1
        n=$((n + 1))
    done
    $cc -std=c11 -fPIC $include -c "$here/text/random_table.c" -o "$here/oracle_table.o" || exit 1
}

# compile OBJECT 'COMPILER FLAGS' [LINK FLAGS]: a shared object of all kernels and their oracles.
compile()
{
    n=0
    while [ $n -lt "$files" ]; do
        # shellcheck disable=SC2086
        if ! $2 $strict -fPIC $sanitize $include -c "$here/text/random_$n.c" -o "$here/random_$n.o" \
            >"$here/log" 2>&1; then
            broken "$2: random_$n.kernel.h does not compile without a warning"
            head -n 40 "$here/log"
            return 1
        fi
        n=$((n + 1))
    done
    # shellcheck disable=SC2086
    $2 ${3-} -shared $sanitize "$here"/random_*.o "$here"/oracle_*.o -o "$1" -lm >"$here/log" 2>&1 && return 0
    broken "$2: it does not link"
    head -n 40 "$here/log"
    return 1
}

# run OBJECT TITLE [SHAPES FILES]: on the device of META_MODE. Exits where there is none.
run()
{
    # shellcheck disable=SC2086
    "$build/tests/random_run" "$1" "$seed" ${3-} ${4-} >"$here/out" 2>&1
    case $? in
    0) tail -n 3 "$here/out" | sed -n "s| wrong\$|& ($2)|p" ;;
    77) cat "$here/out"
        exit 77 ;;
    *) broken "$2"
       cat "$here/out" ;;
    esac
}
