dnl SPDX-License-Identifier: BSD-3-Clause
dnl The MPI that libmeta_comm is built with: its flags come from its compiler wrapper, its launcher is
dnl the one next to that wrapper. With two MPIs installed, anything else mixes them silently.

dnl META_MPI_TRY(WRAPPER, KIND): take the MPI behind the compiler wrapper WRAPPER if it works and is
dnl of KIND (mpich, openmpi or any). Sets meta_mpi=yes, or meta_mpi_reason.
AC_DEFUN([META_MPI_DEFINE_TRY], [
meta_mpi_try () {
  meta_wrapper=$[1] meta_kind=$[2]
  meta_path=`command -v "$meta_wrapper" 2>/dev/null`
  test -n "$meta_path" || return
  meta_line=`"$meta_path" -show 2>/dev/null` || meta_line=`"$meta_path" -showme 2>/dev/null` || {
    meta_mpi_reason="$meta_path does not answer -show"
    return
  }
  MPI_CPPFLAGS= MPI_CFLAGS= meta_paths= meta_libs=
  for meta_word in $meta_line; do
    case $meta_word in
      -I* | -D*) MPI_CPPFLAGS="$MPI_CPPFLAGS $meta_word" ;;
      -L*) meta_paths="$meta_paths $meta_word" ;;
      -l* | -Wl,*) meta_libs="$meta_libs $meta_word" ;;
      -pthread) MPI_CFLAGS="$MPI_CFLAGS $meta_word"; meta_libs="$meta_libs $meta_word" ;;
    esac
  done
  MPI_LIBS="$meta_paths$meta_libs"
  meta_saved_cppflags=$CPPFLAGS meta_saved_cflags=$CFLAGS meta_saved_libs=$LIBS
  CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS" CFLAGS="$CFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#if MPI_VERSION < 3
#error MPI 3 is needed
#endif
]], [[int size; MPI_Init(0, 0); MPI_Comm_size(MPI_COMM_WORLD, &size); return MPI_Finalize();]])],
    [meta_mpi_links=yes], [meta_mpi_links=no])
  MPI_KIND=other
  AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
#ifndef MPICH_VERSION
#error another one
#endif
]])], [MPI_KIND=mpich])
  AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
#ifndef OPEN_MPI
#error another one
#endif
]])], [MPI_KIND=openmpi])
  dnl The standard ABI of MPI 5, whose header defines this whichever MPI it comes with.
  AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
#ifndef MPI_ABI_VERSION
#error another one
#endif
]])], [MPI_KIND=abi])
  CPPFLAGS=$meta_saved_cppflags CFLAGS=$meta_saved_cflags LIBS=$meta_saved_libs
  if test $meta_mpi_links = no; then
    meta_mpi_reason="a program cannot be linked with the flags of $meta_path (MPI 3 or later is needed)"
    return
  fi
  if test $meta_kind != any && test $meta_kind != $MPI_KIND; then
    meta_mpi_reason="$meta_path belongs to another MPI ($MPI_KIND)"
    return
  fi
  meta_folder=${meta_path%/*} meta_suffix=${meta_path##*/mpicc}
  dnl One launcher serves an MPI's own ABI and the standard one.
  for meta_launcher in mpiexec mpirun; do
    for meta_program in $meta_launcher$meta_suffix $meta_launcher${meta_suffix%_abi}; do
      if test -z "$MPIEXEC" && test -x "$meta_folder/$meta_program"; then
        MPIEXEC=$meta_folder/$meta_program
      fi
    done
  done
  MPICC=$meta_path
  meta_mpi=yes
}
])

