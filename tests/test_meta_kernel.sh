#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-kernel: what it checks and writes, of kernel files and of shared objects, and what it refuses.
# TEST: backends=any binaries=yes labels=tools
. "$META_TEST_SRCDIR/tests/programs.sh"
META_CACHE_DIR=$here/cache META_MODE=openmp
export META_CACHE_DIR META_MODE
src=$META_TEST_SRCDIR
case $src in /*) ;; *) src=$(cd "$build" && cd "$src" && pwd) ;; esac
case ${META_TEST_SANITIZE-no} in
yes) sanitize='-fsanitize=address,undefined' ;;
thread) sanitize='-fsanitize=thread' ;;
*) sanitize= ;;
esac
cp "$src/tests/fortran/fortran.kernel.h" .
cat >heat.kernel.h <<'END'
#include <meta_kernel.h>

/* One time step, and an insulated wall. */
#define heat_ARGS(A) A(OUT, T, next) A(IN, T, now, STAR(1)) A(VALUE, T, k) A(MAX, T, change)
META_CELLS(heat)
{
    const T here = AT1(now, 0), by = k * (AT1(now, -1) + AT1(now, 1) - 2 * here);
    AT1(next, 0) = here + by;
    RAISE(change, ABS(by));
}
#define insulated_ARGS(A) A(OUT, T, ghost) A(IN, T, inner, CELL)
META_CELLS(insulated)
{
    AT1(ghost, 0) = AT1(inner, 0);
}
#include META_AGAIN
END

# did STATUS ARGUMENT…
did()
{
    want=$1
    shift
    what="meta-kernel $*"
    "$build/meta-kernel" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ] || broken "exit status $got, expected $want"
}
says() { grep -q -- "$1" err || broken "does not say: $1"; }

did 0 --help
grep -q 'meta-kernel fortran FILE' out || broken 'does not say how it is used'
did 0 --version
did 2
says 'there is no command'
did 2 fly heat.kernel.h
says 'fly is no command: check, build, embed, text or fortran'
did 2 check
says 'which file'
did 2 check heat.kernel.h fortran.kernel.h
says 'one file at a time'
for command in check text embed fortran; do
    did 2 $command --library
    says "$command: it has no option --library"
done
did 2 check heat.kernel.h -o checked
says 'check: it has no option -o'
did 2 build heat.kernel.h --module name
says 'build: it has no option --module'
did 2 text heat.kernel.h --for cuda
says 'text: it has no option --for'
did 2 --fly check heat.kernel.h
says 'unknown option'
did 2 fortran heat.kernel.h -o
says 'its value is missing'
did 2 check no_such.kernel.h
did 2 text no_such.kernel.h
says 'no_such.kernel.h: No such file'
did 2 text heat.kernel.h -o no/such/folder.c
says 'no/such/folder.c cannot be written'

# Every language: by the devices that are here, else by a compiler that needs none; a missing compiler is
# said, and is no mistake of the kernel's.
found() { grep -q -- "$1" out || broken "does not print: $1"; }
all='heat_f64 heat_f32 insulated_f64 insulated_f32'
did 0 check heat.kernel.h --for c,c++
found '^heat.kernel.h, C11, /.*: ok$'
found '^heat.kernel.h, C++11, /.*: ok$'
for kernel in $all; do found "^${kernel%_*} ${kernel#*_}, openmp, .*: ok$"; done
if "$build/meta-info" | grep -q '^  opencl  *usable'; then
    did 0 check heat.kernel.h --for opencl
    for kernel in $all; do found "^${kernel%_*} ${kernel#*_}, opencl, .*: ok$"; done
    did 0 check heat.kernel.h --for opencl:0
    for kernel in $all; do found "^${kernel%_*} ${kernel#*_}, opencl, .*: ok$"; done
    did 3 check heat.kernel.h --for opencl:99
    found '^heat.kernel.h, OpenCL: not checked: device 99 is not among the [1-9]'
    ! grep -q ': ok$' out || broken 'has checked for another device'
fi
did 2 check heat.kernel.h --for c,cpu:avx2
says 'check: --for cpu:avx2: C is checked for no instruction set'
OCL_ICD_VENDORS=$here/none
export OCL_ICD_VENDORS
. "$src/tests/compilers.sh"
if compiler_is_here clang meta_kernel_checks_by_clang; then
    did 0 check heat.kernel.h --for opencl
    for kernel in $all; do found "^${kernel%_*} ${kernel#*_}, OpenCL C, /.*clang: ok$"; done
