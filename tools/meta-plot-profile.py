#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes one HTML page of what META_PROFILE=trace:FILE and json:FILE have written."""
import argparse
import html
import json
import os
import string
import sys
from array import array

# make puts the module here: the program is one file (tools/tools.am).
from plot_common import COLOURS, Parser, Wrong, guarded, number, unit_for

ABOUT = """\
Makes one HTML page of a run's profile: a timeline of all ranks, the shares of kernels and copies, and
how much of the communication was hidden behind kernels."""
MORE = """\
FILE is what META_PROFILE=trace:FILE or json:FILE has written; with one of each the page has the trace's
timeline and the summary's sums. With a trace alone the sums are those of its events, which are the first
ones of each rank (META_TRACE_EVENTS).
The page needs no network and no other file. Where a trace has more events than --events, neighbours on a
track that are short together are one slice of the timeline, which says how many there are and how much of
its time they take; sums count all.
Exit status: 0 done, 2 invalid usage or a file that cannot be read or written."""

# The tracks of communication, and of the program's own kernels, by their titles.
MESSAGES = ("messages out", "messages in", "reductions over ranks")
COMPUTE = (" compute",)


# ------------------------------------------------------------------ the command line


def parse(arguments):
    p = Parser(prog="meta-plot-profile", description=ABOUT, epilog=MORE, allow_abbrev=False, add_help=False,
               formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+", metavar="FILE", help="a trace, a summary, or one of each")
    p.add_argument("--out", default="profile.html", metavar="FILE", help="the page (profile.html)")
    p.add_argument("--events", type=number(1000), default=100000, metavar="N",
                   help="slices of the timeline, at most about N (100000)")
    p.add_argument("--help", action="help", help="print this help")
    p.add_argument("--version", action="version", version="meta-plot-profile @PACKAGE_VERSION@",
                   help="print the version")
    return p.parse_args(arguments)


# ------------------------------------------------------------------ reading


class Track:
    """Slices of one line of the timeline: times in nanoseconds, in the order of their begin."""

    def __init__(self, title):
        self.title = title
        self.begin, self.end, self.name = array("q"), array("q"), array("l")

    def add(self, begin, end, name):
        self.begin.append(begin)
        self.end.append(end)
        self.name.append(name)


class Trace:
    def __init__(self, path):
        self.path, self.ranks, self.tracks, self.notes = path, {}, {}, []
        self.names, self.kinds, self.index = [], [], {}
        self.events = 0
        self.sums = {}  # of (kind, name, device): calls, bytes, nanoseconds

    def name_of(self, name, kind):
        key = (kind, name)
        if key not in self.index:
            self.index[key] = len(self.names)
            self.names.append(name)
            self.kinds.append(kind)
        return self.index[key]

    def track_of(self, rank, tid):
        key = (rank, tid)
        if key not in self.tracks:
            self.tracks[key] = Track(f"track {tid}")
            self.ranks.setdefault(rank, f"rank {rank}")
        return self.tracks[key]

    def add_about(self, event):
        """What an event of kind M says of a rank or a track."""
        rank, what, args = event["pid"], event["name"], event["args"]
        if what == "process_name":
            self.ranks[rank] = str(args["name"])
        elif what == "process_labels" and rank in self.ranks:
            self.ranks[rank] += f" {args['labels']}"
        elif what == "thread_name":
            self.track_of(rank, event["tid"]).title = str(args["name"])

    def add_slice(self, event):
        begin = nanoseconds(event["ts"])
        end = begin + nanoseconds(event["dur"])
        name, kind, args = str(event["name"]), str(event["cat"]), event["args"]
        track = self.track_of(event["pid"], event["tid"])
        track.add(begin, end, self.name_of(name, kind))
        self.events += 1
        device = track.title.split(" ")[0] if kind in ("kernel", "copy") else ""
        sums = self.sums.setdefault((kind, name, device), [0, 0, 0])
        sums[0] += 1
        sums[1] += int(args.get("bytes", 0))
        sums[2] += end - begin

    def add_instant(self, event):
        at, name = nanoseconds(event["ts"]), str(event["name"])
        if event.get("s") == "p":
            self.notes.append(f"rank {event['pid']}, at {at / 1e9:.6f} s: {name}")
            return
        self.track_of(event["pid"], event["tid"]).add(at, at, self.name_of(name, "decision"))
        self.events += 1

    def add(self, event):
        kind = event["ph"]
        for key in ("pid", "tid"):
            if not isinstance(event.get(key, 0), int):
                raise ValueError(f"'{key}' is no number")
        if kind == "X":
            self.add_slice(event)
        elif kind == "M":
            self.add_about(event)
        elif kind == "i":
            self.add_instant(event)


# What reading an object raises where it is another one than it should be.
DAMAGE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)


