# SPDX-License-Identifier: BSD-3-Clause
"""Which lines of the code does each test run? Recorded with gcov in a build of its own, for tests/mutate.py.

What is known stands in a file: first the lines that are code at all, then one test a line, until the code changes. A
test that changed is recorded again. Lines that only run in a process that is killed are not seen, nor is what is
compiled at run time; a header counts once, whoever includes it."""
import bisect
import collections
import hashlib
import json
import os
import shutil
import subprocess

# A child that ends by _exit() would leave no counts.
FLAGS = ("CPPFLAGS=-DMETA_KERNEL_ONE_VARIANT= -D_exit=exit", "LDFLAGS=--coverage",
         "CFLAGS=-g -O1 --coverage")


def digest(paths):
    total = hashlib.sha256()
    for path in paths:
        total.update(path.encode())
        with open(path, "rb") as file:
            total.update(file.read())
    return total.hexdigest()


class Reach:
    def __init__(self, path, source, build, folders):
        self.path = path
        self.source = source
        self.build = build
        self.parts = tuple(folder + "/" for folder in folders)
        self.code = {}  # file: the numbers of its lines that are code, sorted
        self.tests = {}  # name: {"source": digest, "seconds": of the recording, "lines": {file: numbers}}
        self.users = {}  # (file, line): the names of the tests that run it
        self.key = digest(sorted(self.sources()))

    def sources(self):
        for part in ("core", "comm", "backends", "kernels"):
            for base, _, names in os.walk(os.path.join(self.source, part)):
                for name in names:
                    yield os.path.join(base, name)

    def load(self):
        """Whether there is a record of this code."""
        try:
            with open(self.path, encoding="utf-8") as file:
                first = json.loads(file.readline())
                if first["key"] != self.key:
                    return False
                self.code = first["lines"]
                for line in file:
                    record = json.loads(line)
                    self.tests[record["test"]] = record
        except (OSError, ValueError):
            return bool(self.code)
        return True

    def source_of(self, test):
        files = [os.path.join(self.source, test["program"] + end) for end in (".c", ".f90", ".f90.in")]
        return digest([f for f in files if os.path.exists(f)])

    def is_known(self, test):
        return test["name"] in self.tests and self.tests[test["name"]]["source"] == self.source_of(test)

    def spent(self):
        return sum(record["seconds"] for record in self.tests.values())

    def lines(self, folder, names):
        """What gcov says of objects there: {file: {line: whether it ran}}."""
        found = collections.defaultdict(dict)
        for at in range(0, len(names), 200):
            text = subprocess.run(["gcov", "--json-format", "--stdout"] + names[at:at + 200], cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
            for line in text.decode().splitlines():
                for entry in json.loads(line)["files"] if line.startswith("{") else ():
                    path = os.path.relpath(os.path.normpath(os.path.join(self.build, entry["file"])), self.source)
                    if path.startswith(self.parts):
                        for of_line in entry["lines"]:
                            number = of_line["line_number"]
                            found[path][number] = found[path].get(number, False) or of_line["count"] > 0
        return found

    def begin(self, scratch):
        """Notes of the compiler below @p scratch, where tests leave their counts; the lines that are code."""
        shutil.rmtree(scratch, ignore_errors=True)
        notes = []
        for base, _, names in os.walk(self.build):
            for name in names:
                if name.endswith(".gcno"):
                    path = os.path.join(base, name)
                    target = scratch + path
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    os.symlink(path, target)
                    notes.append(os.path.relpath(path, self.build))
        if not self.code:
            found = self.lines(scratch + self.build, sorted(notes))
            self.code = {path: sorted(lines) for path, lines in found.items()}
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(json.dumps({"key": self.key, "lines": self.code}) + "\n")

    def record(self, test, scratch, seconds, complete):
        """Keeps what a test has reached, of which the counts lie below @p scratch; nothing of one that was stopped."""
        counts, folder = [], scratch + self.build
        for base, _, names in os.walk(folder):
            counts += [os.path.relpath(os.path.join(base, n), folder) for n in names if n.endswith(".gcda")]
        found = self.lines(folder, sorted(counts)) if complete else {}
        for name in counts:
            os.remove(os.path.join(folder, name))
        ran = {path: sorted(n for n, reached in lines.items() if reached) for path, lines in found.items()}
        record = {"test": test["name"], "source": self.source_of(test), "seconds": round(seconds, 2),
                  "lines": {path: numbers for path, numbers in ran.items() if numbers}}
        self.tests[test["name"]] = record
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def finish(self):
        users = collections.defaultdict(set)
        for name, record in self.tests.items():
            for path, numbers in record["lines"].items():
                for number in numbers:
                    users[path, number].add(name)
        self.users = users

    def line_of(self, path, first, line):
        """The line under which a place is counted, in a function that begins at line @p first; None: there is none."""
        lines = self.code.get(path, [])
        at = bisect.bisect_right(lines, line) - 1
        return lines[at] if at >= 0 and lines[at] >= first else None

    def has_lines(self, name):
        return name in self.tests and bool(self.tests[name]["lines"])

    def seconds(self, name):
        """How long a test took in the build that records, which is slower; None: it was not recorded whole."""
        return self.tests[name]["seconds"] if self.has_lines(name) else None

    def size(self, name):
        return sum(len(numbers) for numbers in self.tests[name]["lines"].values())