AC_DEFUN([META_CHECK_MPI], [
  AC_ARG_WITH([mpi],
    [AS_HELP_STRING([--with-mpi=mpich|openmpi|abi|DIR|no|auto],
      [the MPI that libmeta_comm and the applications are built with; abi is the standard ABI of MPI 5, by the mpicc_abi in PATH, and runs with every MPI that has a libmpi_abi.so; DIR/bin/mpicc, or DIR/bin/mpicc_abi alone, is that of an own installation; auto takes MPICH where there are several @<:@auto@:>@])],
    [], [with_mpi=auto])
  META_MPI_DEFINE_TRY
  meta_mpi=no meta_mpi_reason= MPICC= MPIEXEC= MPI_KIND=none
  AS_CASE([$with_mpi],
    [no], [meta_mpi_reason="--with-mpi=no"],
    [auto | yes], [
      AC_MSG_CHECKING([for MPI])
      for meta_candidate in mpicc.mpich:mpich mpicc:mpich mpicc:any mpicc.openmpi:openmpi; do
        test $meta_mpi = yes || meta_mpi_try `echo $meta_candidate | tr : ' '`
      done],
    [mpich | openmpi], [
      AC_MSG_CHECKING([for MPI ($with_mpi)])
      for meta_candidate in mpicc.$with_mpi mpicc; do
        test $meta_mpi = yes || meta_mpi_try $meta_candidate $with_mpi
      done],
    [abi], [
      AC_MSG_CHECKING([for MPI's standard ABI])
      for meta_candidate in mpicc_abi mpicc; do
        test $meta_mpi = yes || meta_mpi_try $meta_candidate abi
      done
      AS_IF([test -z "$meta_mpi_reason"], [meta_mpi_reason="neither mpicc_abi nor mpicc is in PATH"])],
    [AC_MSG_CHECKING([for MPI in $with_mpi])
     meta_candidate=mpicc
     AS_IF([test -x "$with_mpi/bin/mpicc" || test ! -x "$with_mpi/bin/mpicc_abi"], [], [meta_candidate=mpicc_abi])
     meta_mpi_try "$with_mpi/bin/$meta_candidate" any])
  AS_IF([test "x$with_mpi" != xno], [
    AS_IF([test $meta_mpi = yes], [AC_MSG_RESULT([$MPI_KIND ($MPICC)])], [
      AC_MSG_RESULT([no])
      AS_IF([test -z "$meta_mpi_reason"], [meta_mpi_reason="no mpicc found"])
      AS_IF([test "x$with_mpi" = xabi], [AC_MSG_ERROR([--with-mpi=abi: $meta_mpi_reason; put the folder of an mpicc_abi in PATH (MPICH 5.0 has one; pip install mpich, which puts it beside Python's programs)])])
      AS_IF([test "x$with_mpi" != xauto], [AC_MSG_ERROR([--with-mpi=$with_mpi: $meta_mpi_reason; install that MPI (Debian: mpich libmpich-dev, or openmpi-bin libopenmpi-dev) or give its folder with --with-mpi=DIR])])
    ])])
  AS_IF([test $meta_mpi = no], [MPI_CPPFLAGS= MPI_CFLAGS= MPI_LIBS= MPI_KIND=none])
  dnl GCC takes MPICH's MPI_STATUSES_IGNORE for an array that is too small.
  META_MPI_WARNINGS=
  AS_IF([test $MPI_KIND = mpich], [META_ADD_FLAG([META_MPI_WARNINGS], [-Wno-stringop-overflow])])
  AC_SUBST([META_MPI_WARNINGS])
  AC_ARG_ENABLE([mpi-names],
    [AS_HELP_STRING([--enable-mpi-names],
      [name the MPI in the names of the libraries that are linked with it, as libmeta_comm-mpich.so.0, so that those of several MPIs can be installed beside each other @<:@no@:>@])],
    [], [enable_mpi_names=no])
  META_MPI_RELEASE=
  AS_IF([test "x$enable_mpi_names" != xno && test $meta_mpi = yes], [META_MPI_RELEASE="-release $MPI_KIND"])
  AC_SUBST([META_MPI_RELEASE])
  AC_SUBST([MPI_CPPFLAGS])
  AC_SUBST([MPI_CFLAGS])
  AC_SUBST([MPI_LIBS])
  AC_SUBST([MPI_KIND])
  AC_SUBST([MPICC])
  AC_SUBST([MPIEXEC])
  AC_SUBST([with_mpi])
  AM_CONDITIONAL([HAVE_MPI], [test $meta_mpi = yes])
])
