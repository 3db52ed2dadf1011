#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Python package on ranks with different devices, where mpi4py is that of this MPI; where it is another one's, what
# is said of it is right, and the test is skipped.
# TEST: backends=any mpi=yes labels=comm,python
. "$META_TEST_SRCDIR/tests/programs.sh"
. "$META_TEST_SRCDIR/tests/python.sh"
need_opencl
if ! "$python" -c 'import mpi4py' 2>/dev/null; then
    [ "$META_TEST_MPI" != openmpi ] || { echo 'BROKEN: there is no mpi4py here (Debian: python3-mpi4py)'; exit 1; }
    echo "there is no mpi4py for $META_TEST_MPI here"
    exit 77
fi

# ranks MAP NUMBER SCRIPT ARGUMENT…: its output is in out.
ranks()
{
    map=$1 number=$2
    shift 2
    META_RANK_MAP=$map timeout 120 $META_TEST_MPIEXEC -n "$number" "$python" -m mpi4py "$@" >out 2>err </dev/null
    status=$?
}

what='the checks on ranks'
ranks '0:openmp,*:opencl' 2 "$src/tests/python_ranks.py"
if [ $status = 77 ]; then grep -m 1 'another MPI' out && exit 77; fi
[ $status = 0 ] || broken "status $status"
cat out
ranks '0:openmp,*:opencl' 3 "$src/tests/python_ranks.py"
[ $status = 0 ] || broken "status $status"
what='the example'
ranks '0:openmp,*:opencl' 2 "$src/examples/gray_scott.py" 25
alone=$(META_MODE=openmp "$python" "$src/examples/gray_scott.py" 25)
[ "$(cat out)" = "2${alone#1}" ] || broken "alone: $alone"
block() { awk -v first="\`\`\`python $1" '$0 == first { on = 1; next } /^```/ { on = 0 } on' "$src/doc/python.md"; }
what='the program of the guide'
block halo >halo.py
ranks '0:openmp,*:opencl' 2 halo.py
[ "$(cat out)" = 4096.000000 ] || broken 'has another sum'
grep -q libmeta err && broken 'is followed by warnings'
exit $failed
