dnl SPDX-License-Identifier: BSD-3-Clause
dnl Libraries for file formats of libmeta_io.

dnl HDF5 is taken that was built for the same MPI, or for none, so that a program that uses HDF5 itself has
dnl one of them; that of another MPI would bring this along, and the process would have two.
AC_DEFUN([META_CHECK_HDF5], [
  META_PART_ARG([hdf5], [HDF5 files in libmeta_io])
  meta_hdf5=no meta_hdf5_reason="--with-hdf5=no" HDF5_CFLAGS= HDF5_LIBS= meta_hdf5_module=
  AS_IF([test "x$with_hdf5" = xno], [],
    [test $meta_mpi = no], [meta_hdf5_reason="only with MPI"], [
      META_LIST_MPIS([meta_own_mpis], [$MPI_LIBS], [#include <mpi.h>], [int is; MPI_Initialized(&is); return is;])
      meta_hdf5_reason="HDF5 1.10.5 or later for this MPI or without MPI not found (Debian: libhdf5-mpich-dev or libhdf5-openmpi-dev for Debian's MPIs, libhdf5-dev for others)"
      for meta_candidate in hdf5-$MPI_KIND hdf5 hdf5-serial; do
        AS_IF([test $meta_hdf5 = no && $PKG_CONFIG --exists "$meta_candidate" 2>/dev/null], [
          HDF5_CFLAGS=`$PKG_CONFIG --cflags-only-I "$meta_candidate"`
          HDF5_LIBS=
          for meta_word in `$PKG_CONFIG --libs "$meta_candidate"`; do
            AS_CASE([$meta_word], [-L*hdf5*], [HDF5_LIBS="$HDF5_LIBS $meta_word"])
          done
          HDF5_LIBS="$HDF5_LIBS -lhdf5"
          META_TRY_HDF5
        ])
      done
      AS_IF([test $meta_hdf5 = no], [HDF5_CFLAGS= HDF5_LIBS=-lhdf5 meta_candidate=
        META_TRY_HDF5])])
  META_PART_DECIDE([hdf5])
  AS_IF([test $meta_hdf5 = yes],
    [AC_DEFINE([HAVE_HDF5], [1], [HDF5 is there])], [HDF5_CFLAGS= HDF5_LIBS=])
  AC_SUBST([HDF5_CFLAGS])
  AC_SUBST([HDF5_LIBS])
  AM_CONDITIONAL([HAVE_HDF5], [test $meta_hdf5 = yes])
])

dnl META_LIST_MPIS(VARIABLE, LIBS, INCLUDES, BODY): MPI's libraries that a program linked with LIBS loads. None
dnl where ldd cannot tell, as for another machine's programs.
AC_DEFUN([META_LIST_MPIS], [
  meta_saved_libs=$LIBS meta_saved_cppflags=$CPPFLAGS meta_saved_ldflags=$LDFLAGS
  LIBS="$2 $LIBS" CPPFLAGS="$CPPFLAGS $HDF5_CFLAGS $MPI_CPPFLAGS" LDFLAGS="$LDFLAGS -Wl,--no-as-needed"
  $1= meta_folders=
  for meta_word in $2; do
    AS_CASE([$meta_word], [-L*], [meta_folders=$meta_folders`echo "$meta_word" | sed 's/^-L//'`:])
  done
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[$3]], [[$4]])],
    [$1=`LD_LIBRARY_PATH=$meta_folders$LD_LIBRARY_PATH ldd ./conftest$ac_exeext 2>/dev/null | sed -n 's/^@<:@@<:@:blank:@:>@@:>@*\(libmpi@<:@^ @:>@*\) .*/\1/p' | tr '\n' ' '`])
  LIBS=$meta_saved_libs CPPFLAGS=$meta_saved_cppflags LDFLAGS=$meta_saved_ldflags
])

AC_DEFUN([META_TRY_HDF5], [
  meta_saved=$LIBS meta_saved_flags=$CPPFLAGS
  LIBS="$HDF5_LIBS $MPI_LIBS $LIBS" CPPFLAGS="$CPPFLAGS $HDF5_CFLAGS $MPI_CPPFLAGS"
  AC_MSG_CHECKING([for HDF5 in ${meta_candidate:-no module:}$HDF5_LIBS])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <hdf5.h>
#if !H5_VERSION_GE(1, 10, 5)
#error too old
#endif
]], [[return H5open() < 0 || H5Dget_chunk_info_by_coord(-1, 0, 0, 0, 0) < 0;]])],
    [meta_hdf5=yes meta_hdf5_module=$meta_candidate])
  LIBS=$meta_saved CPPFLAGS=$meta_saved_flags
  meta_hdf5_result=$meta_hdf5
  AS_IF([test $meta_hdf5 = yes], [
    META_LIST_MPIS([meta_mpis], [$HDF5_LIBS $MPI_LIBS], [#include <hdf5.h>
#include <mpi.h>], [int is; MPI_Initialized(&is); return H5open() < is;])
    for meta_word in $meta_mpis; do
      AS_CASE([" $meta_own_mpis "], [*" $meta_word "*], [], [
        meta_hdf5=no meta_hdf5_module=
        meta_hdf5_result="no, it needs $meta_word of another MPI"
        meta_hdf5_reason="${meta_candidate:-libhdf5} needs $meta_word of another MPI than $MPICC; install HDF5 for this MPI or without MPI (Debian: libhdf5-dev)"])
    done])
  AC_MSG_RESULT([$meta_hdf5_result])
])
