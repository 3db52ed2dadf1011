dnl SPDX-License-Identifier: BSD-3-Clause
dnl The CUDA and HIP back ends: their compilers and target architectures.

dnl META_GPU_TRY(COMMAND, HEADER): whether COMMAND compiles conftest.cu, a kernel after HEADER.
AC_DEFUN([META_GPU_TRY], [
  cat > conftest.cu <<META_EOF
m4_ifval([$2], [@%:@include <$2>])
__global__ void kernel(int *a) { *a = 1; }
META_EOF
  AS_IF([$1 -c conftest.cu -o conftest.o >&AS_MESSAGE_LOG_FD 2>&1],
    [meta_gpu_try=yes], [meta_gpu_try=no])
  rm -f conftest.cu conftest.o
])

AC_DEFUN([META_CHECK_CUDA], [
  META_PART_ARG([cuda], [the CUDA back end])
  AC_ARG_WITH([cuda-arch],
    [AS_HELP_STRING([--with-cuda-arch=LIST],
      [compute capabilities that code is made for; the highest also as PTX for later ones @<:@70,80,90,100 as far as nvcc knows them@:>@])],
    [], [with_cuda_arch=auto])
  AC_ARG_VAR([NVCC], [CUDA compiler])
  AC_ARG_VAR([NVCCFLAGS], [flags of the CUDA compiler; those that begin with -f or -W are its host compiler's])
  AC_ARG_VAR([CUDA_HOME], [folder of the CUDA toolkit, where nvcc is not on the PATH])
  meta_cuda=no meta_cuda_reason="--with-cuda=no" CUDA_CODE= CUDA_LIBS=
  AS_IF([test "x$with_cuda" != xno], [META_FIND_CUDA])
  META_PART_DECIDE([cuda])
  CUDA_WARNINGS="-Wall -Wextra" HIP_WARNINGS="-Wall -Wextra -Wshadow -Wconversion"
  AS_IF([test "x$enable_werror" = xyes],
    [CUDA_WARNINGS="$CUDA_WARNINGS -Werror --Werror=all-warnings" HIP_WARNINGS="$HIP_WARNINGS -Werror"])
  AC_SUBST([CUDA_WARNINGS])
  AC_SUBST([HIP_WARNINGS])
  AC_SUBST([CUDA_CODE])
  AC_SUBST([CUDA_LIBS])
  AC_SUBST([NO_NVCC], [""])
  AS_IF([test $meta_cuda = no], [NO_NVCC=$meta_cuda_reason])
  AM_CONDITIONAL([HAVE_CUDA], [test $meta_cuda = yes])
  META_CHECK_FAKE_CUDA
])

dnl Tests run the CUDA back end on a fake CUDA of their own, which is compiled with the toolkit's headers
dnl and stands before its NVRTC.
AC_DEFUN([META_CHECK_FAKE_CUDA], [
  meta_fake_cuda=no CUDA_INCLUDE= NVRTC_FILE=
  AS_IF([test $meta_cuda = no], [meta_fake_cuda_reason="there is no CUDA back end"], [
    meta_release=`$NVCC --version 2>/dev/null | sed -n 's/.*release \(@<:@0-9@:>@*\)\..*/\1/p'`
    for meta_dir in "$CUDA_HOME" "$meta_root" "$meta_root/targets/x86_64-linux"; do
      AS_IF([test -z "$CUDA_INCLUDE" && test -f "$meta_dir/include/cuda.h"],
        [CUDA_INCLUDE=`cd "$meta_dir/include" && pwd`])
      for meta_lib in lib64 lib; do
        AS_IF([test -z "$NVRTC_FILE" && test -f "$meta_dir/$meta_lib/libnvrtc.so.13"],
          [NVRTC_FILE=`cd "$meta_dir/$meta_lib" && pwd`/libnvrtc.so.13])
      done
    done
    AS_IF([test "x$meta_release" != x13],
        [meta_fake_cuda_reason="it is for CUDA 13, and $NVCC is of ${meta_release:-an unknown version}"],
      [test -z "$CUDA_INCLUDE"], [meta_fake_cuda_reason="cuda.h not found beside $NVCC; set CUDA_HOME"],
      [test -z "$NVRTC_FILE"], [meta_fake_cuda_reason="libnvrtc.so.13 not found beside $NVCC; set CUDA_HOME"],
      [PKG_CHECK_MODULES([ZSTD], [libzstd], [meta_fake_cuda=yes],
        [meta_fake_cuda_reason="libzstd not found (Debian: libzstd-dev)"])])
  ])
  AC_SUBST([CUDA_INCLUDE])
  AC_SUBST([NVRTC_FILE])
  AC_SUBST([NO_FAKE_CUDA], [""])
  AS_IF([test $meta_fake_cuda = no], [NO_FAKE_CUDA=$meta_fake_cuda_reason])
  AM_CONDITIONAL([HAVE_FAKE_CUDA], [test $meta_fake_cuda = yes])
])

AC_DEFUN([META_FIND_CUDA], [
  AC_PATH_PROG([NVCC], [nvcc], [], [${CUDA_HOME:+$CUDA_HOME/bin$PATH_SEPARATOR}$PATH$PATH_SEPARATOR/usr/local/cuda/bin])
  AS_IF([test -z "$NVCC"], [meta_cuda_reason="no nvcc found; set CUDA_HOME"], [
    META_CUDA_ARCH
    AC_MSG_CHECKING([whether $NVCC compiles for ${meta_cuda_arch:-no known device}])
    META_GPU_TRY([$NVCC -std=c++17 $CUDA_CODE])
    AS_IF([test -z "$CUDA_CODE"], [meta_gpu_try=no])
    AC_MSG_RESULT([$meta_gpu_try])
    AS_IF([test $meta_gpu_try = no],
      [meta_cuda_reason="$NVCC does not compile for ${meta_cuda_arch:-the devices of --with-cuda-arch}; see config.log"],
      [META_CUDA_LIBS])
  ])
])

dnl The devices, those of our own list as far as nvcc knows them, and the flags for them.
AC_DEFUN([META_CUDA_ARCH], [
  meta_known=`$NVCC --list-gpu-code 2>/dev/null | tr '\n' ' '`
  meta_cuda_arch= meta_last=
  AS_IF([test "x$with_cuda_arch" = xauto], [meta_wanted="70 80 90 100"],
    [meta_wanted=`echo "$with_cuda_arch" | sed 's/sm_//g; s/@<:@,;@:>@/ /g'`])
  for meta_a in $meta_wanted; do
    AS_CASE(["$with_cuda_arch: $meta_known"],
      [auto:*sm_$meta_a\ * | @<:@!a@:>@*], [
        CUDA_CODE="$CUDA_CODE -gencode arch=compute_$meta_a,code=sm_$meta_a"
        meta_cuda_arch="$meta_cuda_arch${meta_cuda_arch:+ }sm_$meta_a"
        meta_last=$meta_a])
  done
  # Devices before 80 that the compiler can still make code for, where it no longer can for 70.
  AS_CASE(["$with_cuda_arch: $meta_known"],
    [auto:*sm_70\ *], [],
    [auto:*sm_75\ *], [
      CUDA_CODE="$CUDA_CODE -gencode arch=compute_75,code=compute_75"
      meta_cuda_arch="$meta_cuda_arch PTX-75"])
  AS_IF([test -n "$meta_last"],
    [CUDA_CODE="$CUDA_CODE -gencode arch=compute_$meta_last,code=compute_$meta_last"
     meta_cuda_arch="$meta_cuda_arch PTX-$meta_last"])
])

dnl The runtime is linked in, so that the plugin needs nothing but the driver, and loads without one.
AC_DEFUN([META_CUDA_LIBS], [
  meta_root=`echo "$NVCC" | sed 's/.* //'` # behind ccache
  meta_root=`readlink -f "$meta_root" 2>/dev/null || echo "$meta_root"`
  meta_root=`dirname "$meta_root"`/..
  meta_saved=$LIBS
  for meta_dir in "$CUDA_HOME/lib64" "$meta_root/lib64" "$meta_root/targets/x86_64-linux/lib" "$meta_root/lib"; do
    AS_IF([test -z "$CUDA_LIBS" && test -f "$meta_dir/libcudart_static.a"],
      [CUDA_LIBS=-L`cd "$meta_dir" && pwd`])
  done
  CUDA_LIBS="$CUDA_LIBS -lcudart_static -lstdc++ -lpthread -ldl -lrt"
  LIBS="$CUDA_LIBS $META_LIBS"
  AC_MSG_CHECKING([for the CUDA runtime to link in])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[int cudaGetDeviceCount(int *);]], [[int n; return cudaGetDeviceCount(&n);]])],
    [meta_cuda=yes], [meta_cuda_reason="libcudart_static.a not found beside $NVCC; set CUDA_HOME"])
  AC_MSG_RESULT([$meta_cuda])
  LIBS=$meta_saved
])