fi
unset OCL_ICD_VENDORS
# has_compiler LANGUAGE: for a GPU's, whose library may be missing; that is said then.
has_compiler()
{
    "$build/meta-kernel" check heat.kernel.h --for "$1" >out 2>err
    case $? in
    0) ! grep -v ': ok$' out || broken 'prints other lines' ;;
    3) what="meta-kernel check --for $1" && found ': not checked: .* was found.*; install '
       echo "skipped meta_kernel_checks_for_$1" && false ;;
    *) what="meta-kernel check --for $1" && broken 'has refused a sound kernel' && false ;;
    esac
}
languages='c++ opencl'
for language in cuda hip; do
    ! has_compiler $language || languages="$languages $language"
done
did 2 check heat.kernel.h --for cpu,fortran
says "'fortran': give one of cpu, c++, opencl, cuda and hip"
did 2 check heat.kernel.h --for cuda:90
says "'cuda:90': give a GPU's architecture, such as sm_90"

sed 's/AT1(now, -1)/AT1(then, -1)/' heat.kernel.h >wrong.kernel.h
did 1 check wrong.kernel.h --for c,c++,opencl
found 'wrong.kernel.h, C11, .*'
found '^wrong.kernel.h:7'
found 'other languages: not checked: its kernels are not known'
did 1 check wrong.kernel.h --for opencl
found '^wrong.kernel.h:7'
# Mistakes in one language only: each language finds its own, and C takes them all.
bad() { sed "s/const T here = /$2; const T here = one * /" heat.kernel.h >$1.kernel.h; }
bad cxx 'enum one { ONE } one = 1'
bad opencl 'static int one = 1'
for language in $languages; do
    case $language in opencl) name=opencl ;; *) name=cxx ;; esac
    did 1 check $name.kernel.h --for c,$language
    found "$name.kernel.h, C11, .*: ok"
    found "$name.kernel.h[:(]7"
done
# Every name that a language of devices reserves and C does not is one for a variable, a helper and a macro.
cat >reserved <<'END'
and and_eq bitand bitor catch char8_t class co_await co_return co_yield compl concept const_cast consteval constexpr
constinit decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr operator
or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid typename using
virtual xor xor_eq kernel global local constant generic read_only write_only read_write pipe half quad uchar uchar16
char2 short3 int4 uint8 long16 ulong2 float3 float4 double8 half2 longlong2 ulonglong2 image2d_t image3d_t sampler_t
event_t queue_t ndrange_t clk_event_t reserve_id_t vec_step get_global_id get_local_size acospi asinpi atan2pi cospi
exp10 fract half_cos native_sin mad maxmag minmag pown powr rootn rsqrt sincos sinpi tanpi abs_diff add_sat hadd rhadd
clamp clz ctz mad_hi mad24 mul24 mad_sat max min mul_hi rotate sub_sat upsample popcount degrees mix radians step
smoothstep sign cross dot distance length normalize fast_length isequal isnotequal isordered any all bitselect select
vload4 vstore2 prefetch barrier mem_fence atomic_add atom_inc shuffle shuffle2 convert_int as_float async_work_group_copy
threadIdx blockIdx blockDim gridDim warpSize dim3 brev ffs ffsll norm norm3d rhypot rnorm rcbrt normcdf erfinv erfcx
saturate fdivide clock64 cyl_bessel_i0 cudaMalloc hipMalloc linux unix i386
END
{
    printf '#define META_KERNEL_TYPES META_KERNEL_F64\n#include <meta_kernel.h>\n'
    for name in $(cat reserved); do printf '#undef %s\n' $name; done
    for name in $(cat reserved); do printf 'META_FUNCTION T FN(%s)(T %s) { return %s; }\n' $name $name $name; done
    echo '#define names_ARGS(A) A(OUT, T, out)'
    echo 'META_CELLS(names) {'
    n=0
    for name in $(cat reserved); do
        n=$((n + 1))
        printf '#define %s_of(%s) (2 * (%s))\n  T %s = FN(%s)(%s_of(%d));\n' $name $name $name $name $name $name $n
    done
    printf '  ON(out) = 0'
    for name in $(cat reserved); do printf '\n   + %s' $name; done
    printf ';\n}\n#include META_AGAIN\n'
} >reserved.kernel.h
for language in $languages; do
    case $language in c++) continue ;; esac
    did 0 check reserved.kernel.h --for c,$language
