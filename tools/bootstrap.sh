# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Shared by ./demo, ./check and .ci/run: find missing dependencies, install them, configure, make.
# To be sourced by bash from the top of the source tree.

missing_what=() missing_packages=()

die() { printf '%s\n' "$@" >&2; exit 2; }
step() { printf '== %s\n' "$*"; }

# need WHAT PACKAGES TEST…: PACKAGES (of Debian) are wanted unless the command TEST succeeds.
needs=()
need() { needs+=("$1|$2|${*:3}"); }

has_program() { command -v "$1" >/dev/null 2>&1; }
has_header() { echo "#include <$1>" | ${CC:-gcc} -E -o /dev/null - >/dev/null 2>&1; }
has_library()
{
    echo 'int main(void) { return 0; }' |
        ${CC:-gcc} -x c -o /dev/null - "-l$1" >/dev/null 2>&1
}
has_opencl() { has_header CL/cl.h && has_library OpenCL; }
# Some OpenCL device: any driver that the loader will find.
has_opencl_driver()
{
    [ -n "${OCL_ICD_VENDORS-}" ] || compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null
}
has_matplotlib() { has_python matplotlib; }
# has_python MODULE…: some Python has all of them.
has_python()
{
    local modules
    modules=$(IFS=,; echo "$*")
    python3 -c "import $modules" 2>/dev/null || /usr/bin/python3 -c "import $modules" 2>/dev/null
}
has_nvcc() { has_program "${NVCC:-nvcc}" || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; }
has_chromium() { has_program chromium-headless-shell || has_program chromium || has_program google-chrome; }
has_pybuild() { has_program pybuild && has_program py3versions && /usr/bin/python3 -c "import build, installer" 2>/dev/null; }
has_readers() { has_python h5py numpy vtk; }
# has_module NAME: of pkg-config.
has_module() { pkg-config --exists "$1"; }
# has_mpi KIND: a compiler wrapper of that MPI that finds mpi.h, which Debian's may be installed without, and its launcher.
has_mpi()
{
    if has_program "mpicc.$1"; then
        has_program "mpiexec.$1" && echo '#include <mpi.h>' | "mpicc.$1" -E -o /dev/null - >/dev/null 2>&1
        return
    fi
    has_program mpicc && has_program mpiexec &&
        printf '#include <mpi.h>\nMPICH_VERSION OPEN_MPI\n' | mpicc -E - 2>/dev/null | tail -n 1 |
        case $1 in mpich) grep -qv '^MPICH_VERSION' ;; *) grep -qv 'OPEN_MPI$' ;; esac
}

need_to_build()
{
    need 'a C compiler' 'gcc libc6-dev' has_header stdlib.h
    need 'make' 'make' has_program make
    need 'autoconf' 'autoconf' has_program autoreconf
    need 'automake' 'automake' has_program automake
    need 'libtool' 'libtool' has_program libtoolize
    need 'pkg-config' 'pkg-config' has_program pkg-config
    need 'an OpenCL loader and its headers' 'ocl-icd-opencl-dev opencl-headers' has_opencl
    need 'an OpenCL driver (PoCL)' 'pocl-opencl-icd' has_opencl_driver
    need 'hwloc' 'libhwloc-dev' has_header hwloc.h
    case $1 in
        mpich) need 'MPICH' 'mpich libmpich-dev' has_mpi mpich ;;
        openmpi) need 'Open MPI' 'openmpi-bin libopenmpi-dev' has_mpi openmpi ;;
    esac
}
need_to_check()
{
    need_to_build "$1"
    need 'ctest' 'cmake' has_program ctest
    need 'a Fortran compiler' 'gfortran' has_program "${FC:-gfortran}"
    need 'jansson' 'libjansson-dev' has_header jansson.h
    need 'matplotlib' 'python3-matplotlib' has_matplotlib
    need 'Chromium' 'chromium-headless-shell' has_chromium
    need 'NumPy and pip of one Python' 'python3-numpy python3-pip python3-setuptools python3-wheel' \
        has_python numpy setuptools wheel pip
    # Debian's is Open MPI's.
    [ "$1" != openmpi ] || need 'mpi4py' 'python3-mpi4py' has_python numpy mpi4py
    need 'groff' 'groff-base' has_program groff
    need 'doxygen' 'doxygen' has_program "${DOXYGEN:-doxygen}"
    need 'libpng' 'libpng-dev' has_header png.h
    need 'zlib' 'zlib1g-dev' has_header zlib.h
    need 'OpenBLAS' 'libopenblas-dev' has_library openblas
    need 'HDF5' "libhdf5-$1-dev" has_module "hdf5-$1"
    need 'NumPy, h5py and VTK' 'python3-numpy python3-h5py python3-vtk9' has_readers
    need 'CLBlast' 'libclblast-dev' has_header clblast_c.h
    need 'abidiff' 'abigail-tools' has_program abidiff
    need 'Environment Modules' 'environment-modules' has_program modulecmd
    need 'git' 'git' has_program git
    need 'locales' 'locales' test -f /usr/share/i18n/locales/de_DE
    # The tests' fake CUDA decompresses what nvcc compiled.
    ! has_nvcc || need 'zstd' 'libzstd-dev' has_header zstd.h
}
need_packages()
{
    need 'debhelper' 'debhelper' has_program dh
    need 'lintian' 'lintian' has_program lintian
    need 'pybuild' 'dh-python pybuild-plugin-pyproject python3-all' has_pybuild
}
# Those that tests use where they are. nvcc is in no package of Debian's main archive.
need_compilers()
{
    need 'hipcc' 'hipcc' has_program hipcc
    need 'a C++ compiler' 'g++' has_program c++
    need 'clang' 'clang' has_program clang
    need 'clang++' 'clang' has_program clang++
}

