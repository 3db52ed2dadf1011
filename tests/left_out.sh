#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# left_out.sh RELEASE: fails where a libmeta-VERSION.tar.gz lacks files of the repository, also those that
# `make distcheck` does not compile, as what needs a GPU's compiler. Outside a repository there is nothing to compare.
set -u
src=$(cd "$(dirname "$0")/.." && pwd)
files=$(git -C "$src" ls-files 2>/dev/null) && [ -n "$files" ] || exit 0
released=$(tar tf "$1") || exit 1
left_out=$(echo "$files" | grep -v -x -e '\.ci/.*' -e '\.gitignore' |
    { echo "$released" | sed 's,^[^/]*/,,' >"$1.files"; grep -v -x -F -f "$1.files"; })
rm -f "$1.files"
[ -z "$left_out" ] || { echo "BROKEN: the release lacks files of the repository:" $left_out; exit 1; }
