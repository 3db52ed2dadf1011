#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# meta-plot-profile: the page of a run on two ranks has all of it, in a browser without an error; sums are those of
# the summary; large, empty, damaged and unfinished files.
# TEST: backends=any mpi=yes labels=programs
. "$META_TEST_SRCDIR/tests/programs.sh"
command -v python3 >/dev/null || { echo 'there is no python3 here'; exit 77; }
: >out >err

# plot STATUS ARGUMENT…: its output is then in out and err.
plot()
{
    want=$1
    shift
    what="meta-plot-profile $*"
    "$build/meta-plot-profile" "$@" >out 2>err </dev/null
    got=$?
    [ "$got" = "$want" ] || broken "exit status $got, expected $want"
    ! grep -q Traceback err || broken 'a trace of Python'
}
# told TEXT ARGUMENT…: it ends in one message with the text, and makes no page.
told()
{
    text=$1
    shift
    rm -f none.html
    plot 2 --out none.html "$@"
    [ "$(grep -c '^meta-plot-profile: ' err)" = 1 ] || broken 'not one message'
    grep -qF -e "$text" err || broken "does not say: $text"
    [ -z "$(ls none.html* 2>/dev/null)" ] || broken 'leaves a page'
}
# has FILE TEXT
has() { grep -qF -e "$2" "$1" || broken "the page lacks: $2"; }

browser=
for candidate in chromium-headless-shell chromium google-chrome; do
    [ -n "$browser" ] || ! command -v $candidate >/dev/null || browser=$candidate
done
# in_browser PAGE SCRIPT: runs the page with the script behind it, and puts what is then its document into dom. What
# the page reports as an error is in its title.
in_browser()
{
    what="$1 in $browser"
    python3 - "$1" "$2" >shown.html <<'END'
import sys
text = open(sys.argv[1], encoding="utf-8").read()
watch = """<script>window.addEventListener("error", function (event) {
    document.title = "ERROR " + event.message; });
console.error = console.warn = function (text) { document.title = "ERROR " + text; };</script>"""
probe = "<script>" + sys.argv[2] + "</script>"
sys.stdout.write(text.replace("<head>", "<head>" + watch).replace("</body>", probe + "</body>"))
END
    "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$here/browser" --window-size=1200,900 \
        --virtual-time-budget=5000 --dump-dom "file://$here/shown.html" >dom 2>browser.err </dev/null ||
        { cp browser.err err; broken 'the browser fails'; }
    ! grep -q '<title>ERROR' dom || broken "$(grep -o '<title>ERROR[^<]*' dom)"
}

plot 0 --help
grep -q '^usage: meta-plot-profile' out || broken 'no usage'
plot 0 --version
[ "$(cat out)" = "meta-plot-profile $(sed -n 's/^Version: //p' "$build/core/libmeta.pc")" ] || broken 'another version'
# What is installed is one file, whatever lies beside it.
cp "$build/meta-plot-profile" alone
what='the program alone'
(cd / && PYTHONSAFEPATH=1 "$here/alone" --help) >out 2>err || broken 'needs another file'

# A run on two ranks.
META_THREADS=1 META_PROFILE=trace:run.json,json:summary.json run 0 2 meta-minighost --scaling 1 --nx 16 --ny 16 \
    --nz 16 --num_vars 1 --num_tsteps 6 --stencil 23 --npz 2 --npx 1
plot 0 run.json summary.json --out both.html
grep -qE '^both.html: 2 ranks, [1-9][0-9]+ events$' out || broken 'does not say what it has made'
has both.html 'stencil_3d7p_sum f64'
! grep -qE '(src|href)=|https?:' both.html || broken 'the page refers to something else'
plot 0 run.json --out trace.html
plot 0 summary.json --out summary.html
has summary.html 'A summary has no timeline'
! grep -q '<canvas' summary.html || broken 'a timeline of nothing'

# The tables of the page say what the summary has; those of the trace count the same calls.
cat >compare.py <<'END'
import html.parser
import json


class Tables(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tables, self.open, self.row, self.tags = {}, None, None, []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "br", "link"):
            self.tags.append(tag)
        if tag == "table":
            self.open = self.tables.setdefault(dict(attrs)["id"], [])
        elif tag == "tr":
            self.row = []
            self.open.append(self.row)
        elif tag in ("td", "th"):
            self.row.append("")

    def handle_endtag(self, tag):
        assert self.tags.pop() == tag, tag

    def handle_data(self, data):
        if self.tags and self.tags[-1] in ("td", "th"):
            self.row[-1] += data


