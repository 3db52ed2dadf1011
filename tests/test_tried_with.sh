#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table of doc/tried-with.md: .ci/run runs what stands in the column "tested before each change", and where
# META_TEST_CI=1, as there, this machine has the versions.
# TEST: labels=documents
set -u
src=${META_TEST_SRCDIR:-.} build=${META_TEST_BUILDDIR:-.}
status=0
broken() { echo "BROKEN: $*"; status=1; }

# The lines "ROW|CELL" of the column, without empty cells.
cells=$(awk -F ' *[|] *' '
    /^[|] [|] tested before each change/ { on = 1; next }
    !/^[|]/ { on = 0 }
    on && $3 != "" && $3 !~ /^-+$/ { print $2 "|" $3 }' "$src/doc/tried-with.md")

# tried ROW 'TEXT' 'VERSION…' FILE:WORDS…: the cell is the text, in which each @ is a version; without comments, each file
# has the words, a basic regular expression, that make it so.
rows=0
tried()
{
    row=$1 text=$2 versions=$3 rows=$((rows + 1))
    shift 3
    cell=$(echo "$cells" | sed -n "s/^$row|//p")
    pattern=$(echo "$text" | sed -e 's/[].*[^$\]/\\&/g' -e 's/@/[0-9][0-9.]*/g')
    echo "$cell" | grep -q -x -e "$pattern" || broken "doc/tried-with.md, row '$row': it says '$cell', expected '$text'"
    for runs; do
        file=$src/${runs%%:*}
        [ -e "$file" ] || continue # a release has no .ci
        sed 's/^ *#.*//' "$file" | grep -q -e "${runs#*:}" ||
            broken "doc/tried-with.md has '$cell', but nothing in ${runs%%:*} is like '${runs#*:}'"
    done
    [ "${META_TEST_CI-}" = 1 ] || return
    for version in $versions; do text=$(echo "$text" | sed "s/@/$version/"); done
    [ "$cell" = "$text" ] || broken "doc/tried-with.md, row '$row': it says '$cell', and .ci/run runs '$text'"
}

# number PARTS COMMAND…: the first number with points that it prints, of so many parts.
number()
{
    parts=$1
    shift
    found=$("$@" 2>&1 </dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 | cut -d. -f"1-$parts")
    echo "${found:-missing}"
}
# made_with NAME: the value of a variable of the built Makefile.
made_with() { sed -n "s/^$1 = //p" "$build/Makefile" | head -n 1; }
# same A B: the one version of two compilers of a suite.
same() { if [ "$1" = "$2" ]; then echo "$1"; else echo "$1/$2"; fi; }

python=false
for name in "${PYTHON-}" python3 /usr/bin/python3; do # as tests/python.sh
    if [ -n "$name" ] && "$name" -c 'import numpy' 2>/dev/null; then python=$name && break; fi
done
package() { dpkg-query -W -f '${Version}\n' "$1"; }
platform() { "$build/meta-info" | sed -n 's/.*Portable Computing Language //p'; }
nvcc_release() { $(made_with NVCC) --version | grep release; }
system() { sed -n 's/^VERSION_ID="*\([0-9]*\)"*$/\1.0/p' /etc/os-release; }
# shellcheck disable=SC2046 # words of a command
gcc=$(number 2 $(made_with CC) -dumpfullversion)
cxx=$(number 2 c++ -dumpfullversion)
clang=$(same "$(number 1 clang --version)" "$(number 1 clang++ --version)")

tried 'system' 'Debian @' "$(number 1 system)" .ci/run:install_missing
tried 'processor' 'x86-64: baseline, AVX2 and AVX-512, as far as the machine has them' '' tests/tests.am:test_variants.sh
tried 'C compiler of libmeta' 'gcc @' "$gcc" .ci/run:'CC:-gcc'
tried 'compilers of kernels' 'gcc and g++ @; clang and clang++ @' "$(same "$gcc" "$cxx") $clang" \
    .ci/run:need_compilers tools/bootstrap.sh:'has_program c++' tools/bootstrap.sh:'has_program clang$' \
    tools/bootstrap.sh:'has_program clang++' tests/tests.am:test_user_compile.sh tests/tests.am:test_random_compilers.sh
tried 'Fortran compiler' 'gfortran @' "$(number 2 "$(made_with FC)" -dumpfullversion)" check:with-fortran=yes
tried 'MPI' 'MPICH @, Open MPI @, ranks on one node' "$(number 3 mpichversion) $(number 3 ompi_info --version)" \
    check:mpi=mpich .ci/run:openmpi
tried 'OpenCL' 'PoCL @ on the CPU, oclgrind @' "$(number 2 platform) $(number 2 oclgrind --version)" \
    tools/bootstrap.sh:pocl .ci/run:sanitize check:'need .oclgrind'
tried 'CUDA' "nvcc @ compiles the back end, its NVRTC kernels of programs; both run on a simulated device, which interprets PTX: neither machine code nor time nor NVIDIA's driver is tested by that" \
    "$(number 2 nvcc_release)" .ci/run:'die.*nvcc' .ci/run:META_TEST_CI=1 tests/tests.am:test_gpu_plugins \
    tests/tests.am:test_gpu_compilers tests/cuda/cuda.am:libcuda.la tests/ctest.awk:fake_cuda
tried 'HIP' "hipcc @ compiles the back end, its hipRTC kernels of programs; the back end loads" \
    "$(number 3 package hipcc)" .ci/run:need_compilers tools/bootstrap.sh:'has_program hipcc' .ci/run:META_TEST_CI=1
tried 'Python' '@ with NumPy; mpi4py @ with Open MPI' "$(number 2 "$python" --version) $(number 3 "$python" -c '
import importlib.metadata as m
print(m.version("mpi4py"))')" tools/bootstrap.sh:'NumPy and pip' tools/bootstrap.sh:'openmpi.*mpi4py'
tried 'Spack' "the recipe's functions, without Spack" '' tests/tests.am:test_packaging.sh
tried 'environment module' 'Environment Modules @' "$(number 3 modulecmd sh -V)" check:need_to_check \
    tools/bootstrap.sh:environment-modules
[ "$rows" = "$(echo "$cells" | wc -l)" ] || broken "doc/tried-with.md has other rows than the $rows that are known here: $cells"
[ $status = 0 ] && echo "kept   what doc/tried-with.md says is tested before each change is what .ci/run runs"
exit $status
