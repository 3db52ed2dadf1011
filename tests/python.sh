# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the tests of the Python package, behind programs.sh: $python is an interpreter with NumPy, which finds the
# package of this source tree and the library of this build.
src=$META_TEST_SRCDIR
python=
for name in "${PYTHON-}" python3 /usr/bin/python3; do
    if [ -n "$name" ] && "$name" -c 'import numpy' 2>/dev/null; then python=$name && break; fi
done
[ -n "$python" ] || { echo 'BROKEN: no Python here has NumPy (Debian: python3-numpy)'; exit 1; }
export PYTHONPATH="$src/python" LIBMETA="$build/.libs" PYTHONDONTWRITEBYTECODE=1
