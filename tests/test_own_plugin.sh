#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Follows doc/plugins.md: compiles the installed example against the installed headers,
# and uses the back end.
# TEST: labels=documents
set -eu
top=$META_TEST_SRCDIR build=$META_TEST_BUILDDIR
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

MAKEFLAGS='' make -s -C "$build" install-pkgincludeHEADERS install-nodist_pkgconfigDATA \
    install-dist_examplesDATA prefix="$here/installed" >install.log 2>&1 || { cat install.log; exit 1; }
unset META_BACKEND_PATH META_MODE META_RANK_MAP

# pkg-config knows the place that libmeta was configured for; here it is another.
mkdir bin
real=$(command -v pkg-config)
printf '#!/bin/sh\nexec "%s" --define-variable=prefix="%s" "$@"\n' "$real" "$here/installed" \
    >bin/pkg-config
# With sanitizers a module needs the same ones, and so the same compiler.
test "${META_TEST_SANITIZE-no}" != yes || {
    compiler=$(sed -n 's/^CC = //p' "$build/Makefile")
    printf '#!/bin/sh\nexec %s -fsanitize=address,undefined "$@"\n' "$compiler" >bin/cc
}
chmod +x bin/*
PATH=$here/bin:$build:$PATH PKG_CONFIG_PATH=$here/installed/lib/pkgconfig
export PATH PKG_CONFIG_PATH

awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$top/doc/plugins.md" >commands
test -s commands || { echo "doc/plugins.md has no commands"; exit 1; }
. ./commands
grep -q '"plain"' plain.json || { echo "meta-info --json does not name plain"; cat plain.json; exit 1; }
echo "kept   the example of doc/plugins.md works"
