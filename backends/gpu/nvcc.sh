#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nvcc.sh NVCC ARGUMENT…: run NVCC with the flags of a C++ compiler, -f… and -W…, passed on to the
# one that it uses. libtool adds such, and swallows -Xcompiler; nvcc's own are given with two dashes.
set -eu

nvcc=$1
shift
count=$#
while [ "$count" -gt 0 ]; do
    case $1 in
        -f* | -W*) set -- "$@" -Xcompiler "$1" ;;
        *) set -- "$@" "$1" ;;
    esac
    shift
    count=$((count - 1))
done
exec "$nvcc" "$@"
