#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The examples, installed with the library, are built by the Makefile and the CMakeLists.txt beside
# them, and compute what their serial versions do: on every back end and on mixed ranks; a sample has each back end
# alone and beside the other, and each number of ranks.
# TEST: backends=any mpi=yes labels=documents needs=install
. "$META_TEST_SRCDIR/tests/programs.sh"
need_opencl
unset LD_LIBRARY_PATH

prefix=$build/tests/installed$(sed -n 's/^prefix=//p' "$build/core/libmeta.pc")
examples=$prefix/share/doc/libmeta/examples
export LD_LIBRARY_PATH="$prefix/lib"

# pkg-config knows the place that libmeta was configured for; here it is another.
mkdir bin
real=$(command -v pkg-config)
printf '#!/bin/sh\nexec "%s" --define-variable=prefix="%s" "$@"\n' "$real" "$prefix" >bin/pkg-config
chmod +x bin/pkg-config
PATH=$here/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PATH PKG_CONFIG_PATH
flags='-O2 -Wall -Wextra -Werror'
# Kernels for other instruction sets come from the same lines, and take most of the compiler's time, optimized most of all.
[ "${META_TEST_LONG-}" = 1 ] || flags='-O1 -Wall -Wextra -Werror -DMETA_KERNEL_ONE_VARIANT -DMETA_KERNEL_PROGRAM_LEVEL'
[ "${META_TEST_SANITIZE-no}" != yes ] || flags="$flags -fsanitize=address,undefined"

what='make in a folder of its own'
mkdir made
MAKEFLAGS='' make -s -C made -f "$examples/Makefile" CC="${CC:-cc}" CFLAGS="$flags" >out 2>err ||
    broken 'fails'
mpifort=$(sed -n 's/^MPIFORT = //p' "$build/Makefile")
if [ -n "$mpifort" ]; then
    what='make of the examples in Fortran'
    MAKEFLAGS='' make -s -C made -f "$examples/Makefile" CC="${CC:-cc}" CFLAGS="$flags" FC="$mpifort" \
        FFLAGS="$flags -Wno-compare-reals" shallow_water euler_fortran >out 2>err || broken 'fails'
fi
if command -v cmake >/dev/null; then
    what='cmake'
    # Hardly optimized: what CMake does is of interest.
    { cmake -S "$examples" -B cmade -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS="$flags -O1 -DMETA_KERNEL_PROGRAM_LEVEL" \
        ${mpifort:+"-DCMAKE_Fortran_COMPILER=$mpifort"} && cmake --build cmade; } >out 2>err ||
        broken 'fails'
    [ -z "$mpifort" ] || { [ -x cmade/shallow_water ] && [ -x cmade/euler_fortran ]; } ||
        broken 'leaves an example in Fortran out'
fi
[ $failed = 0 ] || exit 1

# each_checked FOLDER RANKS: every example on so many ranks.
each_checked()
{
    in_fortran=
    [ ! -x "$here/$1/shallow_water" ] || in_fortran='shallow_water 30'
    for example in 'axpy 10 3000' cg 'cyclic_reduction 9' 'gray_scott 30' 'heat 30' 'particles 30' 'teams 90' \
        ${in_fortran:+"$in_fortran"}; do
        name=${example%% *} steps=${example#"$name"}
        # shellcheck disable=SC2086
        ran 0 "$2" "$here/$1/$name" --check $steps
        last_line 'wrong cells: 0'
    done
}
# checked FOLDER MAP RANKS: on these devices.
checked()
{
    META_RANK_MAP=$2
    export META_RANK_MAP
    each_checked "$1" "$3"
    unset META_RANK_MAP
}
# ran STATUS RANKS PROGRAM ARGUMENT…: run(), of a program that is not in the build folder.
ran() { (build=; run "$@"; exit $failed) || failed=1; }

if [ "${META_TEST_LONG-}" = 1 ]; then
    for map in '*:openmp' '*:opencl' '0:openmp,*:opencl' '0:opencl,*:openmp'; do
        for ranks in 1 2 3; do
            case $ranks$map in 1*,*) continue ;; esac
            checked made "$map" "$ranks"
        done
    done
else
    checked made '*:openmp' 3
    checked made '*:opencl' 1
    checked made '0:opencl,*:openmp' 2
fi
[ ! -d cmade ] || checked cmade '0:openmp,*:opencl' "$(few 3 2)"