AC_DEFUN([META_CHECK_HIP], [
  META_PART_ARG([hip], [the HIP back end])
  AC_ARG_WITH([hip-cpu],
    [AS_HELP_STRING([--with-hip-cpu=DIR],
      [build the HIP back end with AMD's HIP-CPU in DIR, which runs it on the CPU, for tests])],
    [], [with_hip_cpu=no])
  AC_ARG_WITH([hip-arch],
    [AS_HELP_STRING([--with-hip-arch=LIST],
      [AMD devices that code is made for @<:@gfx906,gfx90a,gfx942,gfx1100 as far as hipcc knows them@:>@])],
    [], [with_hip_arch=auto])
  AC_ARG_VAR([HIPCC], [HIP compiler, or for HIP-CPU the C++ compiler])
  AC_ARG_VAR([ROCM_PATH], [folder of ROCm, where hipcc is not on the PATH])
  meta_hip=no meta_hip_reason="--with-hip=no" HIP_CODE= HIP_LIBS= meta_hip_with=
  AS_CASE([$with_hip_cpu],
    [yes], [AC_MSG_ERROR([--with-hip-cpu=DIR: give the folder of HIP-CPU])],
    [no], [AS_IF([test "x$with_hip" != xno], [META_FIND_HIP])],
    [AS_IF([test "x$with_hip" = xno], [AC_MSG_ERROR([--with-hip=no and --with-hip-cpu contradict each other])])
     with_hip=yes
     META_FIND_HIP_CPU])
  META_PART_DECIDE([hip])
  META_GPU_BACKENDS=
  AS_IF([test $meta_cuda = yes], [META_GPU_BACKENDS=cuda])
  AS_IF([test $meta_hip = yes], [META_GPU_BACKENDS=$META_GPU_BACKENDS${META_GPU_BACKENDS:+,}hip])
  AC_SUBST([META_GPU_BACKENDS])
  AC_SUBST([with_hip_cpu])
  AC_SUBST([NO_HIPCC], [""])
  AS_IF([test $meta_hip = no], [NO_HIPCC=$meta_hip_reason],
    [test "x$with_hip_cpu" != xno], [NO_HIPCC="built with HIP-CPU"])
  AC_SUBST([HIP_CODE])
  AC_SUBST([HIP_LIBS])
  AM_CONDITIONAL([HAVE_HIP], [test $meta_hip = yes])
  AM_CONDITIONAL([HAVE_HIP_CPU], [test "x$with_hip_cpu" != xno])
])

AC_DEFUN([META_FIND_HIP], [
  AC_PATH_PROG([HIPCC], [hipcc], [], [${ROCM_PATH:+$ROCM_PATH/bin$PATH_SEPARATOR}$PATH$PATH_SEPARATOR/opt/rocm/bin])
  AS_IF([test -z "$HIPCC"], [meta_hip_reason="no hipcc found; set ROCM_PATH, or give --with-hip-cpu"], [
    AS_IF([test "x$with_hip_arch" = xauto], [meta_wanted="gfx906 gfx90a gfx942 gfx1100"],
      [meta_wanted=`echo "$with_hip_arch" | sed 's/@<:@,;@:>@/ /g'`])
    for meta_a in $meta_wanted; do
      AC_MSG_CHECKING([whether $HIPCC compiles for $meta_a])
      META_GPU_TRY([$HIPCC -x hip --offload-arch=$meta_a], [hip/hip_runtime.h])
      AC_MSG_RESULT([$meta_gpu_try])
      AS_IF([test $meta_gpu_try = yes],
        [HIP_CODE="$HIP_CODE --offload-arch=$meta_a" meta_hip_with="$meta_hip_with${meta_hip_with:+ }$meta_a"],
        [test "x$with_hip_arch" != xauto],
        [AC_MSG_ERROR([--with-hip-arch=$with_hip_arch: $HIPCC does not compile for $meta_a; see config.log])])
    done
    AS_IF([test -z "$HIP_CODE"], [meta_hip_reason="$HIPCC compiles for none of $meta_wanted; see config.log"],
      [META_HIP_LIBS])
  ])
])

AC_DEFUN([META_HIP_LIBS], [
  meta_root=`echo "$HIPCC" | sed 's/.* //'` # behind ccache
  meta_root=`readlink -f "$meta_root" 2>/dev/null || echo "$meta_root"`
  meta_root=`dirname "$meta_root"`/..
  for meta_dir in "$ROCM_PATH/lib" "$meta_root/lib" "$meta_root/../lib"; do
    AS_IF([test -z "$HIP_LIBS" && test -f "$meta_dir/libamdhip64.so"],
      [HIP_LIBS="-L`cd "$meta_dir" && pwd`"])
  done
  HIP_LIBS="$HIP_LIBS -lamdhip64 -lstdc++ -lpthread -ldl"
  HIP_CODE="-x hip$HIP_CODE"
  meta_saved=$LIBS
  LIBS="$HIP_LIBS $META_LIBS"
  AC_MSG_CHECKING([for the HIP runtime])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[int hipGetDeviceCount(int *);]], [[int n; return hipGetDeviceCount(&n);]])],
    [meta_hip=yes], [meta_hip_reason="libamdhip64 not found beside $HIPCC; set ROCM_PATH"])
  AC_MSG_RESULT([$meta_hip])
  LIBS=$meta_saved
])