def cause_of(error):
    return f"it has no '{error.args[0]}'" if isinstance(error, KeyError) else str(error)


def nanoseconds(microseconds):
    value = round(1000 * microseconds)
    if not 0 <= value < 2 ** 62:
        raise ValueError(f"{microseconds} is no time")
    return value


def event_of(line):
    """The event in a line of the file; None if that has none."""
    text = line.strip().rstrip(",").strip("\0")
    if text in ("", "[", "]"):
        return None
    event = json.loads(text)
    if not isinstance(event, dict):
        raise ValueError("it is no object")
    return event


def read_trace(path, file):
    trace, broken, count = Trace(path), None, 0
    for count, line in enumerate(file, 2):
        if broken:
            raise Wrong(f"{path}, line {broken[0]}: is no event of a trace: {broken[1]}")
        try:
            event = event_of(line)
            if event is not None:
                trace.add(event)
        except DAMAGE as error:
            what = cause_of(error)
            broken = (count, what)
            if line.endswith("\n"):
                raise Wrong(f"{path}, line {count}: is no event of a trace: {what}") from error
    if broken:
        trace.notes.append(f"The file ends in the middle of line {count}: the rest of the run is missing.")
    for track in trace.tracks.values():
        sort_track(track)
    return trace


def sort_track(track):
    begin, end = track.begin, track.end
    if all(begin[k] <= begin[k + 1] for k in range(len(begin) - 1)):
        return
    order = sorted(range(len(begin)), key=lambda k: (begin[k], -end[k]))
    for name in ("begin", "end", "name"):
        values = getattr(track, name)
        setattr(track, name, array(values.typecode, (values[k] for k in order)))


def check_members(members, amounts, texts):
    for key in amounts:
        if not 0 <= members[key] < 2 ** 64:
            raise ValueError(f"'{key}' is {members[key]}")
    for key in texts:
        if not isinstance(members[key], str):
            raise ValueError(f"'{key}' is no text")


def read_summary(path, text):
    try:
        summary = json.loads(text)
        check_members(summary, (), ("libmeta",))
        for process in summary["processes"]:
            check_members(process, ("rank", "seconds", "communication", "hidden"), ())
        for row in summary["rows"]:
            optional = [key for key in ("backend", "label") if key in row]
            check_members(row, ("calls", "bytes", "seconds"), ("section", "name", *optional))
    except DAMAGE as error:
        raise Wrong(f"{path}: is no summary of META_PROFILE=json: {cause_of(error)}") from error
    return summary


