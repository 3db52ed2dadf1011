#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs with kernels are built by CMake, make and automake with an installed libmeta, in folders with
# spaces; a change of the kernel file alone rebuilds what it must. CMake finds the components of the package.
# TEST: backends=any labels=build needs=install
. "$META_TEST_SRCDIR/tests/programs.sh"
unset LD_LIBRARY_PATH MAKEFLAGS MAKEOVERRIDES
META_CACHE_DIR=$here/cache
export META_CACHE_DIR
installed="$here/installed here"
cp -a "$build/tests/installed" "$installed"
prefix=$installed$(sed -n 's/^prefix=//p' "$build/core/libmeta.pc")
LD_LIBRARY_PATH=$prefix/lib
export LD_LIBRARY_PATH
cc=${CC:-cc}
case ${META_TEST_SANITIZE-no} in
yes) flags='-O1 -fsanitize=address,undefined' ;;
thread) flags='-O1 -fsanitize=thread' ;;
*) flags=-O1 ;;
esac

version=$(sed -n 's/^AC_INIT(\[libmeta\], \[\([^]]*\)\].*/\1/p' "$META_TEST_SRCDIR/configure.ac")
minor=${version%.*}
next=${minor%.*}.$((${minor#*.} + 1)) # which this version is not compatible with

# pkg-config knows the place that libmeta was configured for; here it is another.
mkdir bin
real=$(command -v pkg-config)
printf '#!/bin/sh\nexec "%s" --define-variable=prefix="%s" "$@"\n' "$real" "$prefix" >bin/pkg-config
chmod +x bin/pkg-config
PATH=$here/bin:$PATH PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PATH PKG_CONFIG_PATH

# A program of two sources, which calls the kernels of two files of one name, and prints their sum.
# written FOLDER NUMBER: the kernels add it.
written()
{
    mkdir -p "$1/inner"
    for sign in + -; do
        case $sign in +) name=more file=$1/more.kernel.h ;; -) name=less file=$1/inner/less.kernel.h ;; esac
        cat >"$file" <<END
#define META_KERNEL_TYPES META_KERNEL_I32
#include <meta_kernel.h>
#define ${name}_ARGS(A) A(INOUT, T, x) A(SUM, T, sum)
META_CELLS($name)
{
    AT1(x, 0) = AT1(x, 0) $sign $2;
    ADD(sum, AT1(x, 0));
}
#include META_AGAIN
END
    done
}
project()
{
    written "$1" 3
    cat >"$1/main.c" <<'END'
#include <stdio.h>
#include "more.kernel.h"
int less(const meta_box *box, int32_t *x, int32_t *sum);
#define TRY(call) if (call) return fprintf(stderr, "%s\n", meta_last_error()), 1
int main(void)
{
    const meta_box box = {1, {10}, {0}, {10}};
    int32_t ten = 10, up, down, *x;
    void *ptr;
    TRY(meta_init());
    TRY(meta_alloc(&ptr, 40));
    x = (int32_t *)ptr;
    TRY(meta_fill(x, 10, &ten, META_I32, NULL));
    TRY(more_i32(&box, x, &up, NULL));
    TRY(less(&box, x, &down));
    printf("%d %d %d\n", up, down, more_i32_kernel.text[8] == 'M');
    TRY(meta_free(x));
    return meta_finalize() != META_OK;
}
END
    cat >"$1/less.c" <<'END'
#include "inner/less.kernel.h"
int less(const meta_box *box, int32_t *x, int32_t *sum)
{
    return less_i32(box, x, sum, NULL);
}
END
}
# prints PROGRAM TEXT: on every device that is here.
modes=openmp
! "$build/meta-info" | grep -q '^  opencl  *usable' || modes="$modes opencl"
prints()
{
    for mode in $modes; do
        META_MODE=$mode "$1" >out 2>err || broken "fails on $mode"
        [ "$(cat out)" = "$2" ] || broken "does not print $2 on $mode"
    done
}

# built WAY COMMAND…: builds; then with other kernels; then with nothing to do.
rebuilt()
{
    folder=$1 program=$2
    shift 2
    "$@" >log 2>&1 || { cat log; broken 'does not build'; return; }
    prints "$program" '130 100 1'
    before=$(stat -c %Y.%y "$program")
    sleep 1
    "$@" >log 2>&1 || broken 'does not build again'
    [ "$(stat -c %Y.%y "$program")" = "$before" ] || broken 'is built although nothing has changed'
    written "$folder" 5
    "$@" >log 2>&1 || { cat log; broken 'does not build with other kernels'; }
    prints "$program" '150 100 1'
}

if command -v cmake >/dev/null; then
    what='CMake'
    project 'a project'
    cat >'a project/CMakeLists.txt' <<END
cmake_minimum_required(VERSION 3.16)
project(sums LANGUAGES C)
find_package(libmeta $minor REQUIRED)
add_executable(sums main.c less.c)
target_link_libraries(sums m)
libmeta_add_kernels(sums more.kernel.h inner/less.kernel.h OPTIONS -Werror -ffile-prefix-map=/=/elsewhere)
target_link_libraries(sums c)
END
    # CMake 3.27 and later ask the linker which files it read, which leaves the space in the name of a folder as it is;
    # CMake then links each time, as one of two files is missing.
    cmake -S 'a project' -B 'a build' -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$flags -flto -Wall" \
        -DCMAKE_LINK_DEPENDS_USE_LINKER=OFF >log 2>&1 || {
        cat log
        broken 'does not configure'
    }
    rebuilt 'a project' 'a build/sums' cmake --build 'a build'
    # An installation that has moved is found by libmeta_DIR alone, with its meta-kernel.
    what='CMake, after another libmeta_DIR'
    written 'a project' 3
    mv "$installed" moved
    moved=$here/moved${prefix#"$installed"}
    LD_LIBRARY_PATH=$moved/lib
    { cmake -S 'a project' -B 'a build' -Dlibmeta_DIR="$moved/lib/cmake/libmeta" &&
        cmake --build 'a build'; } >log 2>&1 || { cat log; broken 'does not build'; }
    prints 'a build/sums' '130 100 1'
    mv moved "$installed"
    LD_LIBRARY_PATH=$prefix/lib
    what='CMake, kernels in a static library'
    project static
    cat >static/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.16)
