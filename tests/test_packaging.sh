#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The files for package managers: the environment module sets what it says, Spack's recipe gives configure only
# options that it has, in every variant, and what the packages of Debian and the image name exists.
# TEST: labels=core,build
set -u
src=$(cd "$META_TEST_SRCDIR" && pwd) build=$(cd "$META_TEST_BUILDDIR" && pwd)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0
broken() { echo "BROKEN: $*"; status=1; }
lacks() { echo "skipped $1"; [ -z "${META_TEST_REQUIRE_TOOLS-}" ] || broken "there is no $2 here (Debian: $3)"; }
value() { sed -n "s/^$1=//p" "$build/core/libmeta.pc"; }
prefix=$(value prefix)
version=$(sed -n 's/^Version: //p' "$build/core/libmeta.pc")

# ------------------------------------------------------------------ environment module

# module COMMAND…: by Environment Modules, by Lmod, or by what of their commands the file uses.
real=$(command -v modulecmd || command -v /usr/share/lmod/lmod/libexec/lmod || command -v "${LMOD_CMD:-lmod}")
mkdir -p modulefiles/libmeta
cp "$build/packaging/modulefile" "modulefiles/libmeta/$version"
if [ -n "$real" ]; then
    module()
    {
        env -i PATH=/usr/bin:/bin PKG_CONFIG_PATH=/elsewhere MODULEPATH="$here/modulefiles" "$real" sh "$@"
    }
elif command -v tclsh >/dev/null; then
    cat >module.tcl <<'END'
proc conflict {args} {}
proc module-whatis {args} {}
proc prepend-path {name value} { puts "$name=\"$value\${$name:+:\$$name}\"; export $name;" }
proc append-path {name value} { puts "$name=\"\${$name:+\$$name:}$value\"; export $name;" }
if {[lindex $argv 0] eq "help"} { source [lindex $argv 1]; ModulesHelp } else { source [lindex $argv 1] }
END
    module() { tclsh module.tcl "$1" "modulefiles/$2/$version"; }
else
    module() { return 1; }
    lacks the_environment_module_sets_paths 'modulecmd or tclsh' environment-modules
fi
if module load libmeta >loaded 2>err; then
    (
        PATH=/usr/bin:/bin
        unset LD_LIBRARY_PATH CMAKE_PREFIX_PATH MANPATH
        PKG_CONFIG_PATH=/elsewhere
        eval "$(cat loaded)"
        echo "$PATH|$LD_LIBRARY_PATH|$PKG_CONFIG_PATH|$CMAKE_PREFIX_PATH|${MANPATH%%:*}"
    ) >paths 2>>err
    wanted="$prefix/bin:/usr/bin:/bin|$prefix/lib|$prefix/lib/pkgconfig:/elsewhere|$prefix|$prefix/share/man"
    [ "$(cat paths)" = "$wanted" ] || { cat loaded err; broken "the module sets $(cat paths), expected $wanted"; }
    module help libmeta 2>&1 | grep -q "libmeta $version in $prefix\." || broken 'the module has no help'
    # By real tools, also unloaded. With MANPATH unset or empty the system's pages are found, and so they must be before
    # and after; who sets MANPATH decides.
    for given in '' : /pages /pages: :/pages; do
        [ -n "$real" ] || continue
        (
            MANPATH=$given MODULEPATH=$here/modulefiles
            export MANPATH MODULEPATH
            unset LOADEDMODULES _LMFILES_
            eval "$("$real" sh load libmeta)"
            echo "$MANPATH"
            eval "$("$real" sh unload libmeta)"
            echo "${MANPATH-}"
        ) >paths 2>err
        for when in loaded unloaded; do
            read -r now || now='nothing at all'
            # A colon at the end makes an empty part at the end look like the others.
            case :$now: in *::*) system=yes ;; *) system=no ;; esac
            [ $system = "$([ "$given" = /pages ] && echo no || echo yes)" ] ||
                broken "MANPATH='$given': once the module is $when, it is '$now': the system's pages: $system"
            case $when:$now in
                loaded:*$prefix/share/man*) ;;
                unloaded:*$prefix*) broken "MANPATH='$given' is '$now' after unloading" ;;
                loaded:*) cat err; broken "MANPATH='$given' is '$now' after loading" ;;
            esac
        done <paths
    done
elif [ -s err ]; then
    cat err
    broken 'the module cannot be loaded'
fi

# ------------------------------------------------------------------ Spack

# The recipe's functions with stand-ins for Spack's names: all variants, none, and each alone.
cat >recipe.py <<'END'
import importlib.util, os, re, subprocess, sys, types

variants, versions, depended = {}, [], []
def variant(name, default, description): variants[name] = default
def version(number, **more): versions.append(number)
def depends_on(what, when="", type=""): depended.append((what, when))
def nothing(*args, **more): pass
def module(name, **contents):
    made = sys.modules[name] = types.ModuleType(name)
    vars(made).update(contents)
    return made
module("spack")
spack = module("spack.package", variant=variant, version=version, depends_on=depends_on, conflicts=nothing,
               license=nothing)