# For tests/test_aarch64.sh; on such a machine the other tests say as much.
need_aarch64()
{
    [ "$(uname -m)" != aarch64 ] || return 0
    need 'a compiler for aarch64' 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross' has_program aarch64-linux-gnu-gcc
    need 'qemu for programs of aarch64' 'qemu-user' has_program qemu-aarch64
}

# Whether the folder is HIP-CPU rather than HIP for GPUs, whose headers have the same names.
is_hip_cpu() { grep -qs "define __HIP_CPU_RT__" "$1/include/hip/hip_runtime.h"; }
# HIP-CPU is header-only; it needs a C++ compiler and TBB.
need_hip_cpu()
{
    need 'a C++ compiler' 'g++' has_program g++
    need 'TBB' 'libtbb-dev' has_library tbb
}

# Fill missing_what and missing_packages.
look()
{
    local entry what packages test
    missing_what=() missing_packages=()
    for entry in "${needs[@]}"; do
        IFS='|' read -r what packages test <<<"$entry"
        # shellcheck disable=SC2086 # words of a command
        $test && continue
        missing_what+=("$what (Debian: $packages)")
        read -ra packages <<<"$packages"
        missing_packages+=("${packages[@]}")
    done
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

say_missing()
{
    printf 'This is missing here:\n' >&2
    printf '  %s\n' "${missing_what[@]}" >&2
    printf '%s\n' "$@" >&2
    exit 2
}

# Install the missing packages, or report them and exit.
install_missing()
{
    look
    [ ${#missing_what[@]} = 0 ] && return
    has_program apt-get ||
        say_missing 'There is no apt-get here: install these as this system does, then start again.'
    [ "$(id -u)" = 0 ] || has_program sudo ||
        say_missing 'You are not root and there is no sudo: let the administrator run' \
            "  apt-get install ${missing_packages[*]}"
    step "installing ${missing_packages[*]}"
    as_root apt-get update -q >/dev/null ||
        echo 'apt-get update failed; trying with the lists at hand' >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        "${missing_packages[@]}" </dev/null >/dev/null ||
        say_missing "apt-get install ${missing_packages[*]}  failed; its messages are above."
    local asked=${missing_packages[*]}
    hash -r
    look
    [ ${#missing_what[@]} = 0 ] ||
        say_missing "though apt-get installed $asked: is another one in the way?"
}

# quietly LOG COMMAND…: print its output only if it fails.
quietly()
{
    local log=$1
    shift
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 60 "$log" >&2
    printf '%s failed; all of its output is in %s\n' "$1" "$log" >&2
    return 1
}

# Regenerate the configure script if it is older than its sources.
generate()
{
    local stamp=build-aux/generated
    if [ -f $stamp ] && [ -f configure ] && [ -f Makefile.in ] &&
        [ -z "$(find configure.ac Makefile.am m4/meta_*.m4 ./*/*.am ./*/*/*.am -newer $stamp)" ]
    then return; fi
    step 'generating configure'
    mkdir -p build-aux
    quietly build-aux/autoreconf.log autoreconf -i && touch $stamp
}

# configure_in DIR ARGUMENTS…: unless already configured with these arguments.
configure_in()
{
    local dir=$1 given
    shift
    given="$*"
    generate || return
    mkdir -p "$dir"
    [ -f "$dir/Makefile" ] && [ "$(cat "$dir/configured-with" 2>/dev/null)" = "$given" ] && return
    step "configuring $dir with $given"
    rm -f "$dir/configured-with"
    if [ -f "$dir/Makefile" ]; then make -C "$dir" clean >/dev/null 2>&1; fi
    (cd "$dir" && quietly configure.log ../configure "$@") || return
    sed -n '/^libmeta .*to be installed/,$p' "$dir/configure.log"
    echo "$given" >"$dir/configured-with"
}

# make_in DIR TARGET…: build the targets in order; several in one word are built together.
make_in()
{
    local dir=$1 target
    shift
    step "building in $dir"
    for target in "$@"; do
        # shellcheck disable=SC2086 # words of a list
        make -s -C "$dir" -j"$(getconf _NPROCESSORS_ONLN)" $target </dev/null || return
    done
}

# The launcher that belongs to the MPI of a build folder.
launcher_of() { sed -n 's/^MPIEXEC = //p' "$1/Makefile"; }
