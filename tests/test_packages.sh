#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A release as Debian packages: they are made, and lintian finds no error. packaging/Dockerfile says how, and its steps
# are run in clean roots of Debian 12 and 13; there a user compiles and runs the README's first programs, with pkg-config and
# with CMake.
#
#   test_packages.sh [12|13]  all of this, in roots of one release or both
#   test_packages.sh here     only make the packages, with this machine's compilers and without optimization, and see
#                             what lintian says
# TEST: timeout=3600 labels=packages alone=yes long=yes
set -u
src=$(cd "$META_TEST_SRCDIR" && pwd) build=$(cd "$META_TEST_BUILDDIR" && pwd)
skip() { echo "skipped packages_work_in_a_clean_root"; echo "$*"; exit 77; }
version=$(sed -n 's/^Version: //p' "$build/core/libmeta.pc")
[ "$(id -u)" = 0 ] || [ $# != 0 ] || skip 'clean roots need root'
for tool in mmdebstrap lintian dpkg-buildpackage unshare; do
    [ "$tool $*" != 'mmdebstrap here' ] || continue
    command -v $tool >/dev/null && continue
    [ -z "${META_TEST_REQUIRE_TOOLS-}" ] || { echo "BROKEN: there is no $tool here"; exit 1; }
    skip "there is no $tool here"
done
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1

# quietly WHAT COMMAND…: its output only if it fails.
quietly()
{
    what=$1 began=$(date +%s)
    shift
    "$@" >log 2>&1 </dev/null || { tail -n 60 log; echo "BROKEN: $what"; exit 1; }
    echo "$what: $(($(date +%s) - began)) s"
}
# checked FOLDER: lintian on the packages there.
checked() { quietly 'lintian' lintian --allow-root --fail-on error "$1"/libmeta_*.changes; }

MAKEFLAGS='' quietly 'make dist' make -s -C "$build" dist
cp "$build/libmeta-$version.tar.gz" .
sh "$src/tests/left_out.sh" "libmeta-$version.tar.gz" || exit
if [ "${1-}" = here ]; then
    tar xf "libmeta-$version.tar.gz"
    cd "libmeta-$version" || exit 1
    DEB_BUILD_OPTIONS="nocheck noopt noautodbgsym parallel=$(getconf _NPROCESSORS_ONLN)"
    export DEB_BUILD_OPTIONS
    # -d: what it is built with need not come from Debian's packages.
    MAKEFLAGS='' quietly 'dpkg-buildpackage' dpkg-buildpackage -us -uc -b -d
    checked ..
    exit
fi

# The first programs of the README and the guides, and the guide's project.
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$src/README.md" >first.c
awk '/^```fortran first$/ { on = 1; next } /^```/ { on = 0 } on' "$src/doc/fortran.md" >first.f90
awk '/^```python first$/ { on = 1; next } /^```/ { on = 0 } on' "$src/doc/python.md" >first.py
awk '/^```cmake$/ && !n++ { on = 1; next } /^```/ { on = 0 } on' "$src/doc/installing.md" >CMakeLists.txt
status=0
# prints TEXT COMMAND: of the user, in the image.
prints()
{
    python3 "$src/tests/build_image.py" --in "$root" user "$2" >out 2>err
    got=$?
    [ $got = 0 ] && grep -q -F -x -e "$1" out && { echo "kept   Debian $release: $2"; return; }
    cat out err
    echo "BROKEN: Debian $release: status $got, expected a line '$1' of: $2"
    status=1
}
sum='4 ranks: sum 1048576.0 of 1048576.0'
for release in ${1-12 13}; do
    root=$here/$release/1
    quietly "the image, Debian $release" python3 "$src/tests/build_image.py" "$src/packaging/Dockerfile" "$here" "$here/$release" \
        "VERSION=$version" "DEBIAN=$release"
    [ "$release" != 12 ] || checked 12/0/build # by this machine's lintian, which is Debian 12's
    cp first.* CMakeLists.txt "$root/home/user"
    prints "$sum" 'cc -O2 first.c $(pkg-config --cflags --libs libmeta_comm) -o first && mpiexec -n 4 ./first'
    prints "$sum" 'META_RANK_MAP="0-1:openmp,*:opencl" mpiexec -n 4 ./first'
    prints "$sum" 'mpifort first.f90 $(pkg-config --cflags --libs libmeta_fortran) -o first_f && mpiexec -n 4 ./first_f'
    prints "$sum" 'cmake -S . -B cmake-build && cmake --build cmake-build && mpiexec -n 4 cmake-build/first'
    prints True 'python3 first.py'
    prints yes 'meta-info && meta-kernel --help >/dev/null && echo yes'
    prints /usr/share/man/man3/meta_halo_exchange.3.gz 'man -w meta_halo_exchange'
    rm -rf "${here:?}/$release"
done
exit $status
