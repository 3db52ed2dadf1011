dnl SPDX-License-Identifier: BSD-3-Clause
dnl Libraries for image and compressed file output of the applications and of libmeta_io.

dnl META_PICTURE_LIBRARY(NAME, VARIABLE, MODULE, DEBIAN, WHAT): the option --with-NAME, HAVE_VARIABLE,
dnl VARIABLE_CFLAGS and VARIABLE_LIBS.
AC_DEFUN([META_PICTURE_LIBRARY], [
  META_PART_ARG([$1], [$5])
  meta_$1=no meta_$1_reason="--with-$1=no"
  AS_IF([test "x$with_$1" != xno], [
    PKG_CHECK_MODULES([$2], [$3], [meta_$1=yes], [meta_$1_reason="$3 not found (Debian: $4)"])])
  META_PART_DECIDE([$1])
  AS_IF([test $meta_$1 = yes], [AC_DEFINE([HAVE_$2], [1], [$3 is there])])
  AM_CONDITIONAL([HAVE_$2], [test $meta_$1 = yes])
])

AC_DEFUN([META_CHECK_PICTURES], [
  META_PICTURE_LIBRARY([zlib], [ZLIB], [zlib], [zlib1g-dev], [compress the files for VTK])
  META_PICTURE_LIBRARY([png], [PNG], [libpng >= 1.6], [libpng-dev], [pictures of the grid])
])
