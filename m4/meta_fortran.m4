dnl SPDX-License-Identifier: BSD-3-Clause
dnl The Fortran module: a Fortran 2003 compiler, its flags, and the folder of its .mod files, which
dnl are specific to the compiler.

AC_DEFUN([META_CHECK_FORTRAN], [
  META_PART_ARG([fortran], [the Fortran module])
  meta_fortran=no meta_fortran_reason="--with-fortran=no"
  meta_fortran_any=no meta_fortran_any_reason="only with the Fortran module"
  META_FCFLAGS= META_FC_ANY= META_FC_NAME=none FC_MODINC=-I FC_MODOUT= MPIFORT=
  AS_IF([test "x$with_fortran" != xno], [
    AS_IF([test -z "$FC"], [meta_fortran_reason="no Fortran compiler found (Debian: gfortran)"],
      [META_FORTRAN_TRY])])
  META_PART_DECIDE([fortran])
  AS_IF([test $meta_fortran = yes], [META_FORTRAN_FLAGS META_FORTRAN_ANY META_FORTRAN_MPI])
  AC_SUBST([META_FCFLAGS])
  AC_SUBST([META_FC_ANY])
  AC_SUBST([META_FC_NAME])
  AC_SUBST([META_FC_ID])
  AC_SUBST([FC_MODINC])
  AC_SUBST([FC_MODOUT])
  AC_SUBST([MPIFORT])
  AC_SUBST([OPENMP_FCFLAGS])
  META_FORTRAN_REQUIRES=libmeta META_FORTRAN_HAS_MPI=no
  AS_IF([test $meta_mpi = yes], [META_FORTRAN_REQUIRES=libmeta_comm META_FORTRAN_HAS_MPI=yes])
  AC_SUBST([META_FORTRAN_REQUIRES])
  AC_SUBST([META_FORTRAN_HAS_MPI])
  AM_CONDITIONAL([HAVE_FORTRAN], [test $meta_fortran = yes])
  AM_CONDITIONAL([HAVE_FORTRAN_ANY], [test $meta_fortran_any = yes])
])

dnl What the module needs of Fortran 2003, and that $FC says where modules go.
AC_DEFUN([META_FORTRAN_TRY], [
  AC_LANG_PUSH([Fortran])
  AC_FC_SRCEXT([f90])
  AC_FC_MODULE_FLAG([], [FC_MODINC=])
  AC_FC_MODULE_OUTPUT_FLAG([], [FC_MODOUT=])
  AC_MSG_CHECKING([whether $FC compiles the Fortran 2003 of module meta])
  AC_LINK_IFELSE([AC_LANG_SOURCE([[
module parts
    use, intrinsic :: iso_c_binding
    implicit none
    type :: reference
        type(c_ptr) :: address = c_null_ptr
    contains
        final :: reference_final
    end type
    type :: buffer
        private
        type(reference), allocatable :: ref
        procedure(), pointer, nopass :: work => null()
        class(*), pointer :: with => null()
    contains
        procedure, private :: assign
        generic :: assignment(=) => assign
    end type
contains
    subroutine reference_final(ref)
        type(reference), intent(inout) :: ref
        ref%address = c_null_ptr
    end subroutine
    elemental subroutine assign(lhs, rhs)
        class(buffer), intent(inout) :: lhs
        type(buffer), intent(in) :: rhs
        if (allocated(rhs%ref) .and. .not. allocated(lhs%ref)) allocate (lhs%ref)
    end subroutine
end module
program test
    use parts
    type(buffer) :: a, b
    a = b
end program
]])], [meta_fortran=yes],
    [meta_fortran_reason="$FC does not compile the Fortran 2003 of the module; see config.log"])
  AC_MSG_RESULT([$meta_fortran])
  rm -f parts.mod PARTS.mod
  AC_LANG_POP([Fortran])
  AS_IF([test $meta_fortran = yes && { test -z "$FC_MODINC" || test -z "$FC_MODOUT"; }],
    [meta_fortran=no meta_fortran_reason="$FC has no known option for where .mod files are"])
  dnl When cross-compiling, autoconf also takes a compiler for this machine.
  AS_IF([test $meta_fortran = yes && test "x$cross_compiling" = xyes], [
    meta_fc_machine=`$FC -dumpmachine 2>/dev/null` meta_cc_machine=`$CC -dumpmachine 2>/dev/null`
    AS_IF([test "x$meta_fc_machine" != "x$meta_cc_machine"],
      [meta_fortran=no meta_fortran_reason="$FC compiles for $meta_fc_machine, $CC for $meta_cc_machine"])])
])