done
did 1 check reserved.kernel.h --for c,c++
found '^reserved.kernel.h, C++11, .*: reserved.kernel.h:3: and is a keyword of C++: a program in C++ cannot include the'
# Passes include the file again, which what keeps others from being read twice prevents.
{ printf '#ifndef HEAT_H\n#define HEAT_H\n'; cat heat.kernel.h; echo '#endif'; } >guarded.kernel.h
did 1 check guarded.kernel.h --for c
found 'guarded.kernel.h:1: the include guard #ifndef HEAT_H keeps the kernel file from including itself'
{ echo '#pragma once'; cat heat.kernel.h; } >once.kernel.h
did 1 check once.kernel.h --for c
found 'once.kernel.h:1: #pragma once keeps the kernel file from including itself'
# What editors of other systems write: a byte order mark, and ends of lines of two characters.
{ printf '\357\273\277'; sed 's/$/\r/' heat.kernel.h; } >marked.kernel.h
for language in c++ $languages; do did 0 check marked.kernel.h --for "c,$language"; done
# Conditions that end before that are no guards.
{ printf '#ifndef WIDTH\n#define WIDTH 1\n#endif\n'; cat heat.kernel.h; } >width.kernel.h
did 0 check width.kernel.h --for c
# No compiler: not checked, and said what to install.
mkdir tools
for tool in sh cc as ld ls sed dirname basename; do ln -s "$(command -v $tool)" tools/; done
what='meta-kernel check without c++'
PATH=$here/tools "$build/meta-kernel" check heat.kernel.h --for c,c++ >out 2>err
[ $? = 3 ] || broken 'another exit status than 3'
found '^heat.kernel.h, C11, .*: ok$'
found '^heat.kernel.h, C++11: not checked: .*; install g++ or clang'

# A body in a back end's own language is compiled by its compiler, and seen by no other.
if "$build/meta-info" 2>/dev/null | grep -q '^  opencl  *usable'; then
    for body in 'ON(out) = mad24((int)INDEX(0), 2, 1);' 'ON(out) = nowhere;'; do
        cat >own.kernel.h <<END
#define META_KERNEL_TYPES META_KERNEL_I32
#include <meta_kernel.h>
#define own_ARGS(A) A(OUT, T, out)
META_CELLS(own) { ON(out) = (T)(2 * INDEX(0) + 1); }
#ifdef META_NATIVE_OPENCL
META_NATIVE_OPENCL(own) { $body }
#endif
#include META_AGAIN
END
        case $body in
        *nowhere*)
            did 1 check own.kernel.h
            grep -q 'own.kernel.h:6' out || broken 'does not name the line'
            ;;
        *)
            what='meta-kernel check own.kernel.h' # 3: the compiler of another device is not here
            "$build/meta-kernel" check own.kernel.h >out 2>err </dev/null
            case $? in 0 | 3) ;; *) broken 'exit status neither 0 nor 3' ;; esac
            grep -q '^own i32, opencl, .*: ok$' out || broken 'has not checked the body in OpenCL C'
            ;;
        esac
        grep -q '^own i32, openmp, .*: ok$' out || broken 'has not checked the portable body'
    done
fi

# The text is that of the file, for each kernel.
did 0 text heat.kernel.h -o text.c
cat >print.c <<'END'
#include <stdio.h>
extern const char meta_kernel_text_heat[], meta_kernel_text_insulated[];
int main(void) { return fputs(meta_kernel_text_heat, stdout) < 0 || !meta_kernel_text_insulated[0]; }
END
${CC:-cc} -Wall -Werror print.c text.c -o print && ./print | cmp -s - heat.kernel.h ||
    broken 'another text'

# The C file that has all of it needs no other rule; a path may have spaces.
mkdir 'a folder'
cp heat.kernel.h 'a folder/'
did 0 embed 'a folder/heat.kernel.h' -o heat_kernels.c
cat >main.c <<'END'
#include <stdio.h>
#include "heat.kernel.h"
int main(void) { return fputs(heat_f64_kernel.text, stdout) < 0 || insulated_f32_kernel.text != heat_f64_kernel.text; }
END
for flags in -O2 '-O2 -flto -ffile-prefix-map=/=/elsewhere'; do
    what="a program of an embedded kernel file, $flags"
    # shellcheck disable=SC2086
    ${CC:-cc} $flags $sanitize -DMETA_KERNEL_ONE_VARIANT -Wall -Wextra -Werror -I"$src/core" -I"$src/kernels" -I. main.c heat_kernels.c \
        -o main -L"$build/.libs" -lmeta -lm -Wl,-rpath,"$build/.libs" >out 2>err || broken 'is not built'
    ./main | cmp -s - heat.kernel.h || broken 'another text'
