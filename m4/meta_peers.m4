dnl SPDX-License-Identifier: BSD-3-Clause
dnl The libraries of the peers: each back end's BLAS. A peer is built without its BLAS as well,
dnl because its other figures do not need one.

AC_DEFUN([META_CHECK_PEERS], [
  META_ADD_FLAG([META_PLAIN_LOOPS], [-fno-tree-loop-distribute-patterns])
  AC_SUBST([META_PLAIN_LOOPS])
  META_CHECK_BLAS
  META_CHECK_CLBLAST
  META_CHECK_CUBLAS
  META_CHECK_HIPBLAS
])

AC_DEFUN([META_CHECK_BLAS], [
  META_PART_ARG([blas], [OpenBLAS, the peer of the OpenMP back end])
  meta_blas=no meta_blas_reason="--with-blas=no" BLAS_CFLAGS= BLAS_LIBS= meta_blas_version=
  AS_IF([test "x$with_blas" != xno && test $meta_openmp = no],
    [meta_blas_reason="only with the OpenMP back end"],
    [test "x$with_blas" != xno], [
      PKG_CHECK_MODULES([BLAS], [openblas], [meta_blas_version=`$PKG_CONFIG --modversion openblas`],
        [BLAS_CFLAGS= BLAS_LIBS=-lopenblas])
      META_TRY_BLAS])
  META_PART_DECIDE([blas])
  AS_IF([test $meta_blas = yes], [AC_DEFINE_UNQUOTED([META_BLAS],
    ["OpenBLAS${meta_blas_version:+ $meta_blas_version}"], [the BLAS library of the OpenMP peer])],
    [BLAS_CFLAGS= BLAS_LIBS=])
])

AC_DEFUN([META_TRY_BLAS], [
  meta_saved=$LIBS meta_saved_flags=$CPPFLAGS
  LIBS="$BLAS_LIBS $LIBS" CPPFLAGS="$CPPFLAGS $BLAS_CFLAGS"
  AC_MSG_CHECKING([for cblas_ddot in $BLAS_LIBS])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cblas.h>]],
      [[double a = 1; return (int)cblas_ddot(1, &a, 1, &a, 1);]])],
    [meta_blas=yes], [meta_blas_reason="OpenBLAS not found (Debian: libopenblas-dev)"])
  AC_MSG_RESULT([$meta_blas])
  AS_IF([test $meta_blas = yes], [AC_CHECK_FUNCS([openblas_set_num_threads])])
  LIBS=$meta_saved CPPFLAGS=$meta_saved_flags
])

AC_DEFUN([META_CHECK_CLBLAST], [
  META_PART_ARG([clblast], [CLBlast, the peer of the OpenCL back end])
  meta_clblast=no meta_clblast_reason="--with-clblast=no" CLBLAST_CFLAGS= CLBLAST_LIBS=
  meta_clblast_version=
  AS_IF([test "x$with_clblast" != xno && test $meta_opencl = no],
    [meta_clblast_reason="only with the OpenCL back end"],
    [test "x$with_clblast" != xno], [
      PKG_CHECK_MODULES([CLBLAST], [clblast],
        [meta_clblast_version=`$PKG_CONFIG --modversion clblast`],
        [CLBLAST_CFLAGS= CLBLAST_LIBS=-lclblast])
      META_TRY_CLBLAST])
  META_PART_DECIDE([clblast])
  AS_IF([test $meta_clblast = yes], [AC_DEFINE_UNQUOTED([META_CLBLAST],
    ["CLBlast${meta_clblast_version:+ $meta_clblast_version}"], [the BLAS library of the OpenCL peer])],
    [CLBLAST_CFLAGS= CLBLAST_LIBS=])
])

AC_DEFUN([META_TRY_CLBLAST], [
  meta_saved=$LIBS meta_saved_flags=$CPPFLAGS
  LIBS="$CLBLAST_LIBS $OPENCL_LIBS $LIBS" CPPFLAGS="$CPPFLAGS $CLBLAST_CFLAGS"
  AC_MSG_CHECKING([for CLBlastDdot in $CLBLAST_LIBS])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
      #define CL_TARGET_OPENCL_VERSION 120
      #include <clblast_c.h>]],
      [[return CLBlastDdot(0, NULL, 0, NULL, 0, 1, NULL, 0, 1, NULL, NULL) == CLBlastSuccess;]])],
    [meta_clblast=yes], [meta_clblast_reason="CLBlast not found (Debian: libclblast-dev)"])
  AC_MSG_RESULT([$meta_clblast])
  LIBS=$meta_saved CPPFLAGS=$meta_saved_flags
])

dnl META_TRY_VENDOR(NAME, COMMAND, HEADER, FUNCTION, LIBS OF THE RUNTIME): set meta_NAME and NAME_LIBS.
dnl The library is found again at run time where it was found now.
AC_DEFUN([META_TRY_VENDOR], [
  AC_MSG_CHECKING([for $4 in -l$1])
  META_GPU_TRY([$2], [$3])
  meta_saved=$LIBS
  LIBS="$5 -l$1 $META_LIBS"
  AS_IF([test $meta_gpu_try = yes],
    [AC_LINK_IFELSE([AC_LANG_PROGRAM([[int $4(void *);]], [[return $4(0);]])],
      [meta_$1=yes
       m4_toupper($1)_LIBS="-l$1"
       for meta_word in $5; do
         AS_CASE([$meta_word], [-L*],
           [m4_toupper($1)_LIBS="$m4_toupper($1)_LIBS -R `echo "$meta_word" | sed 's/^-L//'`"])
       done])])
  LIBS=$meta_saved
  AC_MSG_RESULT([$meta_$1])
])

AC_DEFUN([META_CHECK_CUBLAS], [
  meta_cublas=no meta_cublas_reason="not found beside nvcc (NVIDIA: libcublas-dev)" CUBLAS_LIBS=
  AS_IF([test $meta_cuda = yes],
    [META_TRY_VENDOR([cublas], [$NVCC -std=c++17 $CUDA_CODE], [cublas_v2.h], [cublasCreate_v2], [$CUDA_LIBS])],
    [meta_cublas_reason="only with the CUDA back end"])
  CUBLAS_CPPFLAGS=
  AS_IF([test $meta_cublas = yes], [CUBLAS_CPPFLAGS=-DMETA_PEER_BLAS])
  AC_SUBST([CUBLAS_CPPFLAGS])
  AC_SUBST([CUBLAS_LIBS])
])

AC_DEFUN([META_CHECK_HIPBLAS], [
  meta_hipblas=no meta_hipblas_reason="not found beside hipcc (ROCm: hipblas-dev)" HIPBLAS_LIBS=
  AS_IF([test $meta_hip = no], [meta_hipblas_reason="only with the HIP back end"],
    [test "x$with_hip_cpu" != xno], [meta_hipblas_reason="HIP-CPU has none"],
    [META_TRY_VENDOR([hipblas], [$HIPCC -std=c++17 $HIP_CODE], [hipblas/hipblas.h], [hipblasCreate], [$HIP_LIBS])])
  HIPBLAS_CPPFLAGS=
  AS_IF([test $meta_hipblas = yes], [HIPBLAS_CPPFLAGS=-DMETA_PEER_BLAS])
  AC_SUBST([HIPBLAS_CPPFLAGS])
  AC_SUBST([HIPBLAS_LIBS])
])