AC_DEFUN([META_FIND_HIP_CPU], [
  AS_IF([grep "define __HIP_CPU_RT__" "$with_hip_cpu/include/hip/hip_runtime.h" >/dev/null 2>&1],
    [with_hip_cpu=`cd "$with_hip_cpu" && pwd`],
    [AC_MSG_ERROR([--with-hip-cpu=$with_hip_cpu: no include/hip/hip_runtime.h of HIP-CPU is there; get it with git clone https://github.com/ROCm/HIP-CPU])])
  AC_CHECK_PROGS([HIPCC], [g++ clang++])
  HIP_CODE="-x c++ -DMETA_GPU_HIP_CPU -isystem $with_hip_cpu/include $META_SANITIZE"
  HIP_LIBS="-ltbb -lstdc++ -lpthread -ldl"
  AC_MSG_CHECKING([whether ${HIPCC:-a C++ compiler} compiles with HIP-CPU])
  META_GPU_TRY([$HIPCC -std=c++17 $HIP_CODE], [hip/hip_runtime.h])
  AC_MSG_RESULT([$meta_gpu_try])
  AS_IF([test $meta_gpu_try = no],
    [meta_hip_reason="HIP-CPU in $with_hip_cpu does not compile (Debian: libtbb-dev); see config.log"],
    [meta_hip=yes meta_hip_with="HIP-CPU, on the CPU"])
])