done
# What #include takes as it is does no harm; what it cannot take is refused.
odd='with $(pwd) # \ and '"'"' in it'
mkdir "$odd" 'a "folder"'
cp heat.kernel.h "$odd/"
cp heat.kernel.h 'a "folder"/'
cp heat.kernel.h 'a\b.kernel.h'
cp heat.kernel.h "$(printf 'two\nlines.kernel.h')"
did 0 embed "$odd/heat.kernel.h" -o heat_kernels.c
${CC:-cc} $sanitize -DMETA_KERNEL_ONE_VARIANT -Wall -Wextra -Werror -I"$src/core" -I"$src/kernels" -c heat_kernels.c \
    -o heat_kernels.o >out 2>err || broken 'is not compiled'
for file in 'a "folder"/heat.kernel.h' 'a\b.kernel.h' "$(printf 'two\nlines.kernel.h')"; do
    did 2 embed "$file" -o refused.c
    says 'cannot be included by C'
    [ ! -e refused.c ] || broken 'leaves a file'
done
did 2 embed no_such.kernel.h
says 'no_such.kernel.h: No such file'

did 0 fortran fortran.kernel.h --module kernels_of_mine -o module.f90
for line in 'module kernels_of_mine' '    public :: blend_f64' '    public :: shapes_i32' \
    '        module procedure grow_i32_host, grow_i32_device' \
    '        type(c_ptr), intent(in) :: g ! c_loc() of a growth' \
    '        integer(c_int64_t), intent(inout), target :: full' \
    '        module procedure peak_f64_host, peak_f64_device' \
    '        type(meta_extreme_f64), intent(inout), target :: top' \
    '        type(meta_extreme_i32), intent(inout), target :: bottom' \
    '        type(meta_extreme_i64), intent(inout), target :: column'; do
    grep -qxF -- "$line" module.f90 || broken "the module has no line: $line"
done
awk 'length > 132' module.f90 | grep -q . && broken 'a line is longer than Fortran allows'
did 0 fortran heat.kernel.h
grep -qx 'module heat_kernels' out || broken 'the module has another name'
cp heat.kernel.h 2d.kernel.h
did 2 fortran 2d.kernel.h -o names.f90
says "'2d_kernels' cannot be the name of a Fortran module: give one by --module"
did 2 fortran heat.kernel.h --module 'a module'
says "'a module' cannot be"
sed 's/insulated/HEAT/' heat.kernel.h >names.kernel.h
did 2 fortran names.kernel.h
says "Fortran cannot have the name 'HEAT'"
for name in stat Change; do
    sed "s/A(VALUE, T, k)/A(VALUE, T, $name)/; s/= k \* (/= $name * (/" heat.kernel.h >names.kernel.h
    did 2 fortran names.kernel.h -o names.f90
    says "Fortran cannot have the name '"
    [ ! -e names.f90 ] || broken 'leaves a file'
done

# A shared object's kernels have their text with them.
printf '#define META_KERNELS_HERE\n#include "heat.kernel.h"\n' >heat.c
${CC:-cc} -shared -fPIC -I"$src/core" -I"$src/kernels" -DMETA_KERNEL_ONE_VARIANT heat.c -o heat.so ||
    broken 'no shared object'
did 0 check ./heat.so --for cpu
grep -q '^heat f64, openmp, .*: ok$' out || broken 'has not checked the object'
did 2 embed heat.so
says 'is a shared object'
did 2 text heat.so
says 'is a shared object'

# A libmeta of another build, as a wrong LD_LIBRARY_PATH finds one. A sanitizer's library must come first.
if [ -z "$sanitize" ]; then
    printf 'const struct { unsigned version; unsigned long size; void *f[32]; } meta_ahead_table = {987, 16, {0}};\n' |
        ${CC:-cc} -shared -fPIC -x c - -o other.so || broken 'no other libmeta'
    LD_PRELOAD=$here/other.so "$build/meta-kernel" check heat.kernel.h --for c >out 2>err
    [ $? = 2 ] || broken 'works with a libmeta of another build'
    says 'libmeta.so is of another build: it has version 987'
    LD_PRELOAD=$here/other.so "$build/meta-kernel" --version >out 2>err || broken 'does not tell its version'
fi

[ $failed = 0 ] && echo 'kept   meta-kernel checks and writes'
exit $failed
