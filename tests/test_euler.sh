#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example of compressible flow has Sod's shock tube right, along either axis with the same bits; conserves mass and
# energy; keeps a symmetric blast symmetric; has the same bits on any ranks and after a restart, and OpenCL the
# numbers of OpenMP; called from Fortran the kernels compute the same bits.
# TEST: backends=any mpi=yes labels=documents needs=install
. "$META_TEST_SRCDIR/tests/programs.sh"
need_opencl
unset LD_LIBRARY_PATH

prefix=$build/tests/installed$(sed -n 's/^prefix=//p' "$build/core/libmeta.pc")
export LD_LIBRARY_PATH="$prefix/lib"
export META_RANK_MAP='*:openmp'

# One instruction set, hardly optimized: numbers are of interest.
flags='-O1 -Wall -Wextra -Werror -DMETA_KERNEL_ONE_VARIANT -DMETA_KERNEL_PROGRAM_LEVEL'
[ "${META_TEST_SANITIZE-no}" != yes ] || flags="$flags -fsanitize=address,undefined"
mkdir bin
real=$(command -v pkg-config)
printf '#!/bin/sh\nexec "%s" --define-variable=prefix="%s" "$@"\n' "$real" "$prefix" >bin/pkg-config
chmod +x bin/pkg-config
what='make'
PATH=$here/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig MAKEFLAGS='' \
    make -s -f "$prefix/share/doc/libmeta/examples/Makefile" CC="${CC:-cc}" CFLAGS="$flags" euler euler_mpi >out 2>err ||
    broken 'fails'
[ $failed = 0 ] || exit 1

# euler RANKS ARGUMENT…: in this folder.
euler()
{
    on=$1
    shift
    ran 0 "$on" "$here/euler" "$@"
}
# ran STATUS RANKS PROGRAM ARGUMENT…: run(), of a program that is not in the build folder.
ran()
{
    (build=; run "$@"; exit $failed) || failed=1
    what="$3 on $2 ranks"
}
same() { cmp -s "$1" "$2" || broken "$1 is not $2"; }
# rows FORMAT NX NY FILE: what NumPy's file has, a row of the grid on each line.
rows() { tail -c $((8 * $2 * $3)) "$4" | od -An -v -t "$1" -w$((8 * $2)); }
columns() { awk '{ for (n = 1; n <= NF; ++n) line[n] = line[n] " " $n } END { for (n = 1; n <= NF; ++n) print line[n] }'; }
upside_down() { awk '{ line[NR] = $0 } END { for (n = NR; n > 0; --n) print line[n] }'; }
plain() { awk '{ $1 = $1; print }'; }

# Sod's tube: the exact solution of the Riemann problem (Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics,
# chapter 4), for the gases of the problem: pressure in the middle by bisection, then the wave that x/t is in.
euler 1 sod-x 200 4 --density x.npy
rows f8 200 4 x.npy | awk '
    function speed(p, p0, d0) {
        return p > p0 ? (p - p0) * sqrt(2 / d0 / (2.4 * p + 0.4 * p0)) : 5 * sqrt(1.4 * p0 / d0) * ((p / p0) ^ (1 / 7) - 1)
    }
    NR == 1 {
        low = 0.1
        for (high = 1; high - low > 1e-14; ) {
            p = (low + high) / 2
            if (speed(p, 1, 1) + speed(p, 0.1, 0.125) > 0) high = p
            else low = p
        }
        u = speed(p, 0.1, 0.125); c0 = sqrt(1.4)
        left = p ^ (1 / 1.4); c = sqrt(1.4 * p / left)
        right = 0.125 * (6 * p + 0.1) / (6 * 0.1 + p)
        shock = sqrt(1.4 * 0.1 / 0.125 * (6 * p / 0.1 + 1) / 7)
        for (n = 1; n <= NF; ++n) {
            s = ((n - 0.5) / NF - 0.5) / 0.2
            exact = s < -c0 ? 1 : s < u - c ? ((5 - s / c0) / 6) ^ 5 : s < u ? left : s < shock ? right : 0.125
            sum += $n > exact ? $n - exact : exact - $n
        }
        error = sum / NF
    }
    { $1 = $1; if (NR == 1) first = $0; else if ($0 != first) differ = 1 }
    END { print error, differ + 0; exit !(NR == 4 && error > 0 && error < 0.003 && !differ) }' >error ||
    broken "the mean error of the density, and whether rows differ: $(cat error); below 0.003 and 0 are right"
rows x8 200 4 x.npy | columns | plain >x.rows
euler 1 sod-y 4 200 --density y.npy
rows x8 4 200 y.npy | plain | cmp -s - x.rows || broken 'sod-y has other bits than sod-x'

