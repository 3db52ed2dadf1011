#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nvcc.sh NVCC ARGUMENT…: run NVCC as libtool would run a C compiler, whose flags nvcc only passes on.
set -eu

nvcc=$1
shift
count=$#
while [ "$count" -gt 0 ]; do
    case $1 in
        -fPIC | -fpic) set -- "$@" -Xcompiler "$1" ;;
        *) set -- "$@" "$1" ;;
    esac
    shift
    count=$((count - 1))
done
exec "$nvcc" "$@"