dnl META_ADD_FC_FLAG(VARIABLE, FLAG)
AC_DEFUN([META_ADD_FC_FLAG], [
  AS_VAR_PUSHDEF([known], [meta_cv_fc_flag_$2])
  AC_CACHE_CHECK([whether $FC takes $2], [known], [
    AC_LANG_PUSH([Fortran])
    meta_saved=$FCFLAGS
    FCFLAGS="$FCFLAGS $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
      [AS_VAR_SET([known], [yes])], [AS_VAR_SET([known], [no])])
    FCFLAGS=$meta_saved
    AC_LANG_POP([Fortran])
  ])
  AS_VAR_IF([known], [yes], [AS_VAR_APPEND([$1], [" $2"])])
  AS_VAR_POPDEF([known])
])

dnl Strict Fortran 2003, and the name of the folder of the .mod files: compilers change their format
dnl with a version.
AC_DEFUN([META_FORTRAN_FLAGS], [
  META_FC_STRICT=
  META_ADD_FC_FLAG([META_FC_STRICT], [-std=f2003])
  META_ADD_FC_FLAG([META_FC_STRICT], [-pedantic])
  dnl An array that is not allocated is to reach us, with the null pointer that is its address.
  AS_IF([test "x$enable_sanitize" != xno], [
    META_FCFLAGS=$META_SANITIZE
    META_ADD_FC_FLAG([META_FCFLAGS], [-fno-sanitize=null])
  ])
  META_ADD_FC_FLAG([META_FCFLAGS], [-Wall])
  META_ADD_FC_FLAG([META_FCFLAGS], [-Wextra])
  AS_IF([test "x$enable_werror" = xyes], [META_ADD_FC_FLAG([META_FCFLAGS], [-Werror])])
  AC_SUBST([META_FC_STRICT])
  dnl Kernels, as those in C.
  META_FC_CONTRACT=
  META_ADD_FC_FLAG([META_FC_CONTRACT], [-ffp-contract=off])
  AC_SUBST([META_FC_CONTRACT])
  AS_IF([test $meta_openmp = yes], [
    AC_LANG_PUSH([Fortran])
    AC_OPENMP
    AC_LANG_POP([Fortran])
  ])
  dnl Tests compare what must have the same bits.
  META_FC_COMPARES=
  META_ADD_FC_FLAG([META_FC_COMPARES], [-Wno-compare-reals])
  AC_SUBST([META_FC_COMPARES])
  META_FC_NAME=`basename "$FC" | sed 's/@<:@^A-Za-z0-9_+.-@:>@/_/g'`
  AS_IF([test "x$ac_cv_fc_compiler_gnu" = xyes],
    [META_FC_NAME=gfortran-`$FC -dumpversion | sed 's/\..*//'`])
  AS_CASE([$META_FC_NAME], [gfortran-1@<:@3-9@:>@*],
    [AC_MSG_WARN([$META_FC_NAME: a type with components of type(meta_buffer) needs an assignment(=) of its own (doc/fortran.md, Buffers)])])
  dnl What CMake calls it; empty where that is not known here.
  META_FC_ID=
  AS_CASE([x$ac_cv_fc_compiler_gnu:$META_FC_NAME], [xyes:*], [META_FC_ID=GNU], [*:ifx*], [META_FC_ID=IntelLLVM],
    [*:ifort*], [META_FC_ID=Intel], [*:nvfortran*], [META_FC_ID=NVHPC], [*:flang-new*], [META_FC_ID=LLVMFlang],
    [*:nagfor*], [META_FC_ID=NAG])
])

AC_DEFUN([META_FORTRAN_ANY], [
  META_ADD_FC_FLAG([META_FC_ANY], [-std=f2018])
  meta_fortran_any_reason="$FC has no type(*), dimension(..)"
  AC_LANG_PUSH([Fortran])
  meta_saved=$FCFLAGS
  FCFLAGS="$FCFLAGS $META_FC_ANY"
  AC_MSG_CHECKING([whether $FC takes type(*), dimension(..)])
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
module any
    implicit none
    interface
        subroutine describe(a) bind(c)
            type(*), intent(in) :: a(..)
        end subroutine
    end interface
contains
    subroutine give(a)
        type(*), intent(in), target :: a(..)
        call describe(a)
    end subroutine
end module
]])], [meta_fortran_any=yes])
  AC_MSG_RESULT([$meta_fortran_any])
  rm -f any.mod ANY.mod
  FCFLAGS=$meta_saved
  AC_LANG_POP([Fortran])
  AS_IF([test $meta_fortran_any = yes], [
    AC_CHECK_HEADER([ISO_Fortran_binding.h], [],
      [meta_fortran_any=no
       meta_fortran_any_reason="$CC does not find ISO_Fortran_binding.h"])])
])

dnl The compiler wrapper for programs that use mpi, of the MPI that libmeta_comm is built with.
AC_DEFUN([META_FORTRAN_MPI], [
  AS_IF([test $meta_mpi = yes], [
    meta_folder=${MPICC%/*} meta_suffix=${MPICC@%:@@%:@*/mpicc}
    AS_IF([test -x "$meta_folder/mpifort$meta_suffix"],
      [MPIFORT=$meta_folder/mpifort$meta_suffix])])
])