def tables_of(path):
    parser = Tables()
    parser.feed(open(path, encoding="utf-8").read())
    parser.close()
    assert not parser.tags, parser.tags
    return parser.tables


def calls_of(path):
    return {(row[0], row[1]): int(row[2]) for row in tables_of(path)["shares"] if len(row) == 7 and row[2] != "calls"}


def milliseconds(text):
    value, unit = text.split()
    return float(value) * {"s": 1e3, "ms": 1, "µs": 1e-3, "ns": 1e-6}[unit]


summary = json.load(open("summary.json", encoding="utf-8"))
expected = {}
for row in summary["rows"]:
    if row["section"] != "measure" and "label" not in row:
        expected[(row["name"], row.get("backend", ""))] = row["calls"]
assert calls_of("both.html") == expected, (calls_of("both.html"), expected)
assert calls_of("summary.html") == expected
for page in ("both.html", "trace.html"):
    ranks = tables_of(page)["communication"][1:]
    assert [row[0] for row in ranks] == ["rank 0", "rank 1"], ranks
    for row in ranks:
        counted, way, hidden, exposed = map(milliseconds, row[1:5])
        assert abs(way - hidden - exposed) <= 0.01 * way and way <= counted, row
for row, process in zip(tables_of("both.html")["communication"][1:], summary["processes"]):
    assert abs(milliseconds(row[2]) - 1e3 * process["communication"]) <= 1e-3 * milliseconds(row[2]), row
stencil = ("stencil_3d7p_sum f64", "openmp")
assert calls_of("trace.html")[stencil] == expected[stencil], calls_of("trace.html")

# What is embedded for the timeline: each event of the trace once, with its times.
text = open("both.html", encoding="utf-8").read()
begin = text.index('id="data">') + len('id="data">')
data = json.loads(text[begin:text.index("</script>", begin)])
shown, found = [], []
for rank, about in enumerate(data["ranks"]):
    for track in about["tracks"]:
        at, slices = 0, track["slices"]
        for k in range(0, len(slices), 3):
            at += slices[k]
            shown.append((rank, at, slices[k + 1], data["names"][slices[k + 2]]))
for line in open("run.json", encoding="utf-8"):
    line = line.strip().rstrip(",")
    event = json.loads(line) if line.startswith("{") else {"ph": ""}
    if event["ph"] == "X":
        found.append((event["pid"], round(1000 * event["ts"]), round(1000 * event["dur"]), event["name"]))
assert sorted(shown) == sorted(found), (len(shown), len(found))
END
what='the pages of the run'
python3 compare.py 2>err || broken 'do not say what the files say'

# In a browser: the timeline is drawn, is another one when zoomed in, and names the slice under the pointer.
if [ -n "$browser" ]; then
    in_browser both.html '
        const canvas = document.getElementById("timeline"), about = document.getElementById("about");
        const before = canvas.toDataURL(), box = canvas.getBoundingClientRect();
        let named = 0, most = 0;
        function point(x, y, kind) {
            canvas.dispatchEvent(new PointerEvent(kind, { clientX: box.left + x, clientY: box.top + y, pointerId: 1 }));
        }
        for (let y = 20; y < box.height; y += 8) for (let x = 232; x < box.width; x += 3) {
            point(x, y, "pointermove");
            if (/stencil_3d7p_sum f64, at .* for .*s$/.test(about.textContent)) ++named;
        }
        canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: box.left + 600, clientY: box.top + 40 }));
        const zoomed = canvas.toDataURL();
        document.getElementById("right").click();
        const moved = canvas.toDataURL();
        document.getElementById("all").click();
        const back = canvas.toDataURL() === before;
        document.body.setAttribute("data-found", named > 0 && zoomed !== before && moved !== zoomed && back
            ? "as it should be" : [named, zoomed !== before, moved !== zoomed, back].join());'
    grep -q 'data-found="as it should be"' dom || broken "$(grep -o 'data-found="[^"]*"' dom)"
    in_browser summary.html ''
else
    echo 'there is no chromium here: no page was shown'
fi

# Many events: neighbours become one slice, and sums stay.
cat >make.py <<'END'
import json
import sys

ranks, events = int(sys.argv[1]), int(sys.argv[2])
print("[")
for rank in range(ranks):
    for name, args in (("process_name", {"name": f"rank {rank}"}), ("thread_name", {"name": "openmp:0 compute"})):
        print(json.dumps({"ph": "M", "pid": rank, "tid": 2000, "name": name, "args": args}) + ",")
    for k in range(events):
        print(f'{{"ph":"X","pid":{rank},"tid":2000,"ts":{3 * k}.000,"dur":{1 + (k % 1000 == 0) * 900 / 1000:.3f},'
              f'"cat":"kernel","name":"kernel {k % 5}","args":{{"bytes":100}}}},')
print("]")
END
python3 make.py 3 20000 >many.json
plot 0 many.json --events 2000 --out many.html
has many.html '60000 events: neighbours'
has many.html '<td class="n">12000</td><td class="n">1.2 MB</td>'
[ "$(wc -c <many.html)" -lt 200000 ] || broken 'the page is not smaller for it'
[ -z "$browser" ] || in_browser many.html '
    const canvas = document.getElementById("timeline"), box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + 600, clientY: box.top + 50 }));
    document.body.setAttribute("data-found", document.getElementById("about").textContent);'
