#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `pip install` of the package from the source tree, the ways to the library, and the programs of doc/python.md.
# TEST: labels=python,documents
. "$META_TEST_SRCDIR/tests/programs.sh"
. "$META_TEST_SRCDIR/tests/python.sh"
: >out >err
version=$(sed -n 's/^PACKAGE_VERSION = //p' "$build/Makefile")

# version_by NAME=VALUE…: of the library that is found with this environment alone.
version_by()
{
    env -u LIBMETA "$@" "$python" -c 'import libmeta; print(*libmeta.version())' >out 2>err
    [ "$(cat out)" = "$(echo "$version" | tr . ' ')" ] || broken "with $*"
}

what='finding the library'
ln -s "$build/.libs" lib
version_by LIBMETA="$build/.libs/libmeta.so"
version_by LIBMETA="$build/.libs"
version_by LIBMETA="$here"
mkdir pc
printf 'libdir=%s\nName: libmeta\nDescription: the build\nVersion: 0\n' "$build/.libs" >pc/libmeta.pc
version_by PKG_CONFIG_PATH="$here/pc"
mkdir -p share/libmeta
cp -R "$src/python" share/libmeta/python
version_by PKG_CONFIG_PATH=/nonexistent PKG_CONFIG_LIBDIR=/nonexistent PYTHONPATH="$here/share/libmeta/python"
version_by PKG_CONFIG_LIBDIR=/nonexistent LD_LIBRARY_PATH="$build/.libs"
LIBMETA=/nonexistent "$python" -c 'import libmeta' >out 2>err && broken 'a wrong LIBMETA is no error'
grep -q '/nonexistent (LIBMETA): ' err || broken 'does not say what was tried'

what='pip install'
if "$python" -c 'import setuptools, wheel, pip' 2>/dev/null; then
    chmod -R u+w share && "$python" -m pip install -q --no-build-isolation --no-index --no-deps --target site \
        --disable-pip-version-check --root-user-action=ignore share/libmeta/python >out 2>err || broken 'fails'
    PYTHONPATH=$here/site "$python" -c 'import libmeta; print(libmeta.__file__, libmeta.version())' >out 2>err
    grep -q "^$here/site/libmeta/__init__.py ($(echo "$version" | sed 's/\./, /g'))" out || broken 'the installed package does not work'
    [ -d "site/libmeta-$version.dist-info" ] || broken "is not $version, as libmeta is"
else
    broken 'there is no pip, setuptools or wheel here (Debian: python3-pip python3-setuptools python3-wheel)'
fi

# block NAME: the program of that name in the guide.
block() { awk -v first="\`\`\`python $1" '$0 == first { on = 1; next } /^```/ { on = 0 } on' "$src/doc/python.md"; }
what='the programs of the guide'
for mode in openmp opencl; do
    [ $mode = openmp ] || "$build/meta-info" | grep -q '^  opencl  *usable' || continue
    block first >first.py
    META_MODE=$mode "$python" first.py >out 2>err
    [ "$(cat out)" = True ] || broken "first, on $mode"
    block family >family.py
    META_MODE=$mode "$python" family.py >out 2>err
    [ "$(cat out)" = '(101, 80) 20160.0' ] || broken "family, on $mode"
    block kernel >kernel.py
    META_MODE=$mode "$python" kernel.py >out 2>err
    heat=$(cat out)
    case $heat in 400.000000\ 0.0*) ;; *) broken "kernel, on $mode" ;; esac
    [ "${last-$heat}" = "$heat" ] || broken "kernel, on $mode: $heat; on openmp: $last"
    last=$heat
done

what='the example in C and in Python'
if [ "${META_TEST_MPI:-none}" != none ]; then
    $(sed -n 's/^MPICC = //p' "$build/Makefile") -O1 -DMETA_KERNEL_ONE_VARIANT -I"$src/core" -I"$src/kernels" \
        -I"$src/comm" "$src/examples/gray_scott.c" -o gray_scott -L"$build/.libs" -lmeta_comm -lmeta \
        "-Wl,-rpath,$build/.libs,-rpath-link,$build/.libs" >out 2>err || broken 'does not compile'
    META_MODE=openmp $META_TEST_MPIEXEC -n 1 ./gray_scott 25 >out 2>err
    in_c=$(cat out)
    META_MODE=openmp "$python" "$src/examples/gray_scott.py" 25 >out 2>err
    case $in_c in '1 ranks: largest change of V in step 25: '*) ;; *) broken "in C: $in_c" ;; esac
    [ "$(cat out)" = "$in_c" ] || broken "in C: $in_c"
fi
[ $failed = 0 ] && echo 'kept   the package is installed, finds the library, and does what the guide says'
exit $failed
