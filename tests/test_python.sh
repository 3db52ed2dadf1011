#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package in one process, against NumPy and the C headers.
# TEST: backends=openmp,opencl auto=yes labels=core,python
mode=${META_MODE-}
. "$META_TEST_SRCDIR/tests/programs.sh"
. "$META_TEST_SRCDIR/tests/python.sh"
[ -z "$mode" ] || export META_MODE="$mode"
[ "$mode" != opencl ] || need_opencl
"$build/tests/python_layout" >layout || exit 1
META_LOG=off "$python" "$src/tests/python_checks.py" "$here/layout"
