#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What configure takes for MPI's standard ABI, and an HDF5 of another MPI is not taken. This machine's MPI stands in for
# one of the standard ABI, two small libraries for HDF5.
# TEST: mpi=yes backends=any labels=build
. "$META_TEST_SRCDIR/tests/programs.sh"
src=$META_TEST_SRCDIR
: >out >err
cc=$(made_with CC)

mkdir -p mpi/bin mpi/include hdf5-abi hdf5-serial include pc
printf '#include_next <mpi.h>\n#undef MPICH_VERSION\n#undef OPEN_MPI\n#define MPI_ABI_VERSION 1\n' >mpi/include/mpi.h
printf '#!/bin/sh\necho cc -I%s/mpi/include %s %s\n' "$here" "$(made_with MPI_CPPFLAGS)" "$(made_with MPI_LIBS)" >mpi/bin/mpicc_abi
: >mpi/bin/mpiexec
chmod +x mpi/bin/*
printf '%s\n' '#define H5_VERSION_GE(a, b, c) 1' 'int H5open(void);' \
    'int H5Dget_chunk_info_by_coord(int, void *, void *, void *, void *);' >include/hdf5.h
printf '%s\n' '#include <hdf5.h>' 'int H5open(void) { return 0; }' \
    'int H5Dget_chunk_info_by_coord(int d, void *a, void *b, void *c, void *e) { return d + !a + !b + !c + !e; }' >hdf5.c
echo 'int MPI_other;' >other.c
$cc -shared -fPIC -Wl,-soname,libmpi_other.so.1 -o hdf5-abi/libmpi_other.so.1 other.c >out 2>err || broken 'libmpi_other'
for kind in abi serial; do
    # shellcheck disable=SC2046 # words of a command
    $cc -shared -fPIC -Iinclude -Wl,--no-as-needed -o hdf5-$kind/libhdf5.so hdf5.c \
        $([ $kind = serial ] || echo "-Wl,-rpath,$here/hdf5-abi hdf5-abi/libmpi_other.so.1") >out 2>err || broken "libhdf5, $kind"
    printf 'Name: HDF5\nDescription: %s\nVersion: 1\nCflags: -I%s/include\nLibs: -L%s/hdf5-%s -lhdf5\n' \
        $kind "$here" "$here" $kind >pc/hdf5-$kind.pc
done

# What the build's configure has found out about the compiler and the system.
sed -n '/^## Cache variables/,/^## Output variables/p' "$build/config.log" |
    grep -E '^(ac|am|lt|meta)_cv_' | grep -v '^ac_cv_env_' >cache

cp pc/hdf5-abi.pc pc/hdf5.pc # which may be this machine's MPI's

# configured NAME ARGUMENT…: without what takes time; its output is in out.
configured()
{
    what="configure $*"
    mkdir "$1" && cd "$1" || exit 1
    shift
    CC="$cc" PKG_CONFIG_PATH="$here/pc" "$src/configure" "$@" --cache-file=../cache --with-fortran=no --with-openmp=no \
        --with-opencl=no --with-cuda=no --with-hip=no --with-hwloc=no --with-jansson=no --with-blas=no >../out 2>../err
    status=$?
    cd .. || exit 1
}
PATH=$here/mpi/bin:$PATH configured taken --with-mpi=abi
[ $status = 0 ] || broken "status $status"
grep -q "checking for MPI's standard ABI... abi ($here/mpi/bin/mpicc_abi)" out || broken 'does not take mpicc_abi'
[ "$(sed -n 's/^MPIEXEC = //p' taken/Makefile)" = "$here/mpi/bin/mpiexec" ] || broken 'takes another launcher'
grep -q 'hdf5-abi.* no, it needs libmpi_other.so.1 of another MPI' out || broken 'does not refuse the HDF5 of another MPI'
grep -q 'HDF5 files  *yes  hdf5-serial' out || broken 'does not take the HDF5 without MPI'
if [ "$META_TEST_MPI" != abi ]; then
    rm mpi/include/mpi.h
    PATH=$here/mpi/bin:/usr/bin:/bin configured refused --with-mpi=abi
    [ $status = 0 ] && broken 'an MPI with an ABI of its own is no error'
    grep -q -e '--with-mpi=abi: .* belongs to another MPI (' err || broken 'does not say why'
fi
[ $failed = 0 ] && echo 'kept   configure takes one MPI'
exit $failed
