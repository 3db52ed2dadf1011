#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-bench as used from the command line and scripts: every group prints rows with unique names and
# numbers; invalid usage gives a one-line error and status 2. Performance is not checked.
# TEST: backends=all fake=no labels=programs,mpi
set -u
bench=$META_TEST_BUILDDIR/meta-bench
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
failed=0
# LeakSanitizer itself crashes over the threads of the OpenCL peer's libraries; leaks show on OpenMP.
if [ "${META_TEST_SANITIZE-no}" = yes ] && [ "${META_MODE-}" = opencl ]; then
    export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
fi
# Threads that wait for each other on a machine that runs other tests as well take for ever.
META_THREADS=1
export META_THREADS
"$META_TEST_BUILDDIR/meta-info" | grep -q "^  ${META_MODE:-openmp}  *usable" ||
    { echo "no device: $META_MODE"; exit 77; }

broken()
{
    echo "BROKEN $what: $*"
    head -n 40 out err
    failed=1
}
# run STATUS RANKS ARGUMENT…: its output is then in out and err. 0 ranks: without a launcher.
run()
{
    want=$1 ranks=$2
    shift 2
    what="meta-bench $* on $ranks ranks"
    if [ "$ranks" = 0 ]; then "$bench" "$@" >out 2>err </dev/null
    else $META_TEST_MPIEXEC -n "$ranks" "$bench" "$@" >out 2>err </dev/null
    fi
    got=$?
    [ "$got" = "$want" ] || broken "exit status $got, expected $want"
}
# refused TEXT ARGUMENT…: one line with TEXT, status 2.
refused()
{
    text=$1
    shift
    run 2 0 "$@"
    [ "$(grep -c '^meta-bench: ' err)" = 1 ] || broken 'not one line of error'
    grep -q -e "$text" err || broken "does not say: $text"
}

if command -v python3 >/dev/null; then
    check_lines()
    {
        python3 - <<'END'
import json, re, sys
names = set()
for line in open("out"):
    row = json.loads(line)
    name = row["name"]
    assert re.fullmatch(r"[a-z]+\.[a-z0-9_]+\.[a-z0-9]+\.[0-9]+", name), name
    assert name not in names, "twice: " + name
    names.add(name)
    assert isinstance(row["backend"], str) and row["threads"] >= 0, line
    assert 0 < row["seconds_min"] <= row["seconds"] <= row["seconds_max"], line
    limit = row["limit"]
    for key in row:
        if key == "fraction" or key == "limit_gbps":
            assert (row[key] is None) == (limit is None), line
        if key.endswith("ratio") or key.endswith("fraction") or key.endswith("gbps"):
            assert row[key] is None or row[key] > 0, line
    if not name.startswith("halo.empty.") and name.split(".")[0] in ("stencil", "reduce", "pack", "halo", "app"):
        assert limit is not None, line
END
    }
else
    check_lines()
    {
        LC_ALL=C awk '
            !/^\{"name":"[a-z]+\.[a-z0-9_]+\.[a-z0-9]+\.[0-9]+","backend":"[^"]+",.*\}$/ { bad = 1 }
            !/,"seconds":[0-9.e+-]+,"seconds_min":[0-9.e+-]+,"seconds_max":[0-9.e+-]+,/ { bad = 1 }
            !/"fraction":([0-9.e+-]+|null)[,}]/ { bad = 1 }
            seen[substr($0, 1, index($0, ",") - 1)]++ { bad = 1 }
            bad { print "wrong: " $0; exit 1 }' out
    }
fi

# rows COUNT RANKS ARGUMENT…: so many JSON objects and nothing on the error stream but left-out peers.
rows()
{
    count=$1 ranks=$2
    shift 2
    run 0 "$ranks" "$@" --rounds 1 --json
    check_lines >check 2>&1 || { cat check; broken 'the lines are not right'; }
    [ "$(wc -l <out)" = "$count" ] || broken "$(wc -l <out) rows, expected $count"
    if grep 'skipped' err; then broken 'rows are skipped'; fi
}
has() { grep -q "^{\"name\":\"$1\"," out || broken "has no row $1"; }

rows 5 0 memory --size 8
has memory.copy_nt.f64.8
rows 16 0 stencil --size 6,9
has stencil.3d7p_sum.f64.9
rows 10 0 reduce --size 7 --type f32
has reduce.exact_dot_box.f32.7
has reduce.dot_box.f32.7
rows 76 0 pack --size 5
has pack.xface.f64.5
has pack.zedge_lh_2_unpack.f64.5
has pack.6faces.f64.5
grep -q '"sector_fraction":[0-9]' out || broken 'has no sector_fraction'
rows 3 0 dispatch
grep -q '"raw_ratio":[0-9]' out || broken 'has no raw_ratio'
rows 4 0 schedule
has schedule.known.f64.1
has schedule.new.f64.1
[ "$(grep -c '"over_fixed_seconds":-*[0-9]' out)" = 4 ] || broken 'has rows without over_fixed_seconds'
rows 1 0 kernels --size 1
grep -q '"builtin_ratio":[0-9]' out || broken 'has no builtin_ratio'
case $META_TEST_MPI in none) cg=0 ;; *) cg=1 ;; esac
rows $((6 + cg)) 0 kernels --size 6
has kernels.3d7p_sum.f64.6
has kernels.min_at.f64.6
grep -q '"builtin_ratio":[0-9]' out || broken 'has no builtin_ratio'
[ "${META_MODE-openmp}" = spread ] || grep -q "\"${META_MODE-openmp}_ratio\":[0-9]" out ||
    broken 'has no ratio to a kernel written by hand'