project(sums LANGUAGES C)
find_package(libmeta $minor REQUIRED)
add_library(less STATIC less.c)
libmeta_add_kernels(less inner/less.kernel.h ONE_VARIANT)
add_executable(sums main.c)
libmeta_add_kernels(sums more.kernel.h ONE_VARIANT)
target_link_libraries(sums PRIVATE less)
END
    { cmake -S static -B static-build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$flags" \
        -DLIBMETA_META_KERNEL="$here/counted" && printf '#!/bin/sh\necho >>"%s/runs"\nexec "%s/bin/meta-kernel" "$@"\n' \
        "$here" "$prefix" >counted && chmod +x counted && cmake --build static-build; } >log 2>&1 ||
        { cat log; broken 'does not build'; }
    prints static-build/sums '130 100 1'
    [ "$(grep -c '' runs)" = 2 ] || broken 'does not run LIBMETA_META_KERNEL for each file'
    what='CMake, a program in C++ alone, for one instruction set'
    project cxx
    mv cxx/main.c cxx/main.cpp
    mv cxx/less.c cxx/less.cpp
    sed -e 's/ C)/ CXX)/; s/\.c/.cpp/g; s/OPTIONS.*/ONE_VARIANT)/' 'a project/CMakeLists.txt' >cxx/CMakeLists.txt
    { cmake -S cxx -B cxx-build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags" &&
        cmake --build cxx-build; } >log 2>&1 || { cat log; broken 'does not build'; }
    prints cxx-build/sums '130 100 1'
    if nm cxx-build/sums | grep -q more_rows_i32_1; then broken 'has code for other instruction sets'; fi
    what='CMake without the kernel file'
    rm cxx/more.kernel.h
    ! cmake -S cxx -B cxx-build >log 2>&1 || broken 'configures'
    tr '\n' ' ' <log | grep -q 'there is no *file .*/cxx/more.kernel.h' || broken 'does not say which file'

    # The components of the package, in C, C++ and Fortran.
    mpifort=$(sed -n 's/^MPIFORT = //p' "$build/Makefile")
    parts='core;metamorph'
    [ ! -e "$prefix/lib/libmeta_comm.so" ] || parts="$parts;comm"
    [ ! -e "$prefix/lib/libmeta_fortran.so" ] || parts="$parts;fortran"
    # configured PARTS ARGUMENT…: the project, with the package that has moved.
    configured()
    {
        wanted=$1
        shift
        what="CMake, components $wanted $*"
        cmake -S "$META_TEST_SRCDIR/tests/cmake_project" -B parts -DPARTS="$wanted" -DWANTED="$minor" -DPRETEND= \
            -Dlibmeta_DIR="$prefix/lib/cmake/libmeta" -DCMAKE_C_FLAGS="$flags -Wall -Werror" \
            -DCMAKE_CXX_FLAGS="$flags -Wall -Werror" -DCMAKE_Fortran_FLAGS="$flags" \
            ${mpifort:+"-DCMAKE_Fortran_COMPILER=$mpifort"} "$@" >log 2>&1
    }
    # refuses TEXT PARTS ARGUMENT…: one line of CMake's message has it, however CMake breaks lines.
    refuses()
    {
        text=$1
        shift
        if configured "$@"; then broken 'configures'; fi
        tr -s '\n ' '  ' <log | grep -q -F -e "$text" || { cat log; broken "does not say: $text"; }
    }
    if [ "$parts" != "${parts%fortran}" ]; then
        refuses 'enable_language(Fortran), before find_package' "$parts" -DPRETEND=none
    fi
    { configured "$parts" && cmake --build parts; } >log.build 2>&1 || { cat log log.build; broken 'does not build'; }
    for program in 'in_c sum 100.0' 'in_cxx version right' 'in_comm ranks right' 'in_fortran sum 100.0' \
        'in_metamorph sum 10.0'; do
        name=${program%% *}
        case $name:$parts in in_comm:*comm* | in_fortran:*fortran* | in_c:* | in_cxx:* | in_metamorph:*) ;; *) continue ;; esac
        what="CMake, components $parts: $name"
        META_MODE=openmp "parts/$name" >out 2>err || broken 'fails'
        grep -q -x "${program#* }" out || broken "does not print ${program#* }"
    done
    refuses 'libmeta has no component cuda; its components are core, comm, fortran, io and metamorph' 'core;cuda'
    refuses 'compatible with requested version "'"$next"'"' core -DWANTED="$next"
    refuses 'compatible with requested version "0.0.9"' core -DWANTED=0.0.9
    configured core -DWANTED="$version" || broken 'is not found'
    configured core -DWANTED=0.0.1...1.0 || broken 'is not found'
    refuses 'requested version range "'"$next"'...1.0"' core -DWANTED="$next...1.0"
    # without LIBRARY TEXT PART: what is said of the part where a library is not installed.
    without()
    {
        mkdir away
        mv "$prefix/lib/$1" away
        refuses "$2" "$3"
        mv away/* "$prefix/lib"
        rmdir away
    }
    without libmeta.so 'install libmeta-dev' core
    without libmeta_metamorph.so 'component metamorph: there is no ' metamorph
    case $parts in *comm*)
        without libmeta_comm.so \
            'configure it with --with-mpi=mpich or --with-mpi=openmpi; Debian: install libmeta-mpich' 'core;comm'
        sed 's/VERSION_EQUAL "[^"]*"/VERSION_EQUAL "0.0.7"/' "$prefix/lib/cmake/libmeta/libmeta-comm.cmake" >comm.cmake
        mv "$prefix/lib/cmake/libmeta/libmeta-comm.cmake" right.cmake
        cp comm.cmake "$prefix/lib/cmake/libmeta/libmeta-comm.cmake"
        refuses 'install both from the same release' comm
        mv right.cmake "$prefix/lib/cmake/libmeta/libmeta-comm.cmake"
        # A library that is not there yet appears with it.
        if [ ! -e "$prefix/lib/libmeta_io.so" ]; then
            refuses 'component io: there is no ' io
            echo 'int meta_io; ' >io.c
            : >"$prefix/include/libmeta/meta_io.h"
            $cc -shared -fPIC io.c -o "$prefix/lib/libmeta_io.so"
        fi
        { configured io && cmake --build parts --target in_io; } >log.build 2>&1 ||
            { cat log log.build; broken 'does not build'; } ;;
    esac
    case $parts in *fortran*)
        without libmeta_fortran.so 'configure it with --with-fortran=yes' fortran
        # .mod files of another compiler, and of another version with the same format or a different one.
        refuses 'NAG 7.1) cannot read them' fortran -DPRETEND='NAG 7.1'
        configured fortran -DPRETEND='GNU 1.1' || { cat log; broken 'is not found'; }
        find "$prefix/include/libmeta" -name meta.mod -exec sh -c 'echo other >"$1"' sh '{}' ';'
        refuses 'GNU 1.1) cannot read them' fortran -DPRETEND='GNU 1.1' ;;
    esac
fi

what='make with libmeta.mk'
project made
cat >made/Makefile <<'END'
space := $(subst ,, )
include $(subst $(space),\ ,$(shell pkg-config --variable=makefile libmeta))
CPPFLAGS = -Wall -Werror -I. $(shell pkg-config --cflags libmeta)
sums: main.o less.o more.kernel.o inner/less.kernel.o
	$(CC) $(CFLAGS) $^ -o $@ $(shell pkg-config --libs libmeta) -lm
main.o: more.kernel.h
less.o: inner/less.kernel.h
END
rebuilt made made/sums make -C made CC="$cc" CFLAGS="$flags -flto"
what='make with a rule of its own'
project rule
sed 's,^space.*,META_KERNEL = $(shell pkg-config --variable=bindir libmeta)/meta-kernel,
    s,^include.*,%.kernel.c: %.kernel.h; "$(META_KERNEL)" embed $< -o $@,' made/Makefile >rule/Makefile
rebuilt rule rule/sums make -C rule CC="$cc" CFLAGS="$flags"

if command -v automake >/dev/null && command -v autoconf >/dev/null; then
    what='automake'
    project auto
    cat >auto/configure.ac <<'END'
AC_INIT([sums], [1])
AM_INIT_AUTOMAKE([foreign subdir-objects])
AC_PROG_CC
PKG_CHECK_MODULES([LIBMETA], [libmeta])
PKG_CHECK_VAR([META_BIN], [libmeta], [bindir])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
    cat >auto/Makefile.am <<'END'
bin_PROGRAMS = sums
sums_SOURCES = main.c less.c more.kernel.h inner/less.kernel.h
nodist_sums_SOURCES = more.kernel.c inner/less.kernel.c
sums_CPPFLAGS = -I$(srcdir) $(LIBMETA_CFLAGS)
sums_LDADD = $(LIBMETA_LIBS) -lm
more.kernel.c: more.kernel.h
inner/less.kernel.c: inner/less.kernel.h
more.kernel.c inner/less.kernel.c:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && "$(META_BIN)/meta-kernel" embed $(srcdir)/$(@:.c=.h) -o $@
CLEANFILES = $(nodist_sums_SOURCES)
END
    mkdir auto-build
    (cd auto && autoreconf -i) >log 2>&1 || { cat log; broken 'autoreconf fails'; }
    (cd auto-build && ../auto/configure CC="$cc" CFLAGS="$flags") >log 2>&1 || { cat log; broken 'configure fails'; }
    rebuilt auto auto-build/sums make -C auto-build
fi

[ $failed = 0 ] && echo 'kept   programs with kernels are built by CMake, make and automake'
exit $failed