def read(path):
    """A Trace, or a summary as it stands in the file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            first = file.readline()
            if first.startswith("["):
                return read_trace(path, file)
            if first.startswith("{"):
                return read_summary(path, first + file.read())
    except OSError as error:
        raise Wrong(f"{path}: cannot be read: {error.strerror}") from error
    what = "is empty" if not first else "is neither a trace nor a summary of libmeta"
    raise Wrong(f"{path}: {what}: META_PROFILE=trace:FILE and json:FILE write them")


# ------------------------------------------------------------------ fewer slices


def merged_count(track, length):
    """How many slices are left where neighbours become one that is not longer than @length."""
    count, last = 0, None
    for begin, end in zip(track.begin, track.end):
        if last is not None and end - last <= length:
            continue
        last = begin if end - begin < length else None
        count += 1
    return count


def length_for(tracks, most):
    """The least power of two of nanoseconds that leaves at most @most slices; 0: none need be merged."""
    if sum(len(track.begin) for track in tracks) <= most:
        return 0
    low, high = 0, 62
    while low < high:
        middle = (low + high) // 2
        if sum(merged_count(track, 1 << middle) for track in tracks) <= most:
            high = middle
        else:
            low = middle + 1
    return 1 << low


def merge(track, length):
    """[begin, end, name, count, busy] of each slice: @name is the one that takes most of it."""
    slices, times, last = [], {}, None
    for begin, end, name in zip(track.begin, track.end, track.name):
        if last is not None and end - last[0] <= length:
            times[name] = times.get(name, 0) + end - begin
            last[4] += max(0, end - max(begin, last[1]))
            last[1] = max(last[1], end)
            last[3] += 1
            if times[name] > times[last[2]]:
                last[2] = name
            continue
        slices.append([begin, end, name, 1, end - begin])
        last, times = (slices[-1], {name: end - begin}) if end - begin < length else (None, {})
    return slices


def depths(slices):
    """Of each slice, how many others it lies in: ranges nest."""
    ends, found = [], []
    for begin, end, *_ in slices:
        while ends and ends[-1] <= begin:
            ends.pop()
        found.append(len(ends))
        if end > begin:
            ends.append(end)
    return found


# ------------------------------------------------------------------ sums of a trace


def union(intervals):
    """Disjoint ones, in order."""
    joined = []
    for begin, end in sorted(intervals):
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        elif begin < end:
            joined.append([begin, end])
    return joined


def common(a, b):
    """The time that two lists of disjoint intervals have in common."""
    total, i, k = 0, 0, 0
    while i < len(a) and k < len(b):
        total += max(0, min(a[i][1], b[k][1]) - max(a[i][0], b[k][0]))
        if a[i][1] < b[k][1]:
            i += 1
        else:
            k += 1
    return total


def intervals_of(trace, rank, kind, titles):
    return union((begin, end) for (r, _), track in trace.tracks.items()
                 if r == rank and any(title in track.title for title in titles)
                 for begin, end, name in zip(track.begin, track.end, track.name)
                 if trace.kinds[name] == kind)


def processes_of(trace):
    """As a summary has them, of what the trace has."""
    found = []
    for rank in sorted(trace.ranks):
        messages = intervals_of(trace, rank, "message", MESSAGES)
        kernels = intervals_of(trace, rank, "kernel", COMPUTE)
        ends = [max(track.end) for (r, _), track in trace.tracks.items() if r == rank and track.end]
        found.append({"rank": rank, "seconds": max(ends, default=0) / 1e9,
                      "communication": sum(e - b for b, e in messages) / 1e9,
                      "hidden": common(messages, kernels) / 1e9})
    return found


def rows_of(trace):
    sections = {"kernel": "work", "copy": "work", "message": "wire", "range": "range"}
    return [{"section": sections.get(kind, kind), "backend": device.split(":")[0], "name": name, "calls": calls,
             "bytes": size, "seconds": time / 1e9}
            for (kind, name, device), (calls, size, time) in trace.sums.items()]


# ------------------------------------------------------------------ the page


def seconds(value):
    factor, unit = unit_for([value]) if value > 0 else (1, "s")
    return f"{factor * value:.4g} {unit}"


def size(value):
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= factor:
            return f"{value / factor:.1f} {unit}"
    return f"{value:.0f} B"


def colours_of(trace):
    """Of each name: kernels each their own, by the time they take; others by their kind."""
    kinds = {"copy": "#8899aa", "message": "#e0a030", "range": "#d8d8e4", "decision": "#000000"}
    kernels = {}
    for (kind, name, _), (_, _, time) in trace.sums.items():
        if kind == "kernel":
            kernels[name] = kernels.get(name, 0) + time
    order = sorted(kernels, key=lambda name: -kernels[name])
    own = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(order)}
    return [own[name] if kind == "kernel" else kinds.get(kind, "#bbbbbb")
            for name, kind in zip(trace.names, trace.kinds)]


def track_data(track, length):
    """Numbers for the page: the begins as differences, and only of merged slices how many they are."""
    slices = merge(track, length)
    flat, many, last = [], {}, 0
    for k, (begin, end, name, count, busy) in enumerate(slices):
        flat += [begin - last, end - begin, name]
        last = begin
        if count > 1:
            many[k] = [count, busy]
    deep = depths(slices) if track.title.startswith("ranges") else []
    return {"title": track.title, "slices": flat, "many": many, "depths": deep if any(deep) else []}


def timeline_data(trace, most):
    tracks = list(trace.tracks.values())
    length = length_for(tracks, most)
    ranks = [{"name": trace.ranks[rank],
              "tracks": [track_data(track, length) for (r, _), track in sorted(trace.tracks.items()) if r == rank]}
             for rank in sorted(trace.ranks)]
    begin = min((track.begin[0] for track in tracks if track.begin), default=0)
    end = max((max(track.end) for track in tracks if track.end), default=0)
    return {"names": trace.names, "kinds": trace.kinds, "colours": colours_of(trace), "begin": begin, "end": end,
            "ranks": ranks}, length


def embedded(data):
    """JSON that cannot end the script it is in."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def bar(parts):
    """@parts: (class, share of the whole, what it is)"""
    return '<div class="bar">' + "".join(
        f'<span class="{kind}" style="width:{100 * share:.3f}%" title="{html.escape(text)}"></span>'
        for kind, share, text in parts if share > 0) + "</div>"