# Devices chosen for each call, at random: OpenMP and OpenCL, these and a GPU, and OpenMP and simulated devices.
(
    META_MODE=auto META_POLICY=random:5 META_AUTO_DEVICES=openmp,opencl
    export META_MODE META_POLICY META_AUTO_DEVICES
    each_checked made 2
    for gpu in cuda hip; do
        "$prefix/bin/meta-info" 2>/dev/null | grep -q "^  $gpu  *usable" || continue
        META_AUTO_DEVICES=openmp,opencl,$gpu
        each_checked made 2
    done
    META_AUTO_DEVICES=openmp,sim META_BACKEND_PATH=$build/tests/plugins/.libs
    META_TEST_SIM='one launch=8us rate=20G latency=5us bandwidth=10G; two peer=20G; three peer=20G'
    export META_AUTO_DEVICES META_BACKEND_PATH META_TEST_SIM
    each_checked made 2
    exit $failed
) || failed=1

# On a simulated device of NVIDIA (tests/cuda/), which interprets their kernels, alone and beside OpenMP.
fake=$build/tests/cuda/.libs
if [ -e "$fake/cuda.so" ]; then
    (
        META_BACKEND_PATH=$fake FAKE_CUDA_THREADS=1 FAKE_CUDA_LAZY=1
        export META_BACKEND_PATH FAKE_CUDA_THREADS FAKE_CUDA_LAZY
        checked made '*:cuda' 1
        checked made '0:cuda,*:openmp' 2
        exit $failed
    ) || failed=1
fi

# The plain twins of the examples for META_MODE=auto, and their command lines.
for example in axpy cyclic_reduction; do
    ran 0 1 "$here/made/$example" --plain --check 9
    last_line 'wrong cells: 0'
    ran 0 1 "$here/made/$example" --help
    grep -q '^usage: ' out || broken 'has no help'
    ran 2 1 "$here/made/$example" --unknown
    grep -q "there is no option '--unknown'" err || broken 'accepts an unknown option'
    ran 2 1 "$here/made/$example" 0
    grep -q "not '0'" err || broken 'accepts 0'
done

# cg takes the grid's size.
ran 0 2 "$here/made/cg" --check 12
last_line 'wrong cells: 0'
ran 2 2 "$here/made/cg" --check 7
grep -q 'CELLS from 8' err || broken 'accepts a grid of 7^3 cells'

# tools/plot-devices runs them on each device and with META_MODE=auto, and draws what it has measured.
python=
for candidate in ${META_TEST_PYTHON-} python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import matplotlib' 2>/dev/null || python=$candidate
done
# plot STATUS ARGUMENT…: its output is then in out and err.
plot()
{
    want=$1
    shift
    what="plot-devices $*"
    "${python:-python3}" "$META_TEST_SRCDIR/tools/plot-devices" --examples made --programs "$build" "$@" \
        >out 2>err </dev/null
    got=$?
    [ "$got" = "$want" ] || broken "exit status $got, expected $want"
    ! grep -q Traceback err || broken 'a trace of Python'
}
if command -v "${python:-python3}" >/dev/null; then
    plot 0 --no-plot --repeat 1 --axpy 100,1000 --cyclic 5 --cg 8 --minighost 8 --out devices
    [ "$(grep -c '"seconds"' devices/runs.jsonl)" = 18 ] || broken 'some runs are missing'
    [ "$(grep -c ', the best device alone$' devices/summary.txt)" = 5 ] || broken 'the summary is not whole'
    plot 2 --cases axpi
    grep -q "'axpi' is none of" err || broken 'accepts a case that does not exist'
    plot 2 --examples . --out none
    grep -q 'there is no program axpy in \.; --examples' err || broken 'does not say which program is missing'
    plot 1 --no-plot --repeat 1 --cases axpy --axpy 100 --devices no-such --out none
    grep -q 'axpy of 100, no-such: exit status' err || broken 'does not say which run has failed'
fi
if [ -n "$python" ]; then
    plot 0 --replot --out devices
    for case in axpy cyclic cg minighost; do
        grep -q '</svg>' devices/$case.svg || broken "$case.svg is not whole"
    done
fi

# A wrong cell is found: the same program with another serial computation.
sed 's/wall = 1,/wall = 1, other = 1.5,/; s/8 \* wall/8 * other/' "$examples/heat.c" >heat.c
cp "$examples/heat.kernel.h" "$examples/Makefile" .
MAKEFLAGS='' make -s CC="${CC:-cc}" CFLAGS="$flags" heat >out 2>err || broken 'fails'
ran 1 2 "$here/heat" --check 5
grep -q '^wrong cells: [1-9]' out || broken 'does not say how many cells are wrong'

[ $failed = 0 ] && echo 'every example computes what its serial version does'
exit $failed
