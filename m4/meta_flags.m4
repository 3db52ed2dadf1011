dnl SPDX-License-Identifier: BSD-3-Clause
dnl Compiler and linker flags of libmeta's own objects.

dnl META_ADD_FLAG(VARIABLE, FLAG): append FLAG to VARIABLE if the compiler accepts it.
AC_DEFUN([META_ADD_FLAG], [
  AS_VAR_PUSHDEF([known], [meta_cv_flag_$2])
  AC_CACHE_CHECK([whether $CC takes $2], [known], [
    meta_saved=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [AS_VAR_SET([known], [yes])], [AS_VAR_SET([known], [no])])
    CFLAGS=$meta_saved
  ])
  AS_VAR_IF([known], [yes], [AS_VAR_APPEND([$1], [" $2"])])
  AS_VAR_POPDEF([known])
])

AC_DEFUN([META_COMPILER_FLAGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat warnings in libmeta's own code as errors])],
    [], [enable_werror=no])
  AC_ARG_ENABLE([sanitize],
    [AS_HELP_STRING([--enable-sanitize],
      [build everything with AddressSanitizer and UndefinedBehaviorSanitizer, for tests;
       --enable-sanitize=thread: with ThreadSanitizer])],
    [], [enable_sanitize=no])

  AC_ARG_ENABLE([native],
    [AS_HELP_STRING([--disable-native],
      [compile the plain loops that meta-bench compares with for any machine, as packages need it,
       not for this one])],
    [], [enable_native=yes])
  META_NATIVE=
  AS_IF([test "x$enable_native" != xno], [META_ADD_FLAG([META_NATIVE], [-march=native])])
  AC_SUBST([META_NATIVE])

  dnl Which programs' compilers do not see warnings of (pragma system_header).
  META_WARNINGS=-DMETA_JUDGE_HEADERS
  META_ADD_FLAG([META_WARNINGS], [-Wall])
  META_ADD_FLAG([META_WARNINGS], [-Wextra])
  META_ADD_FLAG([META_WARNINGS], [-Wshadow])
  META_ADD_FLAG([META_WARNINGS], [-Wconversion])
  META_ADD_FLAG([META_WARNINGS], [-Wvla])
  META_ADD_FLAG([META_WARNINGS], [-Wstrict-prototypes])
  AS_IF([test "x$enable_werror" = xyes], [AS_VAR_APPEND([META_WARNINGS], [" -Werror"])])
  AC_SUBST([META_WARNINGS])

  META_CODE=
  META_ADD_FLAG([META_CODE], [-fvisibility=hidden])
  dnl gcc for x86-64 sets small structures to zero by "rep stos", which takes several times as long.
  META_ADD_FLAG([META_CODE], [-mmemset-strategy=unrolled_loop:96:noalign,libcall:-1:noalign])
  dnl Calls a function at the beginning of each basic block, for what fuzz targets read with.
  META_EDGES=
  META_ADD_FLAG([META_EDGES], [-fsanitize-coverage=trace-pc])
  AC_SUBST([META_EDGES])
  META_SANITIZE=
  META_AVX512='-mavx512f -mavx512vl -mavx512bw -mavx512dq'
  AS_CASE([$enable_sanitize],
    [yes], [meta_sanitizers='address, undefined'
      META_SANITIZE="-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"],
    [thread], [meta_sanitizers=thread META_SANITIZE="-fsanitize=thread -fno-omit-frame-pointer"],
    [no], [meta_sanitizers=none],
    [AC_MSG_ERROR([--enable-sanitize=$enable_sanitize: give yes, thread or no])])
  AS_IF([test "x$enable_sanitize" != xno], [
    META_OPTIMIZE=-O1
    META_OPTIMIZE_KERNELS=-O1
    META_FC_OPTIMIZE=-O1
    META_FC_OPTIMIZE_KERNELS=-O1
    AC_MSG_CHECKING([whether $CC can link with sanitizers ($meta_sanitizers)])
    meta_saved=$CFLAGS
    CFLAGS="$CFLAGS $META_SANITIZE"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes])], [
      AC_MSG_RESULT([no])
      AC_MSG_ERROR([--enable-sanitize: $CC cannot link with its sanitizers ($meta_sanitizers); install its sanitizer libraries])])
    CFLAGS=$meta_saved
  ])
  AC_SUBST([META_CODE])
  AC_SUBST([enable_sanitize])
  AC_SUBST([META_SANITIZE])
  dnl GCC 12 aligns the stack of such code to 32 bytes only (GCC bug 110027), and copies structures by 64.
  AS_IF([test "x$enable_sanitize" = xyes], [
    META_ADD_FLAG([META_AVX512], [-mprefer-vector-width=256])
    META_ADD_FLAG([META_AVX512], [-mmove-max=256])
    META_ADD_FLAG([META_AVX512], [-mstore-max=256])])
  AC_SUBST([META_AVX512])
  AM_CONDITIONAL([SANITIZE], [test "x$enable_sanitize" = xyes])
])

# META_LINKER_TAKES(VARIABLE, WHAT, FLAG): meta_cv_VARIABLE, yes or no.
AC_DEFUN([META_LINKER_TAKES], [
  AC_CACHE_CHECK([whether the linker takes $2], [meta_cv_$1], [
    meta_saved=$LDFLAGS
    LDFLAGS="$LDFLAGS $3"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()], [meta_cv_$1=yes], [meta_cv_$1=no])
    LDFLAGS=$meta_saved
  ])
])

AC_DEFUN([META_CHECK_LINKER], [
  echo 'TEST { global: *; };' > conftest.map
  META_LINKER_TAKES([version_script], [version scripts], [-Wl,--version-script=conftest.map])
  rm -f conftest.map
  AM_CONDITIONAL([VERSION_SCRIPT], [test "x$meta_cv_version_script" = xyes])

  dnl A module with an undefined symbol would fail only when it is loaded. Clang's sanitizers keep
  dnl their symbols in the program, so there it cannot be asked for.
  META_NO_UNDEFINED=
  AS_IF([test "x$enable_sanitize" = xno], [
    META_LINKER_TAKES([z_defs], [-z defs], [-Wl,-z,defs])
    AS_IF([test "x$meta_cv_z_defs" = xyes], [META_NO_UNDEFINED=-Wl,-z,defs])
  ])
  AC_SUBST([META_NO_UNDEFINED])

  dnl Calls from one part of a library to another go straight there, not by a table.
  META_SYMBOLIC=
  META_LINKER_TAKES([symbolic], [-Bsymbolic-functions], [-Wl,-Bsymbolic-functions])
  AS_IF([test "x$meta_cv_symbolic" = xyes], [META_SYMBOLIC=-Wl,-Bsymbolic-functions])
  AC_SUBST([META_SYMBOLIC])
])
