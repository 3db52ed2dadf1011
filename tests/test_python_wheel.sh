#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wheel that tools/make-wheel makes of this build needs nothing of it to be found, and which libmeta_comm the package
# takes for mpi4py's MPI. auditwheel, which no package of Debian 12 has, is not used.
# TEST: labels=python,documents
. "$META_TEST_SRCDIR/tests/programs.sh"
. "$META_TEST_SRCDIR/tests/python.sh"
: >out >err
unset LIBMETA
export PYTHON="$python"

what='a wrong call of make-wheel'
refused_with() { text=$1; shift; "$src/tools/make-wheel" "$@" >out 2>err && broken "$* is no error"; grep -q -e "$text" err || broken "does not say: $text"; }
refused_with 'no build folder is given'
refused_with 'unknown option --global' --global "$build"
refused_with "$here has no libmeta.la" --local "$here"
command -v auditwheel >/dev/null || refused_with 'there is no auditwheel in PATH' "$build"
[ "${META_TEST_MPI:-none}" = none ] || refused_with "has the same MPI as a build before it, $META_TEST_MPI" --local "$build" "$build"

what='the wheel'
"$src/tools/make-wheel" --local --output wheels "$build" >out 2>err || broken 'cannot be made'
wheel=$(cat out)
case $wheel in wheels/libmeta-*-py3-none-linux_*.whl) ;; *) broken "has the name '$wheel'" ;; esac
"$python" -m pip install -q --no-index --no-deps --target site --disable-pip-version-check \
    --root-user-action=ignore "$wheel" >out 2>err || broken 'cannot be installed'
export PYTHONPATH="$here/site"
"$python" -c 'import libmeta, libmeta._library as l; print(l._path, libmeta.device())' >out 2>err || broken 'cannot be imported'
grep -q "^$here/site/libmeta/lib/libmeta.so.0 " out || broken 'takes another library than its own'
block() { awk -v first="\`\`\`python $1" '$0 == first { on = 1; next } /^```/ { on = 0 } on' "$src/doc/python.md"; }
block first >first.py
META_LOG=info META_MODE=openmp "$python" first.py >out 2>err
[ "$(cat out)" = True ] || broken 'does not run the program of the guide'
grep -q "back end openmp: $here/site/libmeta/lib/libmeta/openmp.so" err || broken 'takes another back end than its own'

what='which libmeta_comm is taken'
"$python" - >out 2>err <<'END' || broken 'is wrong'
from libmeta._library import _mpi_kind


def kind(handle, vendor):
    return _mpi_kind(type("MPI", (), {"_handleof": staticmethod(lambda comm: comm), "COMM_WORLD": handle,
                                      "get_vendor": staticmethod(lambda: (vendor, (1, 0, 0)))}))


assert kind(0x44000000, "MPICH") == kind(0x44000000, "Intel MPI") == "mpich"
assert kind(0x7f1020304050, "Open MPI") == "openmpi"
assert kind(0x101, "MPICH") == kind(0x101, "Intel MPI") == kind(0x101, "Open MPI") == "abi"
END
if [ "${META_TEST_MPI:-none}" != none ] && "$python" -c 'import mpi4py' 2>/dev/null; then
    block halo >halo.py
    $META_TEST_MPIEXEC -n 2 "$python" -m mpi4py halo.py >out 2>err </dev/null
    [ "$(cat out)" = 4096.000000 ] || grep -q 'was built with another MPI\|was not found beside' err || broken 'the halo exchange of the guide has another sum'
fi
[ $failed = 0 ] && echo 'kept   a wheel of this build runs the programs of the guide'
exit $failed
