# SPDX-License-Identifier: BSD-3-Clause
"""What the plot-* programs that measure have in common: records of runs, figures."""
import datetime
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

from plot_common import COLOURS, Parser, Wrong, guarded, number, numbers, unit_for, words, words_of  # noqa: F401

MARKS = "osD^vPX"  # as many as colours


# ------------------------------------------------------------------ running


def find_program(folder, name, option="--programs"):
    path = os.path.join(folder, name) if folder else shutil.which(name)
    if not path or not os.access(path, os.X_OK):
        where = folder or "PATH"
        raise Wrong(f"there is no program {name} in {where}; {option} names the folder it is in")
    return os.path.abspath(path)


def message_of(done):
    """What the program said, or at least the end of what there is."""
    said = [line for line in done.stderr.splitlines() if line.startswith("meta-")]
    said = said or (done.stderr + done.stdout).strip().splitlines()[-4:]
    return "\n  ".join(said) or "it said nothing"


def run_program(line, what, env, folder):
    """@return what it printed"""
    done = subprocess.run(line, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise Wrong(f"{what}: exit status {done.returncode}\n  {message_of(done)}\n"
                    f"  the command was: {shlex.join(line)}", 1)
    return done.stdout


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise Wrong(f"a program ended well but its report cannot be read: {error}", 1) from error


# ------------------------------------------------------------------ records of runs


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def machine():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"processor": processor(), "cores": cores, "system": platform.platform(),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")}


def make_folder(path):
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise Wrong(f"--out {path}: cannot be written to: {error.strerror}") from error


def record(out, runs, repeat, describe, measure):
    """Each of @runs, then each again, and so on. Every line is written when it is known: what ends
    this leaves what was measured."""
    make_folder(out)
    tell = sys.stderr.isatty()
    with tempfile.TemporaryDirectory() as folder, \
            open(os.path.join(out, "runs.jsonl"), "w", encoding="utf-8") as file:
        def put(line):
            file.write(json.dumps(line) + "\n")
            file.flush()
        put({"machine": machine()})
        for turn in range(repeat):
            for k, run in enumerate(runs):
                if tell:
                    at = f"{turn * len(runs) + k + 1} of {repeat * len(runs)}"
                    print(f"\r\033[K{at}: {describe(run)}", end="", file=sys.stderr, flush=True)
                put(dict(measure(run, folder), repeat=turn))
    if tell:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def read_records(out, program, keys):
    path = os.path.join(out, "runs.jsonl")
    try:
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        if not lines or "machine" not in lines[0]:
            raise ValueError("its first line is not about the machine")
        for line in lines[1:]:
            for key in keys:
                _ = line[key]
        return lines[0]["machine"], lines[1:]
    except OSError as error:
        raise Wrong(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise Wrong(f"{path}: is no file of {program}: {error}") from error


# ------------------------------------------------------------------ figures


def matplotlib_of():
    try:
        import matplotlib
    except ImportError as error:
        raise Wrong(f"{sys.executable} has no matplotlib; install it (Debian: python3-matplotlib, for "
                    f"/usr/bin/python3; else: python3 -m pip install matplotlib)") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot
    pyplot.rcParams.update({"font.size": 11, "axes.grid": True, "grid.alpha": 0.35,
                            "axes.axisbelow": True, "svg.hashsalt": "libmeta",
                            "axes.spines.top": False, "axes.spines.right": False})
    return pyplot


def samples(runs, key, value):
    """Of each @key of the runs: [keys], [median], [least], [most]."""
    by_key = {}
    for run in runs:
        by_key.setdefault(run[key], []).append(value(run))
    keys = sorted(by_key)
    return (keys, [statistics.median(by_key[k]) for k in keys],
            [min(by_key[k]) for k in keys], [max(by_key[k]) for k in keys])


def style_of(k, dashed=False):
    return {"color": COLOURS[k % len(COLOURS)], "marker": MARKS[k % len(MARKS)],
            "linestyle": "--" if dashed else "-", "markerfacecolor": "white" if dashed else None}


def draw(axes, series, label, style, aside):
    """@aside: how far the points are moved, so that bars of others stay in sight."""
    at, median, least, most = series
    at = [x * 2 ** (0.025 * aside) for x in at]
    bars = [[m - l for m, l in zip(median, least)], [h - m for h, m in zip(most, median)]]
    axes.errorbar(at, median, yerr=bars, label=label, capsize=4, linewidth=1.8, markersize=6,
                  **style)


def finish(figure, pyplot, titles, handles, out, name):
    """Title, what it was measured on, legend; all outside the data."""
    height = figure.get_figheight()
    figure.text(0.02, 1 - 0.14 / height, titles[0], fontsize=13, fontweight="bold", va="top")
    figure.text(0.02, 1 - 0.42 / height, titles[1], fontsize=9.5, color="#444444", va="top")
    rows = (len(handles[1]) + 2) // 3
    figure.legend(*handles, loc="upper left", bbox_to_anchor=(0.01, 1 - 0.58 / height), ncol=3,
                  frameon=False, borderaxespad=0)
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.7 + 0.24 * rows) / height))
    for end in ("png", "svg"):
        figure.savefig(os.path.join(out, f"{name}.{end}"), dpi=100,
                       metadata={"Date": None} if end == "svg" else None)
    pyplot.close(figure)
    return f"{name}.png"


def print_figures(out, runs, made):
    print(f"{len(runs)} runs in {os.path.join(out, 'runs.jsonl')}; figures, also as SVG:")
    for name in made:
        print(f"  {os.path.join(out, name)}")
