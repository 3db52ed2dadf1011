#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual page libmeta-env(7) has every environment variable that the libraries and tools read, and no
# other; documents and tests name no META_ variable that does not exist.
# TEST: labels=core,documents smoke=yes
src=${META_TEST_SRCDIR:-.}
build=${META_TEST_BUILDDIR:-.}
status=0
broken() { echo "BROKEN: $*"; status=1; }

# The names that a pattern finds behind the word and the quotation mark that begin it.
sources() { find "$src/core" "$src/comm" "$src/backends" "$src/peers" "$src/apps" "$src/bench" "$src/tools" -name '*.[ch]' -o -name '*.cpp'; }
named() { sources | xargs grep -hoE "$1" | sed 's/.*"\([A-Z_]*\)"*$/\1/' | sort -u; }
read_here=$(named '(getenv|variable|variable_switch|number_in)\("[A-Z_]+')
# Those that are read by way of a table.
in_tables=$(named '"(CUDA|HIP|MPI_LOCALN|OMPI_COMM|PMI|POCL|ROCM|SLURM)_?[A-Z]*_[A-Z_]*[A-Z]"' | grep -v VISIBLE) # which a message names
listed=$(sed -n 's/^META_VARIABLE(\([A-Z_]*\),.*/\1/p' "$src/core/base/env.def" | sort -u)
page=$build/doc/libmeta-env.7
[ -s "$page" ] || { echo "BROKEN: there is no $page"; exit 1; }
set -- $read_here $in_tables
[ $# -gt 30 ] || broken "only $# variables were found in the sources"
for name in "$@" $listed; do
    grep -qE "^\.BR? .*\b$name\b" "$page" || broken "$name is read, and libmeta-env(7) has not got it"
done
for name in $(sed -n 's/^\.BR* \([A-Z_ ,]*\).*/\1/p' "$page" | tr -d ,); do
    sources | xargs grep -qE "\"$name\"" || [ "$name" = META_TEST_REQUIRE_BACKENDS ] ||
        broken "libmeta-env(7) has $name, which nothing reads"
done
# One function reads the environment, so that none of it is followed in a setuid process. What a launcher says of its
# processes names no code.
for file in $(find "$src/core" "$src/comm" "$src/backends" -name '*.[ch]' -o -name '*.cpp' | xargs grep -lE '\bgetenv *\('); do
    case ${file#"$src"/} in
        core/base/env.c | comm/life/launcher.c) ;;
        *) broken "$file reads the environment by getenv(): use meta_variable(), which finds nothing in a setuid process" ;;
    esac
done
for file in "$src"/README.md "$src"/CONTRIBUTING.md "$src"/doc/*.md "$src"/doc/design/*.md; do
    for name in $(grep -oE '\bMETA_[A-Z_]+=' "$file" | tr -d = | sort -u); do
        case $name in META_TEST_*) grep -rqw "$name" "$src/tests" "$src/check" && continue ;; esac
        echo "$listed" | grep -qx "$name" || broken "$file sets $name, which does not exist"
    done
done
# A test that sets a variable which nothing reads tests something else than it says. Names in quotation marks are those of
# constants too. Two are there to be unknown, one is part of a text; variables of make come from configure.
tests() { find "$src/tests" "$src/check" -type f -name "$1" | grep -v '/test_variables\.sh$'; }
constants() { find "$src/core" "$src/comm" "$src/io" "$src/backends" "$src/kernels" -name '*.h'; }
read_by_tests=$({
    { tests '*.c'; tests '*.cpp'; } | xargs grep -hoE '(getenv\(|asked\(|define [A-Z_]+ +)"META_[A-Z_]+"'
    { tests '*.sh'; tests '*.py'; tests '*.awk'; tests check; } |
        xargs grep -hoE '(\$(ENV)?\{?|environ.{0,8})META_TEST_[A-Z_]+'
} | grep -oE 'META_[A-Z_]+' | sort -u)
set_by_tests=$({
    { tests '*.c'; tests '*.h'; tests '*.cpp'; } | xargs grep -hoE '"META_[A-Z_]+["=]'
    { tests '*.sh'; tests '*.py'; tests '*.awk'; tests check; } | xargs grep -hoE '\bMETA_[A-Z_]+='
} | grep -oE 'META_[A-Z_]+' | sort -u)
[ "$(echo "$set_by_tests" | wc -l)" -gt 40 ] || broken "hardly any variable was found in the tests"
identifiers=$(constants | xargs grep -hoE '\bMETA_[A-Z_]+' | sort -u)
for name in $set_by_tests; do
    case $name in META_MODEE | META_TEST_ANYTHING | META_NATIVE_OF) continue ;; esac
    ! grep -qrE "AC_SUBST\(\[$name\]" "$src/configure.ac" "$src/m4" || continue
    printf '%s\n' "$listed" "$read_by_tests" "$identifiers" | grep -qx "$name" ||
        broken "$(grep -rlw "$name" "$src/tests" "$src/check" | head -3 | tr '\n' ' ')sets $name, which nothing reads"
done
[ $status = 0 ] && echo "kept   the manual page has all $(echo "$listed" | wc -l) variables of libmeta, and the others that it reads"
exit $status
