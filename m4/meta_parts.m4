dnl SPDX-License-Identifier: BSD-3-Clause
dnl The optional parts of libmeta, each yes, no or auto, and their summary.

dnl META_PART_ARG(NAME, WHAT): the option --with-NAME=yes|no|auto.
AC_DEFUN([META_PART_ARG], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=yes|no|auto], [$2 @<:@auto@:>@])], [], [with_$1=auto])
  AS_CASE([$with_$1], [yes | no | auto], [],
    [AC_MSG_ERROR([--with-$1=$with_$1: the value is yes, no or auto])])
])

dnl META_PART_DECIDE(NAME): after meta_NAME=yes|no and meta_NAME_reason were set, fail if the user
dnl requested a part that is not available.
AC_DEFUN([META_PART_DECIDE], [
  AS_IF([test "x$with_$1" = xyes && test "x$meta_$1" = xno],
    [AC_MSG_ERROR([--with-$1=yes: $meta_$1_reason])])
])

AC_DEFUN([META_CHECK_HWLOC], [
  META_PART_ARG([hwloc], [learn from hwloc which cores a process may use])
  meta_hwloc=no meta_hwloc_reason="--with-hwloc=no"
  AS_IF([test "x$with_hwloc" != xno], [
    PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0], [meta_hwloc=yes],
      [meta_hwloc_reason="hwloc 2 not found (Debian: libhwloc-dev)"])])
  META_PART_DECIDE([hwloc])
  AS_IF([test $meta_hwloc = yes], [AC_DEFINE([HAVE_HWLOC], [1], [hwloc 2 is there])])
])

AC_DEFUN([META_CHECK_OPENMP], [
  META_PART_ARG([openmp], [the OpenMP back end])
  meta_openmp=no meta_openmp_reason="--with-openmp=no"
  AS_IF([test "x$with_openmp" != xno], [
    AC_OPENMP
    AS_IF([test "x$ac_cv_prog_c_openmp" = xunsupported || test "x$enable_openmp" = xno],
      [meta_openmp_reason="$CC has no OpenMP"], [meta_openmp=yes])])
  META_PART_DECIDE([openmp])
  META_CONTRACT=
  META_ADD_FLAG([META_CONTRACT], [-ffp-contract=off])
  AC_SUBST([META_CONTRACT])
  AC_CACHE_CHECK([whether $CC makes AVX2 and AVX-512 code and asks the processor for them], [meta_cv_x86_variants], [
    meta_saved=$CFLAGS
    CFLAGS="$CFLAGS -mavx2 -mfma -mavx512f -mavx512vl -mavx512bw -mavx512dq"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [[__builtin_cpu_init(); return __builtin_cpu_supports("avx512f");]])],
      [meta_cv_x86_variants=yes], [meta_cv_x86_variants=no])
    CFLAGS=$meta_saved])
  AS_IF([test $meta_cv_x86_variants = yes],
    [AC_DEFINE([HAVE_X86_VARIANTS], [1], [the kernels are there for AVX2 and AVX-512 as well])])
  AM_CONDITIONAL([X86_VARIANTS], [test $meta_cv_x86_variants = yes])
  AC_CACHE_CHECK([whether $CC makes SVE code for vectors of 256 and 512 bits], [meta_cv_sve_variants], [
    meta_saved=$CFLAGS
    meta_cv_sve_variants=yes
    for meta_bits in 256 512; do
      CFLAGS="$meta_saved -Werror -march=armv8.2-a+sve -msve-vector-bits=$meta_bits"
      AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <sys/prctl.h>
#if !defined __ARM_FEATURE_SVE_BITS || __ARM_FEATURE_SVE_BITS < 256
#error "no vectors of a known width"
#endif
]], [[return prctl(PR_SVE_GET_VL);]])], [], [meta_cv_sve_variants=no])
    done
    CFLAGS=$meta_saved])
  AS_IF([test $meta_cv_sve_variants = yes],
    [AC_DEFINE([HAVE_SVE_VARIANTS], [1], [the kernels are there for SVE of 256 and 512 bits as well])])
  dnl GCC 12 adds the second half of a masked loop's sums to the first half's memory where the width is fixed.
  META_SVE=-march=armv8.2-a+sve
  META_ADD_FLAG([META_SVE], [--param=vect-partial-vector-usage=0])
  AC_SUBST([META_SVE])
  AM_CONDITIONAL([SVE_VARIANTS], [test $meta_cv_sve_variants = yes])
  AM_CONDITIONAL([HAVE_OPENMP], [test $meta_openmp = yes])
])

