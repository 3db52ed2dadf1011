#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The library is installed, below the build folder, for the tests that use it as programs do. Alone, since libtool
# then relinks in place the libraries that tests run with.
# TEST: labels=build alone=yes setup=install
build=$META_TEST_BUILDDIR
installed=$build/tests/installed
rm -rf "$installed"
MAKEFLAGS='' make -s -C "$build" install DESTDIR="$installed" || exit 1
prefix=$installed$(sed -n 's/^prefix=//p' "$build/core/libmeta.pc")
LD_LIBRARY_PATH=$prefix/lib "$prefix/bin/meta-info" --version || exit 1
echo "kept   the library is installed, and runs there"