SECTIONS = (("work", "Kernels and copies of the program"), ("halo", "For halo exchanges"),
            ("message", "For messages"), ("wire", "Messages, from their posting"), ("range", "Ranges"))


def shares_table(rows):
    lines = []
    for section, title in SECTIONS:
        found = sorted((row for row in rows if row["section"] == section and not row.get("label")),
                       key=lambda row: -row["seconds"])
        whole = sum(row["seconds"] for row in found)
        if found:
            lines.append(f'<tr class="section"><th colspan="7">{title}</th></tr>')
        for row in found:
            time, share = row["seconds"], row["seconds"] / whole if whole > 0 else 0
            rate = f"{size(row['bytes'] / time)}/s" if time > 0 and row["bytes"] else ""
            lines.append(
                f'<tr><td>{html.escape(row["name"])}</td><td>{html.escape(row.get("backend", ""))}</td>'
                f'<td class="n">{row["calls"]}</td><td class="n">{size(row["bytes"])}</td>'
                f'<td class="n">{seconds(time)}</td><td class="n">{rate}</td>'
                f'<td>{bar([("share", share, f"{100 * share:.1f} %")])} {100 * share:.1f} %</td></tr>')
    return "\n".join(lines)


def communication_table(processes):
    longest, lines = max((p["communication"] for p in processes), default=0) or 1, []
    for process in processes:
        way, hidden = process["communication"], min(process["hidden"], process["communication"])
        parts = [(kind, time / longest, f"{kind}: {seconds(time)}")
                 for kind, time in (("hidden", hidden), ("exposed", way - hidden))]
        times = "".join(f'<td class="n">{seconds(time)}</td>' for time in (process["seconds"], way, hidden, way - hidden))
        lines.append(f'<tr><td>rank {int(process["rank"])}</td>{times}<td>{bar(parts)}</td></tr>')
    return "\n".join(lines)


def notes_of(trace, length, summary):
    notes = list(trace.notes) if trace else []
    if trace and not trace.events:
        notes.append("The trace has no events: nothing ran while it was recorded.")
    if length:
        notes.append(f"{trace.events} events: neighbours that together take less than {seconds(length / 1e9)} are "
                     "one slice of the timeline; --events shows more.")
    if not summary:
        notes.append("The sums are those of the trace's events; META_PROFILE=json:FILE writes those of the run.")
    if not trace:
        notes.append("A summary has no timeline; META_PROFILE=trace:FILE writes one.")
    return "\n".join(f"<li>{html.escape(note)}</li>" for note in notes)


