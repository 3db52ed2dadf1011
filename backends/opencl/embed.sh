#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# embed.sh OUTPUT.c FILE…: make a C file that holds the text of each FILE. The text of dir/name.h
# becomes the zero-terminated array ocl_text_name_h, byte by byte, as string literals may be no
# longer than 4095 characters.
set -eu

if test $# -lt 2; then
    echo "usage: embed.sh OUTPUT.c FILE..." >&2
    exit 2
fi
output=$1
shift
trap 'rm -f "$output.tmp"' EXIT
{
    echo '/* Made by embed.sh: the text of the kernels. */'
    echo '#include "opencl.h"'
    for file; do
        test -r "$file" || { echo "embed.sh: cannot read $file" >&2; exit 1; }
        name=$(basename "$file" | tr -c 'A-Za-z0-9\n' '_')
        echo
        echo "const unsigned char ocl_text_$name[] = {"
        LC_ALL=C od -An -v -tu1 "$file" | sed 's/  *\([0-9][0-9]*\)/\1,/g'
        echo '0};'
    done
} > "$output.tmp"
mv "$output.tmp" "$output"
