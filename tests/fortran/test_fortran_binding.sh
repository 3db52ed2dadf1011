#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Module `meta` is the whole API: what the C headers declare and what Fortran declares of it are the
# same functions, arguments, enumerators and structures, and every public function has its Fortran
# procedure, which calls it. Prints the functions bound over the public ones.
# TEST: labels=fortran,build smoke=yes
# shellcheck disable=SC2086 # variables of several words
src=${META_TEST_SRCDIR:-.}
build=${META_TEST_BUILDDIR:-.}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
status=0
broken() { echo "BROKEN: $*"; status=1; }
made_with() { sed -n "s/^$1 = //p" "$build/Makefile"; }

cc=$(made_with CC) fc=$(made_with FC) awk=$(made_with AWK)
modules="$(made_with FC_MODINC)$build/fortran/mod"
include="-I$src/core -I$src/core/library -I$src/kernels -I$src/comm -I$src/io -I$src/fortran $(made_with MPI_CPPFLAGS)"

headers="meta.h meta_library.h" fortran="$src/fortran/meta_c.f90"
if [ "${META_TEST_MPI:-none}" != none ]; then
    headers="meta.h meta_library.h meta_comm.h meta_io.h"
    fortran="$fortran $src/fortran/meta_c_comm.f90 $src/fortran/meta_c_io.f90"
fi

# in_c HEADER…: its declarations, a line each.
in_c()
{
    for header in "$@"; do echo "#include \"$header\""; done |
        $cc -E -P -DMETA_API= $include - >"$here/headers.c" || { broken "$cc -E $*"; return; }
    $awk -v language=c -f "$src/tests/fortran/binding.awk" "$here/headers.c" | LC_ALL=C sort -u
}

in_c $headers >"$here/public"
all_headers=$headers
case $headers in *meta_io.h) all_headers="$headers support_comm.h support_io.h" ;; esac
in_c $all_headers >"$here/c"
# META_SUM is the one name that Fortran, where it is meta_sum, cannot have.
$awk -v language=fortran -f "$src/tests/fortran/binding.awk" $fortran |
    sed 's/^enumerator META_OP_SUM /enumerator META_SUM /' | LC_ALL=C sort -u >"$here/fortran"
[ "$(wc -l <"$here/public")" -gt 80 ] || broken 'the headers were not read'

LC_ALL=C comm -13 "$here/c" "$here/fortran" >"$here/extra"
while read -r line; do broken "Fortran declares, C does not: $line"; done <"$here/extra"

# Descriptors with an MPI_Comm are arguments instead: each of their members is one.
arguments_for()
{
    members=$(sed -n "s/^struct $1 (\(.*\))/\1/p" "$here/public" | tr ',' '\n' | awk '{ print $1 }')
    given=$(sed -n "s/^function meta_$2 .*(\(.*\))/\1/p" "$here/fortran" | tr ',' '\n' |
        awk '{ print $1 }')
    for member in $members; do
        case $member in size | "$3") continue ;; esac
        echo "$given" | grep -qx "$member" || broken "Fortran's meta_$2 has no $member of $1"
    done
}
if [ "$all_headers" != "$headers" ]; then
    arguments_for halo_desc halo_create
    arguments_for decompose_desc decompose
    arguments_for decompose_desc rebalance speed # which says that it means nothing here
    arguments_for decompose_desc balance speed
    arguments_for io_desc io_write
fi

# Of C's, Fortran has every enumerator, every other structure and every function.
grep '^enumerator' "$here/public" >"$here/wanted"
grep '^struct' "$here/public" | grep -v '^struct \(halo\|decompose\|io\)_desc ' >>"$here/wanted"
grep '^function' "$here/public" |
    grep -v '^function meta_\(halo_create\|decompose\|rebalance\|balance\|io_write\|io_write_begin\|io_open\) ' >>"$here/wanted"
LC_ALL=C sort -u "$here/wanted" | LC_ALL=C comm -23 - "$here/fortran" >"$here/missing"
while read -r line; do broken "C declares, Fortran does not: $line"; done <"$here/missing"

# Sizes, as the two compilers lay the structures out.
sed -n 's/^struct \([a-z_]*\) .*/\1/p' "$here/fortran" >"$here/structs"
{
    for header in $headers; do echo "#include \"$header\""; done
    echo '#include <stdio.h>'
    echo 'int main(void) {'
    while read -r name; do
        printf '%s\n' "printf(\"$name %zu\\n\", sizeof(meta_$name));"
    done <"$here/structs"
    echo 'return 0; }'
} >"$here/sizes_c.c"
{
    echo 'program sizes'
    case $headers in *meta_io.h) printf 'use meta_c_comm\nuse meta_c_io\n' ;; *) echo 'use meta_c' ;; esac
    echo 'implicit none'
    while read -r name; do echo "type(meta_c_$name) :: x_$name"; done <"$here/structs"
    while read -r name; do
        echo "print '(a,i0)', '$name ', size(transfer(x_$name, [0_c_int8_t]))"
    done <"$here/structs"
    echo 'end program'
} >"$here/sizes_f.f90"
$cc $include "$here/sizes_c.c" -o "$here/sizes_c" || broken 'the sizes in C'
$fc "$modules" "$here/sizes_f.f90" -o "$here/sizes_f" || broken 'the sizes in Fortran'
"$here/sizes_c" >"$here/c_sizes"
"$here/sizes_f" >"$here/f_sizes"
[ -s "$here/c_sizes" ] || broken 'there are no sizes'
diff "$here/c_sizes" "$here/f_sizes" || broken 'sizes of structures differ'

# exported NAME…: module meta has them.
exported()
{
    {
        echo 'program uses'
        for name in "$@"; do echo "use meta, only: $name"; done
        echo 'end program'
    } >"$here/uses.f90"
    (cd "$here" && $fc "$modules" -c uses.f90 2>uses.err)
}
# What calls the C functions: all but the declarations of them.
for file in "$src"/fortran/*.f90* "$src"/fortran/support*.c; do
    case $file in */meta_c.f90 | */meta_c_comm.f90 | */meta_c_io.f90) continue ;; esac
    sed 's/!.*//; /subroutine meta_/d; /function meta_/d; /procedure/d' "$file"
done >"$here/calls"
bound=0 public=0
for name in $(sed -n 's/^function \([a-z0-9_]*\) .*/\1/p' "$here/public"); do
    public=$((public + 1))
    if ! exported "$name"; then
        broken "module meta has no $name"
    elif ! grep -q "[^a-z_]\(c\|meta\)_${name#meta_}(" "$here/calls"; then
        broken "nothing in module meta calls $name"
    else
        bound=$((bound + 1))
    fi
done
# shellcheck disable=SC2046
exported $(sed -n 's/^enumerator \([A-Z0-9_]*\) .*/\1/p' "$here/public" |
    sed 's/^META_SUM$/META_OP_SUM/') ||
    broken 'module meta has not all enumerators'

echo "bound/public = $bound/$public = $((100 * bound / public)) %"
[ "$public" -gt 0 ] && [ $bound = $public ] || broken 'not every public function is bound'
test $status = 0 && echo 'kept   the binding is that of the headers'
exit $status
