#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-info --draw: cores, NUMA nodes, devices and ranks of simulated nodes, as text and as a picture, and its errors.
# TEST: labels=programs
. "$META_TEST_SRCDIR/tests/programs.sh"
# hwloc reads no file where a choice of components is set.
unset HWLOC_COMPONENTS HWLOC_XMLFILE HWLOC_SYNTHETIC HWLOC_THISSYSTEM
HWLOC_LIBXML=0 OCL_ICD_VENDORS=$here META_BACKEND_PATH=$build/tests/plugins/.libs
export HWLOC_LIBXML OCL_ICD_VENDORS META_BACKEND_PATH

# draw STATUS ARGUMENT…: its output is then in out and err.
draw()
{
    want=$1
    shift
    what="meta-info $*"
    "$build/meta-info" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$want" ] || broken "exit status $got, expected $want"
}
# shows LINE: a whole line of the output.
shows() { grep -qxF "$1" out || broken "does not show: $1"; }
# told TEXT ARGUMENT…: an error of one line.
told()
{
    text=$1
    shift
    draw 2 "$@"
    [ "$(grep -c '^meta-info: ' err)" = 1 ] && [ ! -s out ] || broken 'not one message alone'
    grep -qF -e "$text" err || broken "does not say: $text"
}

draw 0 --draw --ranks 8 --ranks-per-node 4
grep -qE '^[0-9]+ cores? in [0-9]+ packages?, [0-9]+ devices?; 4 of 8 ranks on this node$' out ||
    broken 'says nothing of the node'
grep -q '^      rank 3, ' out || broken 'shows no rank 3'
! grep -q 'rank 4' out || broken 'shows ranks of another node'

# Errors.
told '--draw=node.png: the file' --draw=node.png
told '--draw: cannot be combined' --draw --json
told '--draw: cannot be combined' --draw --env
told '--draw=no/such/folder.svg: No such file' --draw=no/such/folder.svg
ln -s /dev/full full.svg
told '--draw=full.svg: No space left' --draw=full.svg
[ -L full.svg ] || broken 'removes what is no file of its own'
(ulimit -f 0 && trap '' XFSZ && exec "$build/meta-info" --draw=node.txt) >out 2>err && broken 'writes where it may not'
[ ! -e node.txt ] || broken 'leaves a part of a file'

# A rank that gets no device says why.
META_RANK_MAP='0:openmp,1:nosuch' draw 0 --draw --ranks 2
grep -q '^rank 1: no device: .*nosuch' out || broken 'does not say why'
if ! grep -q '^#define HAVE_HWLOC 1' "$build/config.h"; then
    shows 'packages not known'
    exit $failed
fi

HWLOC_XMLFILE=$here/nowhere.xml told 'hwloc has not read the topology of HWLOC_XMLFILE=' --draw
HWLOC_SYNTHETIC='pack:2 nothing:3' told 'hwloc has not read the topology of HWLOC_SYNTHETIC=' --draw

# Two packages with two NUMA nodes each, and two hardware threads for each core.
HWLOC_SYNTHETIC='pack:2 numa:2 core:3 pu:2' META_MODE=plain draw 0 --draw --ranks 2
sed '/^whole node/,$d' out >found
cat >expected <<'END'
12 cores in 2 packages, DEVICES devices; 2 of 2 ranks on this node
package 0
  NUMA node 0, 1.0 GiB
    cores 0 2 4
  NUMA node 1, 1.0 GiB
    cores 6 8 10
package 1
  NUMA node 2, 1.0 GiB
    cores 12 14 16
  NUMA node 3, 1.0 GiB
    cores 18 20 22
END
sed 's/[0-9]* devices/DEVICES devices/' found | diff expected - || broken 'shows another node'
[ "$(grep -A 2 '^    plain:0  one thread: ' out | grep -c '^      rank [01], 6 CPU threads$')" = 2 ] ||
    broken 'the ranks are not on their device'
