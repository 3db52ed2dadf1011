#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What libraries export is what the last release exported (abi/): no public symbol or type is missing or changed
# unless the soname is another one. Changed baselines show that tools/abi finds what it is to find.
# TEST: labels=core,build,mpi
set -u
src=$META_TEST_SRCDIR build=$META_TEST_BUILDDIR
for tool in abidw abidiff; do
    command -v $tool >/dev/null && continue
    [ -z "${META_TEST_REQUIRE_TOOLS-}" ] || { echo "BROKEN: there is no $tool here (Debian: abigail-tools)"; exit 1; }
    echo "skipped libraries_export_what_the_last_release_did"
    echo "no $tool here (Debian: abigail-tools)"
    exit 77
done
case $(uname -m) in x86_64) ;; *) echo "skipped libraries_export_what_the_last_release_did"
    echo 'the baseline is for x86-64'; exit 77 ;; esac
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
status=0
"$src/tools/abi" check "$build" || status=1

# compared STATUS WHAT TEXT SED-COMMAND: with a baseline changed so, check ends with the status, and says the text.
compared()
{
    rm -rf "$here/abi"
    mkdir "$here/abi"
    sed "$4" "$src/abi/libmeta.abi" >"$here/abi/libmeta.abi"
    ! cmp -s "$src/abi/libmeta.abi" "$here/abi/libmeta.abi" ||
        { echo "BROKEN $2: the baseline has no such line"; status=1; }
    "$src/tools/abi" check --baseline "$here/abi" "$build" >"$here/out" 2>&1
    got=$?
    [ $got = "$1" ] && grep -q -e "$3" "$here/out" && return
    cat "$here/out"
    echo "BROKEN $2: status $got, expected $1 and the words: $3"
    status=1
}
compared 1 'a removed function' 'its soname is still libmeta.so' 's/meta_axpy\([^a-z]\)/meta_axpyz\1/g'
compared 0 'a new function' 'no baseline' \
    '/symbol name=.meta_axpy. /d; /<function-decl name=.meta_axpy. /,/<.function-decl>/d'
compared 1 'another version of a symbol' 'its soname is still' "s/version='LIBMETA_0'/version='LIBMETA_OLD'/"
compared 1 'a parameter of another type' 'its soname is still' \
    "/<function-decl name='meta_free'/,/function-decl>/s/<parameter type-id='[^']*'/<parameter type-id='95e97e5e'/"
compared 1 'a structure of another size' 'its soname is still' "s/\(name='meta_box' size-in-bits='\)[0-9]*/\1640/"
compared 0 'a structure that says its size with a member more at its end' 'no baseline' \
    "s/\(name='meta_pool_desc' size-in-bits='\)[0-9]*/\1512/; /layout-offset-in-bits='512'>/{N;/'returned'/{N;d}}"
compared 1 'a structure that says its size with a member more in its middle' 'its soname is still' \
    "/layout-offset-in-bits='384'>/{N;/'reused'/{N;d}}"
compared 1 'a structure without a size with a member more at its end' 'its soname is still' \
    "s/\(name='meta_event' size-in-bits='\)[0-9]*/\132/; /layout-offset-in-bits='32'>/{N;/'generation'/{N;d}}"
compared 1 'an enumerator of another value' 'its soname is still' "s/\(name='META_ERR_BOUNDS' value='\)4/\177/"
compared 0 'a new enumerator' 'no baseline' \
    "/name='META_ERR_UNSUPPORTED'/d; s/\(name='META_ERR_COUNT' value='\)21/\120/"
compared 0 'another soname' 'anything may have' \
    "s/soname='libmeta.so.0'/soname='libmeta.so.9'/; s/meta_axpy\([^a-z]\)/meta_axpyz\1/g"

[ $status = 0 ] && echo 'kept   libraries export what the last release did'
exit $status
