#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Text that the library writes and reads is the same in each locale: with a decimal comma, and where the capital of i is
# not I, as programs with windows have it.
# TEST: labels=core,io mpi=yes
. "$META_TEST_SRCDIR/tests/programs.sh"
command -v localedef >/dev/null && [ -f /usr/share/i18n/locales/de_DE ] ||
    { echo 'there are no sources of locales here (Debian: locales)'; exit 77; }
export LOCPATH=$here/locales META_TEST_LOCALE
mkdir "$LOCPATH"
for name in de_DE tr_TR; do
    localedef -i $name -f UTF-8 "$LOCPATH/$name.UTF-8" >out 2>&1 || { cat out; exit 1; }
done

# The files of viewers, with numbers as text.
write_files()
{
    META_TEST_LOCALE=$1
    mkdir "$1"
    cd "$1" || exit 1
    for step in 1 3; do
        "$build/tests/io_file" write vtk run$step.vti $step || failed=1
        ! grep -q 'define HAVE_HDF5' "$build/config.h" ||
            "$build/tests/io_file" write hdf5 run$step.h5 $step || failed=1
    done
    rm -f ./*.h5
    cd ..
}
write_files C
grep -q 'timestep="0.5" file="run1.vti"' C/series.pvd && grep -q 'Spacing="0.5 ' C/run1.vti ||
    { echo 'BROKEN: the files have no fractions'; failed=1; }
write_files de_DE.UTF-8
diff -r C de_DE.UTF-8 || { echo 'BROKEN: files differ in the locale de_DE.UTF-8'; failed=1; }

# What these tests hold of texts, they hold in each locale. They write below the build folder.
ran=0
hold_in()
{
    META_TEST_LOCALE=$1
    shift
    for test; do
        what="test_$test in the locale $META_TEST_LOCALE"
        if (cd "$build" && META_MODE=openmp exec tests/test_$test) >out 2>err; then ran=$((ran + 1))
        else broken 'failed'; fi
    done
}
hold_in de_DE.UTF-8 auto_reasons comm_life devices io learned log policy pool profile profile_json values
hold_in tr_TR.UTF-8 devices learned log policy pool profile values # UCX 1.13 does not start there: 'diag' is not DIAG
[ $failed = 0 ] && echo "kept   $ran programs and their files in locales of other decimal points and capitals"
exit $failed
