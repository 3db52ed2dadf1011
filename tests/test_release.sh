#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/release refuses a tree that is not clean, and versions and dates that differ, with the file and the remedy.
# TEST: labels=core,build
set -u
src=$(cd "$META_TEST_SRCDIR" && pwd)
command -v git >/dev/null || { echo 'skipped a_release_is_refused_where_files_disagree'; echo 'no git here'; exit 77; }
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# A checkout of what the script reads, with a dated section, all of one version.
version=$(sed -n 's/^AC_INIT(\[libmeta\], \[\([^]]*\)\].*/\1/p' "$src/configure.ac")
recipe=packaging/spack/spack_repo/libmeta/packages/libmeta/package.py
for file in configure.ac core/meta.h CHANGELOG.md CITATION.cff debian/changelog $recipe packaging/Dockerfile \
    python/pyproject.toml python/libmeta/_library.py doc/installing.md tools/release tools/bootstrap.sh; do
    mkdir -p "tree/$(dirname $file)"
    cp "$src/$file" "tree/$file"
done
chmod -R u+w tree
cd tree || exit 1
sed -i "0,/^## .*/s//## $version (2026-03-04)/" CHANGELOG.md
sed -i 's/^date-released: .*/date-released: 2026-03-04/' CITATION.cff
sed -i "1s/.*/libmeta ($version-1) unstable; urgency=medium/; s/>  .*/>  Wed, 04 Mar 2026 12:00:00 +0000/" \
    debian/changelog
git init -q . && git config user.name test && git config user.email test@localhost && git add . &&
    git commit -q -m all || { echo 'BROKEN: git cannot make a repository'; exit 1; }

# released STATUS TEXT ARGUMENT…
released()
{
    want=$1 text=$2
    shift 2
    tools/release "$@" >../out 2>&1
    got=$?
    [ $got = "$want" ] && grep -q -F -e "$text" ../out && return
    cat ../out
    echo "BROKEN tools/release $*: status $got, expected $want and: $text"
    status=1
}
# refused TEXT FILE SED-COMMAND: with the file changed so.
refused()
{
    sed -i "$3" "$2"
    git diff --quiet && { echo "BROKEN: $2 has nothing like $3"; status=1; }
    git commit -q -a -m changed
    released 1 "$1" --dry-run "$version"
    grep -q 'nothing was made' ../out || { echo "BROKEN: $1 is not the end"; status=1; }
    git reset -q --hard HEAD~1
}
released 0 "nothing is wrong with $version of 2026-03-04" --dry-run "$version"
released 0 'usage: tools/release' --help
released 2 'usage: tools/release'
released 2 'unknown option --sign' --sign "$version"
released 2 '--key: its value is missing' --key
released 2 '1.0 is no version' 1.0
released 2 "one version at a time: $version or 7.0.0" "$version" 7.0.0
released 1 "configure.ac: the version is '$version', expected 7.0.0; correct AC_INIT" --dry-run 7.0.0
released 1 'gpg has no such secret key' --dry-run --key nobody@nowhere.invalid "$version"
refused "core/meta.h: the version is '7." core/meta.h 's/\(META_VERSION_MAJOR\) [0-9]*/\1 7/'
refused "CITATION.cff: the version is '7.0.0'" CITATION.cff 's/^version: .*/version: 7.0.0/'
refused 'CITATION.cff: date-released is 2026-03-05, CHANGELOG.md says 2026-03-04' CITATION.cff \
    's/^\(date-released\): .*/\1: 2026-03-05/'
refused "CHANGELOG.md: the version is '7.0.0'" CHANGELOG.md "0,/^## /s/^## [^ ]*/## 7.0.0/"
refused 'expected a date: ## ' CHANGELOG.md '0,/^## /s/^\(## [^ ]*\) .*/\1 (in work)/'
refused 'expected a date: ## ' CHANGELOG.md '0,/^## /s/^\(## [^ ]*\) .*/\1 (2026-13-41)/'
refused "debian/changelog: the version is '7.0.0'" debian/changelog '1s/(.*)/(7.0.0-1)/'
refused 'debian/changelog: the first entry is UNRELEASED' debian/changelog '1s/unstable/UNRELEASED/'
refused 'debian/changelog: the first entry is of 2026-03-03' debian/changelog \
    's/>  .*/>  Tue, 03 Mar 2026 12:00:00 +0000/'
refused "package.py: the version is '7.0.0'" $recipe 's/^    version(".*/    version("7.0.0")/'
refused "Dockerfile: the version is '7.0.0'" packaging/Dockerfile 's/^ARG VERSION=.*/ARG VERSION=7.0.0/'
refused "pyproject.toml: the version is '7.0.0'" python/pyproject.toml 's/^version = .*/version = "7.0.0"/'
refused "_library.py: VERSION is '7.1', expected ${version%.*}" python/libmeta/_library.py \
    's/^VERSION = ([0-9, ]*)/VERSION = (7, 1)/'
refused "installing.md: it calls the release libmeta-7.0.0, expected libmeta-$version" doc/installing.md \
    "0,/libmeta-$version/s//libmeta-7.0.0/"
echo new >new
released 1 'the work tree is not clean; commit or remove:' --dry-run "$version"
grep -q '^?? new' ../out || { echo 'BROKEN: the file in the way is not named'; status=1; }
rm new
mkdir ../made && : >"../made/libmeta-$version.tar.gz"
released 1 "made/libmeta-$version.tar.gz exists" --dry-run --out ../made "$version"
git tag "v$version"
released 1 "the tag v$version exists" --dry-run "$version"
rm -rf .git
released 2 'is no checkout' --dry-run "$version"

[ $status = 0 ] && echo 'kept   a release is made only where all files agree'
exit $status