# One hardware thread a core, and no packages.
HWLOC_SYNTHETIC='numa:1 core:12 pu:1' draw 0 --draw
grep -qE '^    cores 0-11$' out || broken 'does not join numbers'

# Three cards at PCI addresses near the cores of two packages; five ranks.
HWLOC_XMLFILE=$META_TEST_SRCDIR/tests/two-packages.xml META_MODE=cards
export HWLOC_XMLFILE META_MODE
draw 0 --draw --ranks 5
sed -e '1d' -e '/^whole node/,$d' -e 's/  *: .*, at / at /' out >found
cat >expected <<'END'
package 0
  NUMA node 0
    cores 0-1
    cards:1 at 0000:20:00.0
      rank 1, 1 CPU thread
      rank 4, 1 CPU thread
package 1
  NUMA node 1
    cores 2-3
    cards:0 at 0000:10:00.0
      rank 0, 1 CPU thread
      rank 3, 1 CPU thread
    cards:2 at 0000:30:00.0
      rank 2, 1 CPU thread
END
diff expected found || broken 'shows another node'
cp out tree
draw 0 --draw=node.txt --ranks 5
[ ! -s out ] && cmp -s tree node.txt || broken 'the file is not what is printed without it'

# As a picture, also with a name that XML and UTF-8 do not like, and of a node with many cores.
draw 0 --draw=node.svg --ranks 5
unset HWLOC_XMLFILE META_MODE
name=$(printf 'a<b>&"\377\302c')
META_TEST_SIM="$name launch=1us; two memory=8G" HWLOC_SYNTHETIC='pack:9 numa:1 core:40 pu:1' META_MODE=sim \
    draw 0 --draw=large.svg --ranks 2
command -v python3 >/dev/null || { echo 'there is no python3: pictures were not looked at'; exit $failed; }
cat >look.py <<'END'
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"


def look(path):
    root = tree.parse(path).getroot()
    assert root.tag == SVG + "svg", root.tag
    boxes = root.findall(SVG + "rect")
    width, height = int(root.get("width")), int(root.get("height"))
    for box in boxes:
        x, y, w, h = (int(box.get(key)) for key in ("x", "y", "width", "height"))
        assert x >= 0 and y >= 0 and w > 0 and h > 0 and x + w <= width and y + h <= height, box.attrib
    count = {}
    for box in boxes:
        count[box.get("class")] = count.get(box.get("class"), 0) + 1
    return count, ["".join(text.itertext()) for text in root.findall(SVG + "text")]


def inside(path, inner, outer):
    """The boxes of class @inner that lie in one of class @outer."""
    root = tree.parse(path).getroot()
    at = {kind: [[int(box.get(key)) for key in ("x", "y", "width", "height")] for box in root.findall(SVG + "rect")
                 if box.get("class") == kind] for kind in (inner, outer)}
    return sum(any(o[0] <= i[0] and o[1] <= i[1] and i[0] + i[2] <= o[0] + o[2] and i[1] + i[3] <= o[1] + o[3]
                   for o in at[outer]) for i in at[inner])


count, texts = look("node.svg")
assert (count["package"], count["numa"], count["core"], count["rank"]) == (2, 2, 4, 5), count
assert inside("node.svg", "core", "numa") == 4 and inside("node.svg", "rank", "device") == 5
assert inside("node.svg", "device", "package") == 3 and inside("node.svg", "numa", "package") == 2
for text in ("package 1", "NUMA node 0", "rank 4, 1 CPU thread", "3"):
    assert text in texts, (text, texts)
assert any("at 0000:20:00.0" in text for text in texts), texts
count, texts = look("large.svg")
assert (count["package"], count["core"], count["rank"]) == (9, 360, 2), count
assert any('a<b>&"??c' in text for text in texts), texts
END
what='the pictures'
python3 look.py 2>err || broken 'are not what was asked for'

[ $failed = 0 ] && echo 'nodes are shown as they are'
exit $failed