# Build systems are of spack.package, and since 1.0 of the repository of packages.
for file, name in ("autotools", "AutotoolsPackage"), ("cuda", "CudaPackage"), ("rocm", "ROCmPackage"):
    there = spack if sys.argv[4] == "0.23" else module("spack_repo.builtin.build_systems." + file)
    setattr(there, name, type(name, (), {}))
if sys.argv[4] != "0.23":
    for name in "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems":
        module(name)
spec = importlib.util.spec_from_file_location("package", sys.argv[1])
recipe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recipe)

class Spec:
    def __init__(self, chosen):
        self.chosen = chosen
        Value = type("Value", (), {})
        self.variants = {"cuda_arch": Value(), "amdgpu_target": Value()}
        self.variants["cuda_arch"].value, self.variants["amdgpu_target"].value = ("80", "90"), ("gfx90a",)
    def satisfies(self, wanted):
        return all((name in self.chosen) == (sign == "+") for sign, name in re.findall(r"([+~])(\w+)", wanted))
    def __getitem__(self, name):
        package = type("Package", (), {})()
        package.name, package.prefix = "mpich" if name == "mpi" else name, os.path.abspath(prefixes[name])
        return package

prefixes = {"mpi": "own", "cuda": "cuda", "hip": "hip"}
os.makedirs("debian/bin", exist_ok=True)
open("debian/bin/mpicc.mpich", "w").close()
help_text = subprocess.run(["sh", sys.argv[2], "--help"], capture_output=True, text=True, check=True).stdout
known = set(re.findall(r"--(?:with|enable)-[a-z-]+", help_text))
names = sorted(variants) + ["cuda", "rocm"]
assert versions[0] == sys.argv[3], "the recipe's version is %s, libmeta's %s" % (versions[0], sys.argv[3])
for chosen in [set(names), set()] + [{name} for name in names]:
    package = recipe.Libmeta()
    package.spec = Spec(chosen)
    environment = {}
    package.setup_build_environment(type("Environment", (), {"set": lambda self, k, v: environment.update({k: v})})())
    given = package.configure_args()
    for argument in given:
        option, _, value = argument.partition("=")
        assert option in known, "configure has no option %s" % option
        assert value, "%s has no value" % option
    on = {a.partition("=")[0][7:] for a in given if not a.endswith("=no")}
    for variant, option in dict(mpi="mpi", fortran="fortran", openmp="openmp", opencl="opencl", hwloc="hwloc",
                                blas="blas", jansson="jansson", cuda="cuda", rocm="hip", pictures="png").items():
        assert (option in on) == (variant in chosen), "%s of %s" % (option, sorted(chosen))
    assert ("CUDA_HOME" in environment) == ("cuda" in chosen) and ("ROCM_PATH" in environment) == ("rocm" in chosen)
    if chosen == set(names):
        assert "--with-cuda-arch=80,90" in given and "--with-hip-arch=gfx90a" in given
        assert "--with-mpi=" + os.path.abspath("own") in given
        prefixes["mpi"] = "debian" # whose mpicc may be another MPI's
        assert "--with-mpi=mpich" in package.configure_args()
        prefixes["mpi"] = "own"
END
if command -v python3 >/dev/null; then
    for layout in 0.23 1.0; do
        python3 recipe.py "$src/packaging/spack/spack_repo/libmeta/packages/libmeta/package.py" "$src/configure" \
            "$version" $layout || broken "Spack's recipe, as of Spack $layout"
    done
else
    lacks the_recipe_of_spack_gives_known_options python3 python3
fi

# ------------------------------------------------------------------ Debian

sed -n 's/^Package: //p' "$src/debian/control" >packages
[ -s packages ] || broken 'debian/control has no package'
for package in $(cat packages); do
    [ -s "$src/debian/$package.install" ] || broken "debian/$package.install is not there"
done
for file in "$src"/debian/*.install; do
    name=$(basename "$file" .install)
    grep -q -x -F "$name" packages || broken "$file belongs to no package of debian/control"
done
# Files of packages that documents and the image install, and packages that CMake's messages name.
documents="$src/doc/installing.md $src/packaging/Dockerfile"
mkdir debs
for package in $(cat packages); do : >"debs/${package}_$version-1_amd64.deb"; done
# shellcheck disable=SC2086
sed 's/\${MPI}/openmpi/g' $documents | grep -o '\./libmeta[^ ]*\.deb' | sort -u >patterns
while read -r pattern; do
    # shellcheck disable=SC2086
    ls debs/$pattern >/dev/null 2>&1 || broken "no package is called $pattern"
done <patterns
[ "$(grep -c '^' patterns)" -gt 8 ] || broken 'the documents install hardly any package'
# shellcheck disable=SC2086
grep -o -h -e '`libmeta[0-9]*-[a-z0-9-]*`' -e 'libmeta[0-9]*-[a-z-]*-*dev' "$src/doc/installing.md" \
    "$src/packaging/libmeta-config.cmake.in" | tr -d '`' | sort -u >named
for name in $(cat named); do
    grep -q -x -F "$name" packages || broken "there is no package $name"
done
grep -q -x libmeta-mpich-dev named || broken 'no document names libmeta-mpich-dev'

[ $status = 0 ] && echo 'kept   package managers are told what there is'
exit $status
