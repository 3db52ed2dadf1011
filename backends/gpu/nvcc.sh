#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nvcc.sh NVCC ARGUMENT…: run NVCC, passing host compiler flags, -f… and -W…, through with -Xcompiler=.
# libtool adds such flags, and would swallow an -Xcompiler of ours. nvcc's own flags that begin so are
# given with two dashes. ccache drops -Werror to preprocess, and an -Xcompiler before it would take the next word.
set -eu

nvcc=$1
shift
count=$#
while [ "$count" -gt 0 ]; do
    case $1 in
        -f* | -W*) set -- "$@" -Xcompiler="$1" ;;
        *) set -- "$@" "$1" ;;
    esac
    shift
    count=$((count - 1))
done
exec "$nvcc" "$@"