[ -z "$browser" ] ||
    grep -qE 'data-found="openmp:0 compute: [0-9]+ events, most of the time kernel [0-4], at .*busy 3[0-9] %' dom ||
    broken "$(grep -o 'data-found="[^"]*"' dom)"

# Names that HTML and scripts do not like.
printf '[\n%s,\n%s,\n]\n' '{"ph":"M","pid":0,"name":"process_name","args":{"name":"</script><b>rank"}}' \
    '{"ph":"X","pid":0,"tid":1,"ts":0.0,"dur":1.0,"cat":"kernel","name":"a</script><!--&\"x\ud800","args":{}}' >odd.json
plot 0 odd.json --out odd.html
[ "$(grep -c '</script><b>\|a</script>' odd.html)" = 0 ] || broken 'a name ends the script'
[ -z "$browser" ] || in_browser odd.html ''

# No events; one that is not whole, in the last line and before it; what is no trace.
printf '[\n]\n' >empty.json
plot 0 empty.json --out empty.html
has empty.html 'The trace has no events'
[ -z "$browser" ] || in_browser empty.html ''
# In the middle of a line, whatever the lengths of the times.
head -n 20 run.json >cut.json
sed -n 21p run.json | head -c 30 >>cut.json
plot 0 cut.json --out cut.html
has cut.html 'The file ends in the middle of line'
: >nothing.json
told 'nothing.json: is empty' nothing.json
printf 'hello\n' >hello.json
told 'hello.json: is neither a trace nor a summary' hello.json
printf '\377\376\000\001\n' >binary.json
told 'is neither a trace nor a summary' binary.json
sed '9s/"dur"/"Dur"/' run.json >damaged.json
told "damaged.json, line 9: is no event of a trace: it has no 'dur'" damaged.json
sed '9s/"ts":/"ts":-/' run.json >damaged.json
told 'damaged.json, line 9: is no event of a trace' damaged.json
sed '9s/.*/{"ph":"X","pid":0,/' run.json >damaged.json
told 'damaged.json, line 9: is no event of a trace' damaged.json
sed '9s/.*/17/' run.json >damaged.json
told 'damaged.json, line 9: is no event of a trace: it is no object' damaged.json
printf '{"libmeta":"0.1.0","processes":[{"rank":0}],"rows":[]}\n' >damaged.json
told "damaged.json: is no summary of META_PROFILE=json: it has no 'seconds'" damaged.json
head -c 200 summary.json >damaged.json
told 'damaged.json: is no summary' damaged.json
printf '{"libmeta":"0","processes":[],"rows":[{"section":"work","name":"a","calls":1e400,"bytes":0,"seconds":0}]}\n' >damaged.json
told "damaged.json: is no summary of META_PROFILE=json: 'calls' is inf" damaged.json
sed '9s/"pid":0/"pid":"0"/' run.json >damaged.json
told "damaged.json, line 9: is no event of a trace: 'pid' is no number" damaged.json
{ echo '['; head -c 200000 /dev/zero | tr '\0' '['; echo; } >damaged.json
told 'damaged.json, line 2: is no event of a trace' damaged.json
told 'run.json: is a file to be read' run.json --out ./run.json
told 'nowhere.json: cannot be read: No such file' nowhere.json
told 'run.json: is a second trace' run.json run.json
told 'summary.json: is a second summary' summary.json summary.json
told 'whole number from 1000' --events 3 run.json
told 'unrecognized arguments: --nothing' --nothing run.json
told 'required: FILE'
told 'no/such/folder.html: cannot be written' run.json --out no/such/folder.html

[ $failed = 0 ] && echo 'pages of profiles have what was recorded'
exit $failed
