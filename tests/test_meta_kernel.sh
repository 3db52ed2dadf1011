#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-kernel: what it checks and writes, of kernel files and of shared objects, and what it refuses.
# TEST: backends=any timeout=120 labels=tools
. "$META_TEST_SRCDIR/tests/programs.sh"
META_CACHE_DIR=$here/cache META_MODE=openmp
export META_CACHE_DIR META_MODE
src=$META_TEST_SRCDIR
case $src in /*) ;; *) src=$(cd "$build" && cd "$src" && pwd) ;; esac
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
says 'fly is no command: check, text or fortran'
did 2 check
says 'which file'
did 2 check heat.kernel.h fortran.kernel.h
says 'one file at a time'
did 2 --fly check heat.kernel.h
says 'unknown option'
did 2 fortran heat.kernel.h -o
says 'its value is missing'
did 2 check no_such.kernel.h
did 2 text no_such.kernel.h
says 'no_such.kernel.h: No such file'
did 2 text heat.kernel.h -o no/such/folder.c
says 'no/such/folder.c cannot be written'

did 0 check heat.kernel.h
for kernel in 'heat f64' 'heat f32' 'insulated f64' 'insulated f32'; do
    grep -q "^$kernel, openmp, .*: ok$" out || broken "has not checked $kernel"
done
sed 's/AT1(now, -1)/AT1(then, -1)/' heat.kernel.h >wrong.kernel.h
did 1 check wrong.kernel.h
says 'wrong.kernel.h:7'

# The text is that of the file, for each kernel.
did 0 text heat.kernel.h -o text.c
cat >print.c <<'END'
#include <stdio.h>
extern const char meta_kernel_text_heat[], meta_kernel_text_insulated[];
int main(void) { return fputs(meta_kernel_text_heat, stdout) < 0 || !meta_kernel_text_insulated[0]; }
END
${CC:-cc} -Wall -Werror print.c text.c -o print && ./print | cmp -s - heat.kernel.h ||
    broken 'another text'

did 0 fortran fortran.kernel.h --module kernels_of_mine -o module.f90
for line in 'module kernels_of_mine' '    public :: blend_f64' '    public :: shapes_i32' \
    '        module procedure grow_i32_host, grow_i32_device' \
    '        type(c_ptr), intent(in) :: g ! c_loc() of a growth' \
    '        integer(c_int64_t), intent(inout), target :: full'; do
    grep -qxF -- "$line" module.f90 || broken "the module has no line: $line"
done
awk 'length > 132' module.f90 | grep -q . && broken 'a line is longer than Fortran allows'
did 0 fortran heat.kernel.h
grep -qx 'module heat_kernels' out || broken 'the module has another name'
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
did 0 check ./heat.so
grep -q '^heat f64, openmp, .*: ok$' out || broken 'has not checked the object'
did 2 text heat.so
says 'is a shared object'

[ $failed = 0 ] && echo 'kept   meta-kernel checks and writes'
exit $failed
