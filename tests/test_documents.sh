#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Follows the README and doc/ like a newcomer: installs the library, sets no META_ variable, compiles
# the documents' programs with pkg-config and runs them.
#
#   test_documents.sh [PREFIX]
#
# Without PREFIX it is what tests/test_install.sh has installed, and LD_LIBRARY_PATH is set for its
# programs. `make installcheck` passes the configured PREFIX, where it is not needed.
# TEST: backends=any mpi=yes labels=documents needs=install
set -eu
top=$META_TEST_SRCDIR build=$META_TEST_BUILDDIR
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
unset LD_LIBRARY_PATH

if [ $# -gt 0 ]; then
    prefix=$1
else
    prefix=$build/tests/installed$(sed -n 's/^prefix=//p' "$build/core/libmeta.pc")
    export LD_LIBRARY_PATH="$prefix/lib"
fi
# every_compile_line_has_O2
lines=$(grep -nE '^[^|`]*(cc|-compiler\)) .*\.(c|f90) .*pkg-config' "$top/README.md" "$top"/doc/*.md "$top/packaging/modulefile.in")
if [ "$(printf '%s\n' "$lines" | wc -l)" -lt 15 ] || printf '%s\n' "$lines" | grep -v -e ' -O2 '; then
    echo 'BROKEN: compile lines of the documents without -O2, above, or fewer of them than there are'
    exit 1
fi
sanitize=
[ "${META_TEST_SANITIZE-no}" = no ] || sanitize='-fsanitize=address,undefined'
unset META_BACKEND_PATH META_MODE META_RANK_MAP META_THREADS

"$prefix/bin/meta-info" | grep -q '^  opencl  *usable' || { echo 'no device: opencl'; exit 77; }

# block FILE WORD [LANGUAGE]: the code block that begins with ```c WORD
block()
{
    awk -v first="^\`\`\`${3-c} *$2\$" '$0 ~ first { on = 1; next } /^```/ { on = 0 } on' "$1"
}

# in_fortran NAME: NAME.f90 by the compiler wrapper of this MPI, whose libraries are then found first.
in_fortran()
{
    mpifort=$("$prefix/bin/meta-info" --fortran-compiler)
    test -s "$1.f90" || { echo "$1.f90 is empty: the document has no such block"; exit 1; }
    # shellcheck disable=SC2046
    "$mpifort" -Wall -Werror $sanitize "$1.f90" -o "$1" \
        $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --define-variable=prefix="$prefix" \
            --cflags --libs libmeta_fortran) -Wl,-rpath,"$prefix/lib"
}

# compile NAME PACKAGE FLAG…
compile()
{
    name=$1 package=$2
    shift 2
    test -s "$name.c" || { echo "$name.c is empty: the document has no such block"; exit 1; }
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror $sanitize "$name.c" -o "$name" \
        $(pkg-config --define-variable=prefix="$prefix" --cflags --libs "$package") \
        -Wl,-rpath,"$prefix/lib" "$@"
}

expect()
{
    echo "$1"
    case $1 in "$2") ;; *) echo "expected: $2"; exit 1 ;; esac
}

# Documents' commands run as they stand there. What may be another MPI's where several are installed is another one's
# here, or fails.
mkdir bin
command_of() { printf '#!/bin/sh\nexec %s\n' "$2" >"bin/$1" && chmod +x "bin/$1"; }
command_of cc "${CC:-$(command -v cc)} $sanitize \"\$@\" '-Wl,-rpath,$prefix/lib'"
command_of pkg-config "'$(command -v pkg-config)' --define-variable=prefix='$prefix' \"\$@\""
other=mpich
[ "$META_TEST_MPI" != mpich ] || other=openmpi
for name in mpiexec mpirun mpicc mpifort; do
    command_of $name "'$(command -v $name.$other || command -v false)' \"\$@\""
done
# run_commands FILE: those in commands.sh, which are of FILE; their output is then in commands.out and commands.err.
run_commands()
{
    test -s commands.sh || { echo "$1 has no such commands"; exit 1; }
    PATH=$here/bin:$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib sh -eu commands.sh >commands.out 2>commands.err \
        </dev/null
}
# printed FILE [WORD]: runs the block of commands WORD, or those that name the MPI's programs.
printed()
{
    [ $# = 1 ] || block "$top/$1" "$2" sh >commands.sh
    [ $# = 2 ] || awk '
        /^```sh/ { on = 1; text = ""; next }
        /^```/ { if (on && text ~ /\$\(meta-info --/) printf "%s", text; on = 0 }
        on { text = text $0 "\n" }' "$top/$1" >commands.sh
    run_commands "$1" || { echo "the commands of $1 fail"; cat commands.out commands.err; exit 1; }
}

block "$top/README.md" '' >first.c
compile first libmeta_comm
expect "$($META_TEST_MPIEXEC -n 4 ./first)" '4 ranks: sum 1048576.0 of 1048576.0'
expect "$(META_RANK_MAP='0-1:openmp,*:opencl' $META_TEST_MPIEXEC -n 4 ./first)" \
    '4 ranks: sum 1048576.0 of 1048576.0'

# The same with the README's own kernel.
block "$top/README.md" smooth.kernel.h >smooth.kernel.h
block "$top/README.md" smooth.include >include
block "$top/README.md" smooth.call >call
sed -e '/^#include <meta_comm.h>/r include' -e '/meta_stencil(/{' -e 'r call' -e 'd' -e '}' first.c >smooth.c
grep -q smooth_f64 smooth.c || { echo 'the README has no call of its kernel'; exit 1; }
compile smooth libmeta_comm
expect "$(META_RANK_MAP='0-1:openmp,*:opencl' $META_TEST_MPIEXEC -n 4 ./smooth)" \
    '4 ranks: sum 1048576.0 of 1048576.0'

# The same in Fortran, and with the communicator of mpi_f08, where there is a compiler for it.
if [ -n "$(sed -n 's/^MPIFORT = //p' "$build/Makefile")" ]; then
    block "$top/doc/fortran.md" first fortran >first_f.f90
    in_fortran first_f
    expect "$($META_TEST_MPIEXEC -n 4 ./first_f)" '4 ranks: sum 1048576.0 of 1048576.0'
    expect "$(META_RANK_MAP='0-1:openmp,*:opencl' $META_TEST_MPIEXEC -n 4 ./first_f)" \
        '4 ranks: sum 1048576.0 of 1048576.0'
    sed -e 's/use mpi$/use mpi_f08/' -e 's/integer :: cart$/type(MPI_Comm) :: cart/' \
        -e 's/halo, cart,/halo, cart%MPI_VAL,/' first_f.f90 >first_f08.f90
    in_fortran first_f08
    expect "$($META_TEST_MPIEXEC -n 2 ./first_f08)" '2 ranks: sum 524288.0 of 524288.0'
    block "$top/doc/fortran.md" view fortran >view.f90
    in_fortran view
    expect "$(./view)" 2304.0
    block "$top/doc/fortran.md" family fortran >family.f90
    in_fortran family
    expect "$(./family)" 20160.0
fi

for guide in kernels:wave kernel-teams:prefix native-code:bits; do
    name=${guide#*:} guide=$top/doc/${guide%:*}.md
    block "$guide" $name.kernel.h >$name.kernel.h
    block "$guide" $name >$name.c
    compile $name libmeta -lm
done
# The guide shows the kernels and their calls only.
block "$top/doc/kernels.md" staggered.family >staggered.family
test -s staggered.family
for name in grow staggered charge; do
    block "$top/doc/kernels.md" $name.kernel.h >$name.kernel.h
    block "$top/doc/kernels.md" $name.call >$name.call
    test -s $name.call
    cp "$top/tests/documents/$name.c" $name.c
    compile $name libmeta -lm
done
heights=$(META_MODE=openmp ./wave)
case $heights in 'height 0.'*) ;; *) echo "$heights"; exit 1 ;; esac
expect "$(META_MODE=opencl ./wave)" "$heights"
expect "$(META_MODE=openmp ./grow)" '250 full, sum 1873750'
expect "$(META_MODE=opencl ./grow)" '250 full, sum 1873750'
for check in off on; do
    expect "$(META_MODE=openmp META_CHECK=$check ./bits)" '4932 bits'
    expect "$(META_MODE=opencl META_CHECK=$check ./bits)" '4932 bits'
done
expect "$(META_MODE=openmp ./staggered)" -600.0
expect "$(META_MODE=opencl ./staggered)" -600.0
expect "$(META_MODE=openmp ./prefix)" '64, 64, the last 40'
expect "$(META_MODE=opencl ./prefix)" '64, 64, the last 40'
block "$top/doc/run-time-compilation.md" text >text.c
compile text libmeta
expect "$(META_MODE=openmp ./text)" 'sum 62.5'
expect "$(META_MODE=opencl ./text)" 'sum 62.5'
expect "$(META_MODE=openmp ./charge)" '0.3162 0.6325 0.3162 0.6325 0.0000 '
expect "$(META_MODE=opencl ./charge)" '0.3162 0.6325 0.3162 0.6325 0.0000 '
block "$top/doc/kernel-results.md" coldest.kernel.h >coldest.kernel.h
block "$top/doc/kernel-results.md" coldest >coldest.c
compile coldest libmeta_comm -lm
places='coldest 0 at 199, 27; warmest 1008 at 199, 17'
expect "$(META_MODE=openmp $META_TEST_MPIEXEC -n 1 ./coldest)" "$places"
expect "$(META_RANK_MAP='0-1:openmp,*:opencl' $META_TEST_MPIEXEC -n 3 ./coldest)" "$places"
printed doc/kernel-results.md
expect "$(cat commands.out)" "$places"
# The text as an object of its own, by the guide's command.
awk '/^```sh$/ { on = 1; next } /^```/ { on = 0 } on' "$top/doc/building-kernels.md" | sed -n '/^{ echo/,$p' >text.sh
sh -eu text.sh
compile wave libmeta -lm -DMETA_KERNEL_TEXT_APART -DMETA_KERNEL_ONE_VARIANT wave_text.c
expect "$(META_MODE=opencl ./wave)" "$heights"

# Devices chosen by the library, and by a policy of the program's own.
block "$top/doc/scheduling.md" auto >auto.c
compile auto libmeta
expect "$(META_AUTO_DEVICES=openmp,opencl ./auto)" 'sum 200000.0'
block "$top/doc/scheduling.md" policy >policy.c
compile policy libmeta
expect "$(META_MODE=auto META_AUTO_DEVICES=openmp,opencl ./policy)" 'sum 500.0, 2 kernels'

# The tutorial's programs, before and after: the same digits on any devices and numbers of ranks.
block "$top/doc/tutorial.md" plain >plain.c
compile plain libmeta_comm -lm
block "$top/doc/tutorial.md" tutorial.kernel.h >tutorial.kernel.h
block "$top/doc/tutorial.md" tutorial >tutorial.c
compile tutorial libmeta_comm -lm
plain=$($META_TEST_MPIEXEC -n 2 ./plain)
expect "$plain" 'change 0.002099797178, heat 900.000000'
expect "$(META_MODE=openmp $META_TEST_MPIEXEC -n 1 ./tutorial)" "$plain"
expect "$(META_RANK_MAP='0-1:openmp,*:opencl' $META_TEST_MPIEXEC -n 4 ./tutorial)" "$plain"

# What comes from elsewhere: a program in MetaMorph's style, and MiniGhost's time loop.
block "$top/doc/from-metamorph.md" metamorph >metamorph.c
compile metamorph libmeta_metamorph
expect "$(METAMORPH_MODE=OpenCL $META_TEST_MPIEXEC -n 2 ./metamorph)" 'sum 18600 of 18600'
expect "$(META_RANK_MAP='0:openmp,*:opencl' $META_TEST_MPIEXEC -n 3 ./metamorph)" 'sum 37200 of 37200'
if [ -n "$(sed -n 's/^MPIFORT = //p' "$build/Makefile")" ]; then
    block "$top/doc/from-minighost.md" minighost fortran >minighost.f90
    in_fortran minighost
    expect "$(META_RANK_MAP='0:openmp,*:opencl' $META_TEST_MPIEXEC -n 2 ./minighost)" 'heat 1200.000 of 1200'
fi
# The same bits whether a run goes on or not, on any ranks.
block "$top/doc/files.md" files >files.c
compile files libmeta_io
expect "$($META_TEST_MPIEXEC -n 2 ./files)" 'step 20, sum 2304.0'
expect "$(META_RANK_MAP='0-1:openmp,*:opencl' $META_TEST_MPIEXEC -n 3 ./files)" 'step 40, sum 2304.0'
expect "$(echo heat.*)" 'heat.2 heat.3'

block "$top/doc/library.md" poisson >poisson.c
compile poisson libmeta -lm
expect "$(META_MODE=openmp ./poisson)" 'largest 301.700 after enough steps'
expect "$(META_MODE=opencl ./poisson)" 'largest 301.700 after enough steps'

block "$top/doc/native-code.md" openmp >native_openmp.c
printed doc/native-code.md openmp
expect "$(cat commands.out)" 55
block "$top/doc/native-code.md" opencl >native_opencl.c
printed doc/native-code.md opencl
expect "$(cat commands.out)" 55

# An error that META_CHECK=on finds, and what the guide says it prints.
block "$top/doc/checking.md" fault >fault.c
block "$top/doc/checking.md" fault sh >commands.sh
! run_commands doc/checking.md || { echo 'doc/checking.md has a program without a fault'; exit 1; }
block "$top/doc/checking.md" fault text | sed 's/0x[0-9a-f]*/ADDRESS/' >expected.err
test -s expected.err
sed 's/0x[0-9a-f]*/ADDRESS/' commands.err | diff expected.err -
./fault

# What is for CUDA is compiled wherever the compiler is, and run where there is a device.
nvcc=$(sed -n 's/^NVCC = //p' "$build/Makefile")
# shellcheck disable=SC2086 # two words with ccache
if [ -e "$prefix/lib/libmeta/cuda.so" ] && [ -z "$sanitize" ]; then
    block "$top/doc/native-code.md" cuda >native_cuda.cu
    test -s native_cuda.cu
    $nvcc -Werror all-warnings native_cuda.cu -o native_cuda -I"$prefix/include/libmeta" -L"$prefix/lib" \
        -lmeta -Xlinker -rpath,"$prefix/lib"
    ! "$prefix/bin/meta-info" | grep -q '^  cuda  *usable' || expect "$(./native_cuda)" 55
fi

# With ranks.
fortran=$(sed -n 's/^MPIFORT = //p' "$build/Makefile")
rm first
printed doc/cheat-sheet.md
expect "$(grep -c . commands.sh)" 8
expect "$(grep -c '^[24] ranks: sum' commands.out)" 5
grep -q '^  stencil_3d7p_sum f64' commands.err || { cat commands.err; echo 'there is no profile'; exit 1; }
printed README.md
expect "$(grep -c '^4 ranks: sum' commands.out)" 2
if [ -n "$fortran" ]; then
    mv first_f.f90 first.f90
    printed doc/fortran.md first
    expect "$(cat commands.out)" '4 ranks: sum 1048576.0 of 1048576.0'
fi
printed doc/applications.md
expect "$(tail -n 1 commands.out)" PASS
ls diffusion*.png
printed doc/tutorial.md
expect "$(grep -c "^$plain\$" commands.out)" 2
printed doc/checking.md
expect "$(tail -n 1 commands.out)" PASS
ln -s "$top/tools" tools
printed doc/profiling.md
expect "$(grep -c '^PASS$' commands.out)" 5
for file in run.json summary.json run.html log.1; do test -s $file || { echo "there is no $file"; exit 1; }; done
bare=$(grep -nE '(^|[^./a-z-])(mpiexec|mpirun|mpicc|mpifort) +[-$a-z]' "$top/README.md" "$top"/doc/*.md || :)
[ -z "$bare" ] || { echo "name the launcher and compilers by meta-info: $bare"; exit 1; }

# fails_with TEXT PROGRAM LAUNCHER…: the program fails and says so. Into files of its own: a launcher that ends a job
# may lose what its programs have said last.
fails_with()
{
    text=$1 program=$2
    shift 2
    rm -f said.*
    ! "$@" sh -c 'exec "$0" >said.$$ 2>&1' "$program" || { echo "$program under $* is no error"; exit 1; }
    grep -q "$text" said.* || { cat said.*; echo "$program under $* does not say: $text"; exit 1; }
}
# A program that was linked with the other MPI is told so. That one may have to be allowed to run here.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
echo end >nothing.f90
if [ -n "$fortran" ] && mpifort.$other nothing.f90 -o nothing 2>/dev/null; then
    # shellcheck disable=SC2046
    mpifort.$other first.f90 -o wrong $(PATH=$here/bin:$PATH pkg-config --cflags --libs libmeta_fortran) \
        -Wl,-rpath,"$prefix/lib"
    for launcher in "$META_TEST_MPIEXEC" mpiexec.$other; do
        fails_with 'two MPI libraries are loaded in this process: .*MPI.* and .*MPI' ./wrong "$launcher" -n 1
    done
fi
# The other MPI's launcher starts each rank as the only one.
if command -v mpiexec.$other >/dev/null; then
    block "$top/README.md" '' >first.c
    compile first libmeta_comm
    fails_with 'meta-info --launcher names it' ./first mpiexec.$other -n 2
fi

# Modules are opened, never linked with.
expect "$(find "$prefix/lib/libmeta" -name '*.la')" ''

# The installed programs find everything by themselves.
expect "$("$prefix/bin/meta-info" | grep -c '^  open[mc][pl]  *usable')" 2
"$prefix/bin/meta-info" --env >/dev/null

# The documents are installed, and found there.
doxygen=$(sed -n 's/^DOXYGEN = //p' "$build/Makefile")
html=
if [ $# = 0 ] && command -v "$doxygen" >/dev/null; then
    html=html
    MAKEFLAGS='' make -s -C "$build" install-html DESTDIR="$build/tests/installed" >install.log 2>&1 || {
        cat install.log
        exit 1
    }
fi
"$prefix/bin/meta-info" --documents >documents
cat documents
for what in README 'cheat sheet' guides examples 'manual pages' ${html:+HTML}; do
    path=$(sed -n "s/^  $what  *\\(\\/.*\\)\$/\\1/p" documents)
    case $path in "$(realpath "$prefix")"/*) ;; *) echo "$what is at: $path"; exit 1 ;; esac
    [ -e "$path" ] || { echo "$path is not there"; exit 1; }
done
for page in man3/meta_alloc.3 man3/meta_halo_create.3 man3/META_ERR_BOUNDS.3 man3/metamorph_mpi_init.3 \
    man3/meta_dotProd.3 man1/meta-minighost.1 man1/meta-plot-profile.1 man7/libmeta.7; do
    [ -s "$prefix/share/man/$page" ] || { echo "$page is not installed"; exit 1; }
done
for guide in "$top"/doc/*.md; do
    grep -q "^    ${guide##*/}  *[A-Za-z]" documents || { echo "$guide is not installed"; exit 1; }
done
"$prefix/bin/meta-info" --ranks 4 >/dev/null
! command -v python3 >/dev/null || "$prefix/bin/meta-plot-profile" --version
$META_TEST_MPIEXEC -n 2 "$prefix/bin/meta-dot3d" --nx 16 --ny 8 --nz 4 --iters 2 >dot3d.out ||
    { cat dot3d.out; exit 1; }
expect "$(tail -n 1 dot3d.out)" PASS