# A blast in the middle: what is conserved, from the first line to the last, and symmetry about both axes. About the
# diagonal there is none to the bit, because a sweep along one axis comes first.
euler 1 blast 48 48 --steps 300 --time 9 --log 300 --density all.npy
awk '/^step/ { for (n = 1; n < NF; ++n) { if ($n == "mass") m = $(n + 1) + 0; if ($n == "energy") e = $(n + 1) + 0 } }
    /^step 0,/ { m0 = m; e0 = e; ++lines }
    /^step 300,/ { ++lines; drift = (m / m0 - 1) ^ 2 + (e / e0 - 1) ^ 2 }
    END { exit !(lines == 2 && m0 > 0 && e0 > 0 && drift < 1e-24) }' out || broken 'mass or energy is not conserved'
rows x8 48 48 all.npy | plain >all
upside_down <all >mirrored_y
same mirrored_y all
columns <all | upside_down | columns | plain >mirrored_x
same mirrored_x all

# Any ranks, and a restart on others: the same bits, and with reproducible sums the same lines.
export META_REPRODUCIBLE=on
for ranks in 1 2 4; do
    euler $ranks blast 37 26 --steps 60 --time 9 --log 20 --snapshot 30 --file "on$ranks" --density "on$ranks.npy"
    grep '^step' out >"on$ranks.log"
    for file in npy 30 60 log; do same "on$ranks.$file" "on1.$file"; done
done
rm on4.60
euler 2 blast 37 26 --steps 60 --time 9 --log 20 --restart on4 --snapshot 60 --file again --density again.npy
same again.60 on1.60
same again.npy on1.npy
grep -q '^step 30,' out || broken 'does not begin with step 30'
tail -n 1 on1.log >last
grep '^step' out | tail -n 1 | cmp -s - last || broken 'its last line is another one'
unset META_REPRODUCIBLE

# Sod's tube by the same kernels from Fortran: the same file.
mpifort=$(sed -n 's/^MPIFORT = //p' "$build/Makefile")
if [ -n "$mpifort" ]; then
    what='make euler_fortran'
    PATH=$here/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig MAKEFLAGS='' \
        make -s -f "$prefix/share/doc/libmeta/examples/Makefile" CC="${CC:-cc}" CFLAGS="$flags" FC="$mpifort" \
        FFLAGS="-O1 -Wall -Wextra -Werror${flags##*PROGRAM_LEVEL}" euler_fortran >out 2>err || broken 'fails'
    euler 1 sod-x 37 26 --density c.npy
    for ranks in 1 4; do
        ran 0 $ranks "$here/euler_fortran" 37 26 fortran.npy
        same fortran.npy c.npy
    done
fi

# The same in plain MPI and OpenMP, on the same ranks: the same bits.
for ranks in 1 4; do
    OMP_NUM_THREADS=1 ran 0 $ranks "$here/euler_mpi" blast 37 26 60 raw
    tail -c $((8 * 37 * 26)) on1.npy | cmp -s - raw || broken 'the density is not that of euler'
done

# OpenCL beside OpenMP: libmeta contracts no multiply-adds, but a device's square root may differ.
export META_RANK_MAP='0:opencl,*:openmp'
euler 2 blast 37 26 --steps 60 --time 9 --density cl.npy
{ rows f8 37 26 on1.npy; rows f8 37 26 cl.npy; } | awk '
    NR <= 26 { line[NR] = $0; next }
    { split(line[NR - 26], was); for (n = 1; n <= 37; ++n) if (($n - was[n]) ^ 2 > 1e-18) far = 1 }
    END { exit NR != 52 || far }' || broken 'the density is not that of OpenMP'
export META_RANK_MAP='*:openmp'

# What is wrong is named, with what would be right.
wrong()
{
    text=$1 on=$2
    shift 2
    ran 2 "$on" "$here/euler" "$@"
    grep -q -e "$text" err || broken "does not say: $text"
}
wrong "PROBLEM is sod-x, sod-y or blast, not 'sod'" 1 sod 10 10
wrong "NX and NY are numbers of cells from 4 on, not '3'" 1 blast 3 10
wrong "NX and NY are numbers of cells from 4 on, not '9x'" 1 blast 10 9x
wrong "PROBLEM NX NY are three arguments; they end with '10'" 1 blast 10
wrong "there is no option '--stpes'" 1 --stpes 3 blast 10 10
wrong "take a number of steps, not '-1'" 1 --steps -1 blast 10 10
wrong "takes a time above 0, not 'nan'" 1 --time nan blast 10 10
wrong "a value is missing behind '--restart'" 1 blast 10 10 --restart
wrong 'give fewer ranks or more' 4 blast 10 4
euler 1 --help
grep -q '^usage: euler' out || broken 'has no help'
ran any 2 "$here/euler" blast 8 8 --restart none
grep -q 'no checkpoint none.0' err || broken 'does not say which file is missing'

[ $failed = 0 ] && echo "Sod's tube and a blast are as they should be"
exit $failed