def page_of(trace, summary, most):
    data, length = timeline_data(trace, most) if trace else (None, 0)
    processes = summary["processes"] if summary else processes_of(trace)
    rows = summary["rows"] if summary else rows_of(trace)
    named = ", ".join(html.escape(os.path.basename(path)) for path in
                      ([trace.path] if trace else []) + ([summary["path"]] if summary else []))
    return PAGE.substitute(
        title=named, ranks=len(processes), events=trace.events if trace else 0,
        notes=notes_of(trace, length, summary), shares=shares_table(rows),
        communication=communication_table(processes), timeline=TIMELINE if trace else "",
        data=embedded(data) if trace else "null", script=SCRIPT if trace else "")


def write_page(path, text):
    """Under another name until it is complete."""
    partial = f"{path}.partial-{os.getpid()}"
    try:
        with open(partial, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        os.replace(partial, path)
    except OSError as error:
        if os.path.exists(partial):
            os.remove(partial)
        raise Wrong(f"--out {path}: cannot be written: {error.strerror}") from error


def main(arguments):
    o = parse(arguments)
    trace = summary = None
    for path in o.files:
        if os.path.realpath(path) == os.path.realpath(o.out):
            raise Wrong(f"--out {o.out}: is a file to be read")
        found = read(path)
        if isinstance(found, Trace):
            if trace:
                raise Wrong(f"{path}: is a second trace; give one, and at most one summary")
            trace = found
        else:
            if summary:
                raise Wrong(f"{path}: is a second summary; give one, and at most one trace")
            summary = dict(found, path=path)
    write_page(o.out, page_of(trace, summary, o.events))
    count = len(summary["processes"] if summary else trace.ranks)
    what = f", {trace.events} events" if trace else ""
    print(f"{o.out}: {count} rank{'' if count == 1 else 's'}{what}")


PAGE = string.Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>$title</title>
<style>
body { font: 14px sans-serif; color: #222; margin: 1.5em; max-width: 1400px }
h1 { font-size: 20px } h2 { font-size: 16px; margin-top: 1.6em }
table { border-collapse: collapse } td, th { padding: 2px 10px; text-align: left; border-bottom: 1px solid #ddd }
th { font-weight: bold } .section th { padding-top: 12px; color: #444 } .n { text-align: right; white-space: nowrap }
.bar { display: inline-block; width: 220px; height: 12px; background: #eee; vertical-align: middle; font-size: 0 }
.bar span { display: inline-block; height: 12px } .share { background: #0072b2 }
.hidden { background: #009e73 } .exposed { background: #d55e00 }
.key span { display: inline-block; width: 12px; height: 12px; margin: 0 4px 0 12px }
#timeline { width: 100%; border: 1px solid #bbb; cursor: crosshair; touch-action: none }
#about { min-height: 1.4em; font-family: monospace; white-space: pre-wrap } button { margin-right: 4px }
</style>
</head>
<body>
<h1>$title</h1>
<p id="facts">$ranks ranks, $events events</p>
<ul id="notes">
$notes
</ul>
$timeline
<h2>Where the time goes</h2>
<table id="shares">
<tr><th>name</th><th>back end</th><th>calls</th><th>bytes</th><th>time, all ranks</th><th>rate</th><th>share</th></tr>
$shares
</table>
<h2>Communication</h2>
<p class="key">While messages were under way: <span class="hidden"></span>hidden behind the rank's own kernels
<span class="exposed"></span>exposed</p>
<table id="communication">
<tr><th></th><th>counted</th><th>under way</th><th>hidden</th><th>exposed</th><th></th></tr>
$communication
</table>
<script type="application/json" id="data">$data</script>
$script
</body>
</html>
""")

TIMELINE = """\
<h2>Timeline</h2>
<p><button id="in">zoom in</button><button id="out">zoom out</button><button id="left">earlier</button><button
id="right">later</button><button id="all">everything</button> Turn the wheel to zoom, drag to move, point at a slice for
its name.</p>
<canvas id="timeline" tabindex="0"></canvas>
<div id="about"></div>"""

SCRIPT = r"""<script>
"use strict";
(function () {
    const data = JSON.parse(document.getElementById("data").textContent);
    const canvas = document.getElementById("timeline"), about = document.getElementById("about");
    const pen = canvas.getContext("2d");
    const LEFT = 230, ROW = 16, HEAD = 20, AXIS = 22;
    const start = data.begin, whole = Math.max(data.end - start, 1);
    let from = start, to = start + whole, width = 0, height = 0;

    // The rows of the picture, and of each slice its begin; the file has differences.
    const rows = [];
    for (const rank of data.ranks) {
        rows.push({ head: rank.name, height: HEAD });
        for (const track of rank.tracks) {
            const n = track.slices.length / 3;
            const begin = new Float64Array(n), end = new Float64Array(n), name = new Int32Array(n);
            let at = 0, deepest = 0, longest = 0;
            for (let k = 0; k < n; ++k) {
                at += track.slices[3 * k];
                begin[k] = at;
                end[k] = at + track.slices[3 * k + 1];
                name[k] = track.slices[3 * k + 2];
                longest = Math.max(longest, end[k] - at);
                if (track.depths.length) deepest = Math.max(deepest, track.depths[k]);
            }
            deepest = Math.min(deepest, 5);
            rows.push({ title: track.title, begin: begin, end: end, name: name, many: track.many,
                        depths: track.depths, longest: longest, height: ROW * (deepest + 1) });
        }
    }
    let total = AXIS;
    for (const row of rows) { row.top = total; total += row.height + 2; }

    function seconds(ns) {
        if (ns >= 1e9) return (ns / 1e9).toPrecision(6) + " s";
        if (ns >= 1e6) return (ns / 1e6).toPrecision(5) + " ms";
        if (ns >= 1e3) return (ns / 1e3).toPrecision(4) + " µs";
        return Math.round(ns) + " ns";
    }
    function place(ns) { return LEFT + (ns - from) / (to - from) * (width - LEFT); }
    function time(x) { return from + (x - LEFT) / (width - LEFT) * (to - from); }
    // The first slice that begins at ns or later.
    function first(row, ns) {
        let low = 0, high = row.begin.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (row.begin[middle] < ns) low = middle + 1; else high = middle;
        }
        return low;
    }
    function rowOf(row, k) { return row.depths.length ? Math.min(row.depths[k], 5) : 0; }

    function drawAxis() {
        const step = Math.pow(10, Math.floor(Math.log10((to - from) / 4)));
        pen.fillStyle = "#555";
        let last = -1e9;
        for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
            const x = place(t);
            pen.fillRect(x, AXIS - 5, 1, 5);
            if (x - last < 90) continue;
            pen.fillText(seconds(t), x + 3, AXIS - 8);
            last = x;
        }
    }
    function drawTrack(row) {
        const lastX = [];
        for (let k = first(row, from - row.longest); k < row.begin.length && row.begin[k] <= to; ++k) {
            if (row.end[k] < from) continue;
            const line = rowOf(row, k), x = Math.max(place(row.begin[k]), LEFT);
            const right = Math.max(Math.min(place(row.end[k]), width), x + 1);
            if (right <= lastX[line]) continue; // nothing of it would be seen
            lastX[line] = right;
            const y = row.top + ROW * line;
            pen.fillStyle = data.colours[row.name[k]];
            pen.globalAlpha = row.many[k] ? 0.6 : 1;
            pen.fillRect(x, y, right - x - (right - x > 3 ? 0.5 : 0), ROW - 2);
            pen.globalAlpha = 1;
            if (right - x < 50) continue;
            pen.save();
            pen.beginPath();
            pen.rect(x, y, right - x - 4, ROW);
            pen.clip();
            pen.fillStyle = data.kinds[row.name[k]] === "range" ? "#222" : "#fff";
            pen.fillText(data.names[row.name[k]], x + 4, y + ROW - 5);
            pen.restore();
        }
    }
    function draw() {
        const scale = window.devicePixelRatio || 1;
        width = canvas.clientWidth;
        height = total;
        canvas.style.height = height + "px";
        canvas.width = width * scale;
        canvas.height = height * scale;
        pen.setTransform(scale, 0, 0, scale, 0, 0);
        pen.font = "11px sans-serif";
        pen.clearRect(0, 0, width, height);
        drawAxis();
        for (const row of rows) {
            pen.fillStyle = "#222";
            if (row.head !== undefined) {
                pen.font = "bold 11px sans-serif";
                pen.fillText(row.head, 4, row.top + HEAD - 6);
                pen.font = "11px sans-serif";
                continue;
            }
            pen.fillStyle = "#f5f5f5";
            pen.fillRect(LEFT, row.top, width - LEFT, row.height);
            pen.fillStyle = "#444";
            pen.fillText(row.title, 14, row.top + ROW - 5, LEFT - 18);
            drawTrack(row);
        }
    }

    function show(begin, end) {
        const length = Math.min(Math.max(end - begin, 10), whole);
        from = Math.min(Math.max(begin, start), start + whole - length);
        to = from + length;
        draw();
    }
    function zoom(factor, at) { show(at - (at - from) * factor, at + (to - at) * factor); }
    function move(share) { show(from + share * (to - from), to + share * (to - from)); }
    function middle() { return (from + to) / 2; }

    // The slice at a point of the picture; the innermost where they nest.
    function find(x, y) {
        if (x < LEFT) return null;
        const t = time(x), slack = (to - from) / (width - LEFT);
        for (const row of rows) {
            if (row.head !== undefined || y < row.top || y >= row.top + row.height) continue;
            const line = Math.floor((y - row.top) / ROW);
            for (let k = first(row, t + slack) - 1; k >= 0 && row.begin[k] >= t - row.longest - slack; --k)
                if (row.end[k] >= t - slack && rowOf(row, k) === line) return { row: row, k: k };
        }
        return null;
    }
    function describe(found) {
        const row = found.row, k = found.k, name = data.names[row.name[k]];
        const when = "at " + seconds(row.begin[k]) + " for " + seconds(row.end[k] - row.begin[k]);
        const many = row.many[k];
        if (!many) return row.title + ": " + name + ", " + when;
        const busy = Math.round(100 * many[1] / Math.max(row.end[k] - row.begin[k], 1));
        return row.title + ": " + many[0] + " events, most of the time " + name + ", " + when + ", busy " + busy + " %";
    }

    let grabbed = null;
    function pointed(event) {
        const box = canvas.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    }
    canvas.addEventListener("wheel", function (event) {
        event.preventDefault();
        zoom(event.deltaY > 0 ? 1.25 : 0.8, time(Math.max(pointed(event).x, LEFT)));
    }, { passive: false });
    canvas.addEventListener("pointerdown", function (event) {
        grabbed = { x: pointed(event).x, from: from, to: to };
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", function () { grabbed = null; });
    canvas.addEventListener("pointermove", function (event) {
        const at = pointed(event);
        if (grabbed) {
            const by = (grabbed.x - at.x) / (width - LEFT) * (grabbed.to - grabbed.from);
            show(grabbed.from + by, grabbed.to + by);
            return;
        }
        const found = find(at.x, at.y);
        about.textContent = found ? describe(found) : "";
    });
    canvas.addEventListener("dblclick", function () { show(start, start + whole); });
    canvas.addEventListener("keydown", function (event) {
        const keys = { "+": function () { zoom(0.5, middle()); }, "-": function () { zoom(2, middle()); },
                       ArrowLeft: function () { move(-0.2); }, ArrowRight: function () { move(0.2); },
                       Home: function () { show(start, start + whole); } };
        if (keys[event.key]) { keys[event.key](); event.preventDefault(); }
    });
    document.getElementById("in").onclick = function () { zoom(0.5, middle()); };
    document.getElementById("out").onclick = function () { zoom(2, middle()); };
    document.getElementById("left").onclick = function () { move(-0.5); };
    document.getElementById("right").onclick = function () { move(0.5); };
    document.getElementById("all").onclick = function () { show(start, start + whole); };
    window.addEventListener("resize", draw);
    draw();
})();
</script>"""


if __name__ == "__main__":
    sys.exit(guarded("meta-plot-profile", main, sys.argv[1:]))
