#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How much of the code the tests that ran have reached, in a build with --coverage.

usage: tests/coverage.py BUILD-FOLDER

Prints the lines and branches of each folder of the library, the files below 95 % of the lines or 85 % of the branches,
and their functions that were never called. A line of a header counts as reached where any of the files that include
it reached it, and so does a branch. What OpenCL compiles at run time is not seen; the same text is seen where it is
compiled for OpenMP. Run by ./check --coverage."""
import collections
import json
import os
import subprocess
import sys

PARTS = ("core", "comm", "backends/openmp", "backends/opencl", "backends/gpu", "kernels")
LEAST_LINES, LEAST_BRANCHES = 95.0, 85.0


class File:
    def __init__(self):
        self.lines = collections.Counter()
        self.branches = collections.Counter()  # by line and number in the line
        self.functions = collections.Counter()
        self.first = {}


def notes_below(build):
    for base, folders, names in os.walk(build):
        folders[:] = [f for f in folders if f != "tests"]
        for name in sorted(names):
            if name.endswith(".gcno"):
                yield os.path.join(base, name)


def read(build, source):
    """What gcov says of the files of the parts."""
    files = collections.defaultdict(File)
    notes = [n for n in notes_below(build) if os.path.basename(n) != "a-conftest.gcno"]
    for at in range(0, len(notes), 40):
        text = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities"] + notes[at:at + 40],
                              cwd=build, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        for line in text.decode().splitlines():
            for entry in json.loads(line)["files"] if line.startswith("{") else ():
                path = os.path.relpath(os.path.realpath(os.path.join(build, entry["file"])), source)
                if path.startswith(tuple(part + "/" for part in PARTS)):
                    add(files[path], entry)
    return files


def add(file, entry):
    for line in entry["lines"]:
        number = line["line_number"]
        file.lines[number] += line["count"]
        for k, branch in enumerate(line["branches"]):
            file.branches[number, k] += branch["count"]
    for function in entry["functions"]:
        name = function["demangled_name"].split(".")[0]
        file.functions[name] += function["execution_count"]
        file.first[name] = function["start_line"]


def share(counter):
    return (sum(1 for count in counter.values() if count > 0), len(counter))


def percent(reached, number):
    return 100.0 * reached / number if number else 100.0


def total(shares):
    return tuple(map(sum, zip(*shares))) or (0, 0)


def row(name, lines, branches):
    return "%-36s %7.1f %% of %6d lines %7.1f %% of %6d branches" % (
        name, percent(*lines), lines[1], percent(*branches), branches[1])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.realpath(sys.argv[1])
    source = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    files = read(build, source)
    if not files:
        sys.exit("%s: there is nothing of gcov's in %s" % (sys.argv[0], build))
    low = []
    for path, file in sorted(files.items()):
        lines, branches = share(file.lines), share(file.branches)
        if percent(*lines) < LEAST_LINES or percent(*branches) < LEAST_BRANCHES:
            low.append((path, file, lines, branches))
    print("below %.0f %% of the lines or %.0f %% of the branches:" % (LEAST_LINES, LEAST_BRANCHES))
    for path, file, lines, branches in low:
        print(row(path, lines, branches))
        for name in sorted(file.functions, key=file.first.get):
            if file.functions[name] == 0:
                print("    %s:%d: %s() is never called" % (path, file.first[name], name))
    print("%d of %d files; altogether:" % (len(low), len(files)))
    for part in PARTS + ("",):
        of_part = [f for path, f in files.items() if path.startswith(part + "/" if part else "")]
        print("coverage: " + row(part or "all", total([share(f.lines) for f in of_part] or [(0, 0)]),
                                 total([share(f.branches) for f in of_part] or [(0, 0)])))


if __name__ == "__main__":
    main()