rows 12 0 advice --size 6
has advice.choose.f64.6
[ "$(grep -c '"slow_ratio":[0-9].*"slow_seconds_min":[0-9]' out)" = 12 ] || broken 'has rows without the slow form'
# OpenCL's compiler takes a second for each kernel.
[ "${META_MODE-openmp}" = opencl ] || rows 11 0 advice --size 6 --type f32
rows 1 0 alloc --size 5
has alloc.pair.f64.5
grep -q '"driver_ratio":[0-9]' out || broken 'has no driver_ratio'
rows 11 0 reduce memory --size 4 --type u32
has memory.copy.f64.4
if [ "$META_TEST_MPI" = none ]; then
    refused 'without MPI' halo
else
    rows 1 1 app --size 6
    has app.minighost.f64.6
    rows 2 2 app --size 6 --fields 3,1 --type f32
    has app.minighost_3f.f32.6
    grep -q '"parts_ratio":[0-9]' out || broken 'has no parts_ratio'
    [ "${META_MODE-openmp}" != openmp ] || grep -q '"reference_ratio":[0-9]' out || broken 'has no reference_ratio'
    rows 7 2 kernels --size 5 --type f32
    has kernels.cg.f32.5
    [ "${META_MODE-openmp}" != openmp ] || grep -q '"plain_ratio":[0-9]' out || broken 'has no plain_ratio'
    for ranks in 1 2; do
        rows 1 $ranks euler --size 9
        has euler.step.f64.9
        grep -q '"plain_ratio":[0-9].*"plain_seconds_min":[0-9]' out || broken 'has no times of the plain program'
    done
    rows 6 2 halo --size 6
    has halo.empty.f64.0
    has halo.least.f64.1
    has halo.6faces.f64.6
    has halo.6faces_5f.f64.6
    has halo.overlap.f64.6
    for figure in hidden messages over_raw_seconds raw_ratio; do
        grep -q "\"$figure\":-*[0-9]" out || broken "has no $figure"
    done
    [ "$(grep -c '"messages":6,' out)" = 3 ] || broken 'five fields are not six messages'
    if [ "${META_MODE-}" = opencl ]; then
        grep '^{"name":"halo.6faces.f64.6"' out | grep -q '"raw_ratio":[0-9]' || broken 'has no raw_ratio'
    fi
    for peer in derived mpi_pack manual send_only singles; do
        grep -q "\"${peer}_ratio\":[0-9]" out || broken "has no ${peer}_ratio"
    done
    rows 7 2 halo app --size 5 --type i32
    hdf5=2
    grep -q 'define HAVE_HDF5' "$META_TEST_BUILDDIR/config.h" || hdf5=0
    for ranks in 1 2; do
        rows $((2 + hdf5)) $ranks files --size 5
        for row in checkpoint checkpoint_read; do has files.$row.f64.5; done
        [ "$(grep -c '"limit":"one \(write\|read\)"' out)" = $((2 + hdf5)) ] || broken 'has rows without limits'
    done
    leftover=$(ls | grep '^meta-bench-')
    [ -z "$leftover" ] || broken "leaves $leftover behind"
    refused 'mpiexec' halo
fi

# With META_MODE=auto buffers are kept nowhere, so calls run on all devices, and no peer is measured.
(
    META_MODE=auto META_AUTO_DEVICES=sim META_POLICY=round_robin META_LEARN=off
    META_BACKEND_PATH=$META_TEST_BUILDDIR/tests/plugins/.libs
    META_TEST_SIM='cpu sync host; gpu' META_TEST_SIM_EAGER=1 META_TEST_SIM_LOG=launches
    export META_MODE META_AUTO_DEVICES META_POLICY META_LEARN META_BACKEND_PATH
    export META_TEST_SIM META_TEST_SIM_EAGER META_TEST_SIM_LOG
    rows 8 0 stencil --size 6
    grep -q 'without peers and their limits: .*META_MODE=auto chooses' err ||
        broken 'does not say why there are no peers'
    for device in cpu gpu; do
        grep -q "^$device stencil_3d27p_sum" launches || broken "$device has run no stencil"
    done
    exit $failed
) || failed=1
run 0 0 stencil --size 6 --rounds 2
grep -q '^stencil.2d5p.f64.6  ' out || broken 'has no table'
run 0 0 --help
grep -q '^usage: meta-bench' out || broken 'no usage'
run 0 0 --version
grep -q '^meta-bench [0-9]' out || broken 'no version'
META_THREADS=2 run 0 0 memory stencil --size 6 --rounds 1
# A size that no machine has memory for is skipped, and the rest is measured.
run 0 0 reduce --size 4,4096 --rounds 1 --json
grep -q 'size 4096: skipped: .* MiB' err || broken 'does not say what there is no room for'

refused 'speed: is no group.*memory' speed
refused 'no-such-option' --no-such-option
refused '--siz' --siz 4
refused 'missing' --size
refused '--size 4,,5' --size 4,,5
refused '--size 0' --size 0
refused 'twice' --size 4,4
refused '--fields 5,41' --fields 5,41
refused 'twice' --fields 5,5
refused '--rounds 0' --rounds 0
refused '--type i8' --type i8
refused '--backend nowhere' memory --backend nowhere
refused '--backend openmp:x' memory --backend openmp:x
refused '--backend openmp:7' memory --backend openmp:7

[ $failed = 0 ] && echo 'meta-bench measures what it is asked for'
exit $failed
