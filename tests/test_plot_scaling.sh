#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/plot-scaling: every configuration is run and recorded, its figures are valid images, and each
# error is reported in one line.
# TEST: backends=any mpi=yes labels=programs
. "$META_TEST_SRCDIR/tests/programs.sh"

python=
for candidate in ${META_TEST_PYTHON-} python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import matplotlib' 2>/dev/null || python=$candidate
done
[ -n "$python" ] || { echo 'no matplotlib'; exit 77; }

# plot STATUS ARGUMENT…: its output is then in out and err.
plot()
{
    want=$1
    shift
    what="plot-scaling $*"
    "$python" "$META_TEST_SRCDIR/tools/plot-scaling" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$want" ] || broken "exit status $got, expected $want"
}
# told STATUS TEXT ARGUMENT…: it ends in one message with the text, without a trace of Python.
told()
{
    text=$2 status=$1
    shift 2
    plot "$status" "$@"
    [ "$(grep -c '^plot-scaling: ' err)" = 1 ] || broken 'not one message'
    grep -q -e "$text" err || broken "does not say: $text"
    ! grep -q Traceback err || broken 'a trace of Python'
}
is_png() { [ "$(od -An -tx1 -N8 "$1" | tr -d ' \n')" = 89504e470d0a1a0a ] || broken "$1 is no PNG file"; }

plot 0 --help
grep -q '^usage: plot-scaling' out || broken 'no usage'

apps=minighost,dot3d
! grep -q '^#define META_BLAS ' "$build/config.h" || apps=$apps,dot3d-blas
built="--programs $build --size 6 --steps 2"
plot 0 $built --apps $apps --ranks 1,2 --backends openmp,mpi --repeat 2 --out figures
for name in minighost-weak minighost-strong minighost-weak-parts minighost-strong-parts dot3d-weak dot3d-strong; do
    is_png figures/$name.png
    grep -q '</svg>' figures/$name.svg || broken "figures/$name.svg is not whole"
done
# Two kinds of scaling, two numbers of ranks, two rounds: of minighost a run for its time and one for its
# parts, of the dot product one, and with BLAS one but in plain MPI.
"$python" - figures/runs.jsonl $apps <<'END' >out 2>err || broken 'runs.jsonl is not what was asked for'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert lines[0]["machine"]["cores"] >= 1, lines[0]
runs = lines[1:]
assert len(runs) == 2 * 2 * 2 * (6 + ("blas" in sys.argv[2])), len(runs)
keys = {(r["app"], r["scaling"], r["backend"], r["ranks"], r["parts"], r["repeat"]) for r in runs}
assert len(keys) == len(runs), "a configuration twice"
half = len(runs) // 2
assert [r["repeat"] for r in runs] == [0] * half + [1] * half, "not interleaved"
for r in runs:
    assert r["seconds_of_a_step"] > 0 and r["size"] == 6 and r["steps"] == 2, r
    cells = r["grid"][0] * r["grid"][1] * r["grid"][2]
    assert cells == 6 ** 3 * (r["ranks"] if r["scaling"] == "weak" else 1), r
    if r["parts"]:
        p = r["part_seconds"]
        parts = p["stencil"] + p["boundary"] + p["exchange"] + p["global_sum"]
        assert 0.8 * p["all"] < parts < 1.2 * p["all"], p
END

# What was measured can be plotted again.
rm figures/*.png
plot 0 --replot --out figures
is_png figures/minighost-weak.png
plot 0 $built --ranks 2 --apps dot3d --backends openmp+openmp --weak --repeat 1 --threads 0 --out one
[ "$(ls one)" = "$(printf 'dot3d-weak.png\ndot3d-weak.svg\nruns.jsonl')" ] || broken 'not only what was asked for'

told 2 'ranks' $built --ranks 0
told 2 'ranks' $built --ranks 1,x
told 2 'different' $built --ranks 2,2
told 2 'repeat' $built --repeat 0
told 2 'apps' $built --apps minigost
told 2 'no-such' $built --no-such-option
told 2 'plain MPI' $built --apps dot3d-blas --backends mpi
told 2 'no program' --programs "$here" --out none
told 2 'launcher' $built --mpiexec no-such-launcher --out none
told 2 'out' $built --out err/figures
told 2 'cannot be read' --replot --out none
mkdir other
echo '{}' >other/runs.jsonl
told 2 'no file of plot-scaling' --replot --out other
# A run that fails: the program's own words.
told 1 'no-such-backend' $built --ranks 1 --apps dot3d --backends no-such-backend --weak --repeat 1 --out failed

[ $failed = 0 ] && echo 'every figure was drawn'
exit $failed