AC_DEFUN([META_CHECK_OPENCL], [
  META_PART_ARG([opencl], [the OpenCL back end])
  meta_opencl=no meta_opencl_reason="--with-opencl=no" OPENCL_LIBS=
  AS_IF([test "x$with_opencl" != xno], [
    AC_CHECK_HEADER([CL/cl.h], [
      AC_CHECK_LIB([OpenCL], [clEnqueueNDRangeKernel], [meta_opencl=yes OPENCL_LIBS=-lOpenCL],
        [meta_opencl_reason="no OpenCL loader found (Debian: ocl-icd-opencl-dev)"])],
      [meta_opencl_reason="CL/cl.h not found (Debian: opencl-headers ocl-icd-opencl-dev)"],
      [#define CL_TARGET_OPENCL_VERSION 120])])
  META_PART_DECIDE([opencl])
  AC_SUBST([OPENCL_LIBS])
  AM_CONDITIONAL([HAVE_OPENCL], [test $meta_opencl = yes])
])

AC_DEFUN([META_CHECK_TESTING], [
  AC_ARG_VAR([CTEST], [the ctest program that make check runs])
  AC_CHECK_PROG([CTEST], [ctest], [ctest])
  AC_ARG_VAR([EMULATOR], [the command that runs the programs of the tests, built for another machine, as qemu-aarch64])
  AC_ARG_VAR([CTEST_ARGS], [further arguments that make check gives ctest, as -L smoke])
  meta_check=yes
  AS_IF([test -z "$CTEST"], [meta_check=no meta_check_reason="no ctest found (Debian: cmake)"])
  AC_CHECK_PROG([OCLGRIND], [oclgrind], [oclgrind])
  META_PART_ARG([jansson], [tests that read JSON])
  meta_jansson=no meta_jansson_reason="--with-jansson=no"
  AS_IF([test "x$with_jansson" != xno], [
    PKG_CHECK_MODULES([JANSSON], [jansson], [meta_jansson=yes],
      [meta_jansson_reason="jansson not found (Debian: libjansson-dev)"])])
  META_PART_DECIDE([jansson])
  AM_CONDITIONAL([HAVE_JANSSON], [test $meta_jansson = yes])
])

dnl The site of documents, which make html makes. Its files are many, so they get a folder of their own.
AC_DEFUN([META_CHECK_DOCUMENTS], [
  AS_IF([test "x$htmldir" = 'x${docdir}'], [htmldir='${docdir}/html'])
  AC_ARG_VAR([DOXYGEN], [the doxygen program that make html runs])
  AS_IF([test -z "$DOXYGEN"], [DOXYGEN=doxygen])
  meta_html=yes
  AS_IF([command -v "$DOXYGEN" >/dev/null 2>&1], [],
    [meta_html=no meta_html_reason="no doxygen found (Debian: doxygen)"])
  META_DOXYGEN_WARNINGS=NO
  AS_IF([test "x$enable_werror" = xyes], [META_DOXYGEN_WARNINGS=FAIL_ON_WARNINGS])
  AC_SUBST([META_DOXYGEN_WARNINGS])
])

dnl META_LINE(TITLE, NAME, DETAIL): one line of the summary.
AC_DEFUN([META_LINE], [
  AS_IF([test "x$meta_$2" = xyes],
    [printf '  %-28s yes  %s\n' "$1" "$3"],
    [printf '  %-28s no   %s\n' "$1" "$meta_$2_reason"])])

AC_DEFUN([META_SUMMARY], [
  meta_always=yes
  meta_sanitize=yes meta_sanitize_reason="--enable-sanitize not given"
  AS_IF([test "x$enable_sanitize" = xno], [meta_sanitize=no])
  echo
  echo "libmeta $PACKAGE_VERSION, to be installed in $prefix"
  META_LINE([libmeta, meta-info], [always], [$CC $META_OPTIMIZE $CFLAGS])
  META_LINE([cores from hwloc], [hwloc], [])
  META_LINE([libmeta_comm, applications], [mpi], [$MPI_KIND, $MPICC])
  META_LINE([files: libmeta_io], [mpi], [])
  META_LINE([HDF5 files], [hdf5], [$meta_hdf5_module])
  META_LINE([OpenMP back end], [openmp], [$OPENMP_CFLAGS])
  META_LINE([OpenCL back end], [opencl], [$OPENCL_LIBS])
  META_LINE([OpenBLAS to compare with], [blas], [$BLAS_LIBS])
  META_LINE([CLBlast to compare with], [clblast], [$CLBLAST_LIBS])
  META_LINE([CUDA back end], [cuda], [$meta_cuda_arch])
  AS_IF([test $meta_cuda = yes], [META_LINE([cuBLAS to compare with], [cublas], [$CUBLAS_LIBS])])
  META_LINE([HIP back end], [hip], [$meta_hip_with])
  AS_IF([test $meta_hip = yes], [META_LINE([hipBLAS to compare with], [hipblas], [$HIPBLAS_LIBS])])
  META_LINE([pictures by libpng], [png], [$PNG_LIBS])
  META_LINE([compression by zlib], [zlib], [$ZLIB_LIBS])
  META_LINE([Fortran module], [fortran], [$FC $META_FC_OPTIMIZE $FCFLAGS])
  META_LINE([Fortran module meta_any], [fortran_any], [])
  META_LINE([make check], [check], [${MPIEXEC:+ranks under $MPIEXEC}])
  META_LINE([tests of JSON], [jansson], [])
  META_LINE([tests of CUDA without a GPU], [fake_cuda], [])
  META_LINE([make html], [html], [by $DOXYGEN])
  META_LINE([sanitizers], [sanitize], [$meta_sanitizers])
  echo
])
