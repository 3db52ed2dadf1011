#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mutants: what random changes of the code do the tests of library and messages not notice?

usage: tests/mutate.py [--count N] [--seed S] [--files REGEX] [--at FILE:LINE[:NUMBER]] [--limit SECONDS] [--record SECONDS]
                       [--backends NAMES] [--tests REGEX] [--folder DIR] [--survivors] [--list]

Changes one operator, constant or return value at a time in a copy of the sources, builds that, and runs the tests
that run its line, up to the first that fails: those first that are fast and run little else. Which lines a test runs
is recorded once for the code as it is, in a build with gcov (tests/reach.py; DIR/reach.jsonl). Tests that are near a
changed file and too slow to be recorded come last; a change for which there are neither survives at once. Where gcov
sees no lines, as in what is compiled at run time and in constants of files, the tests of the changed file's room come
first, the fastest first, then all others. A test that runs five times as long as without the change, and 15 s, has
noticed it too. One that fails without a change is left out. Changes after which the compiler makes the same code, and
those of which tests/mutants.list says that they change no result, are counted apart, since no test can notice them.
With --files backends/gpu the host code of the CUDA back end is changed, and tests run on the fake CUDA (tests/cuda/). A
run that was stopped goes on where it was: what is known stands in DIR/results.jsonl. At the end the survivors are
printed as diffs, and a line of figures.

The tests are those that .ci/run runs with MPICH, in its environment: a test of its section with META_CHECK=1 is another
one, called NAME.checked, which is not recorded.

  --count N       that many mutants (default: META_TEST_MUTANTS, or 10); more later keep the first N
  --seed S        of the choice (default: 1)
  --files REGEX   only in files whose path it matches from the beginning
  --at FILE:LINE  every change of that line, or the one with that number (from 0)
  --limit SECONDS how long the tests may run for a mutant before it counts as a survivor (default: 240)
  --record S      how long tests may run for the record in all, the fastest first (default: 900; 0: none)
  --backends A,B  only tests on these back ends, and those that choose none (default: openmp,opencl,auto,sims,mixed; of
                  backends/gpu: cuda,auto-cuda,auto-opencl-cuda,mixed-cuda)
  --tests REGEX   only tests whose name it matches
  --folder DIR    where it works (default: build-mutants)
  --survivors     run the survivors again, against the tests as they are now
  --list          only print the changes

Exit status 0: none survives; 1: some do; 2: they could not be made."""
import argparse
import bisect
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the sources stay as they are
import reach

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("core", "comm", "backends/openmp", "kernels")
GPU = "backends/gpu"
# Interfaces, of which programs and plugins have copies; what only compilers of GPUs read, and what only runs with a GPU.
LEFT_OUT = re.compile(r"core/meta\.h|core/library/meta_library\.h|comm/meta_comm\.h|comm/binding\.h|comm/gpu/|kernels/lang_gpu|"
                      r"kernels/exact_threads\.h|backends/gpu/(cells|kernels|passes|stencil|facts|compiler_host|gpurt_hip_cpu)\b")
# What the near tests of a room are called; a test whose name has a word of the file's name is near as well.
NEAR = (
    (GPU + "/co", r"user_(cold|kernels|laden|prepare)\.cuda|gpu_(compilers|user_faults)"),  # compiler.c, code.cpp
    (GPU + "/", r"gpu_|fault|errors|copy|events|pool|reduce|launch|user_"),
    ("core/auto/", r"coherence|choose|policy|loop|plan$|slabs|times|learn|worker|board|auto_|regret|share_devices|deal"),
    ("core/base/", r"version|errors|log|devices|plugins|cache|harness|abi"),
    ("core/cache/", r"cache|user_text|user_prepare"),
    ("core/check/", r"misuse|damage|notes|user_errors|user_reach|user_extremes|\.1$"),
    ("core/device/", r"deal|devices|plugins|abi|large|failing"),
    ("core/kernels/", r"user_|launch|misuse|copy|stencil"),
    ("core/library/", r"library_"),
    ("core/memory/", r"pool|registry|grid|large|boxes|pack|sharing|misuse|failing"),
    ("core/ops/", r"copy|boxes|pack|stencil|reduce|large|misuse|events"),
    ("core/queue/", r"events|launch|threads|bytes_moved|failing|reproducible|user_exact"),
    ("core/record/", r"profile|labels|auto_"),
    ("core/schedule/", r"launch|bytes_moved|choose|copy"),
    ("core/", r"devices|threads|errors|misuse"),
    ("comm/balance/", r"comm_balance|comm_decompose|comm_redistribute|comm_misuse|curve"),
    ("comm/halo/", r"halo_|comm_misuse|comm_node"),
    ("comm/life/", r"comm_life|comm_own_mpi|comm_node|share_devices"),
    ("comm/node/", r"comm_node|halo_"),
    ("comm/p2p/", r"comm_messages|comm_large|comm_misuse|comm_reproducible"),
    ("comm/progress/", r"comm_messages|halo_overlap|comm_faults|comm_life"),
    ("comm/record/", r"comm_profile|comm_trace"),
    ("comm/", r"comm_|halo_"),
    ("", r"same_bits|pack|stencil|reduce|boxes|copy|reproducible|launch|user_|library_"),
)
TESTS = r"core|kernel|comm"  # labels
NO_TESTS = r"build|documents|programs|peers|fuzz|golden|long"
PROGRAM = r"/(tests/(?:misuse/)?test_\w+)"  # those in C, below the build folder
UNKNOWN = 5  # seconds of a test that has not run yet
RECORDED = 30  # seconds that a test may take to be recorded
# A change in the text of a message is not for tests to notice.
WORDS = {"meta_log", "log", "meta_fail", "fail", "fprintf", "printf", "_Static_assert", "__attribute__"}

# ---------------------------------------------------------------- changes

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<directive>^[ \t]*\#[ \t]*define[^\n]*\\$|^[ \t]*\#(?:[^\n\\]|\\.)*$)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||[-+*/%&|^<>=!]=|<<|>>|[^\s\w])""", re.M | re.S | re.X)
FUNCTION = re.compile(r"^(?P<type>[A-Za-z_][\w \t]*?[ *]+)\w+\([^;{}]*?\)\n\{(?P<body>.*?)^\}", re.M | re.S)
TWO_SIDED = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|",
             "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
             "+=": "-=", "-=": "+=", "*=": "+=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<="}


def number_changed(text):
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", text)
    if match:
        value = int(match.group(1), 0) if not re.fullmatch(r"0\d+", match.group(1)) else int(match.group(1), 8)
        return str(value + 1 if value != 1 else 0) + match.group(2)
    return "(%s + 1)" % text if re.fullmatch(r"[\d.]+([eE][-+]?\d+)?[fF]?", text) else None


def returned_changed(kind, expression):
    kind = re.sub(r"\b(static|inline|const|META_API)\b", "", kind).replace(" ", "")
    if kind.endswith("*"):
        return None if expression == "NULL" else "return NULL;"
    if kind == "bool":
        return "return !(%s);" % expression
    if kind == "meta_err":
        return "return META_ERR_ARGUMENT;" if expression == "META_OK" else "return (void)(%s), META_OK;" % expression
    if re.fullmatch(r"(unsigned|u?int(8|16|32|64)?(_t)?|size_t|double|float|long)+", kind):
        return "return (%s) + 1;" % expression
    return None


def sites_in(text):
    """Every change that may be made: (begin, end, replacement)."""
    tokens = [t for t in TOKEN.finditer(text) if t.lastgroup not in ("skip", "directive") and t.group() != "\\"]
    bodies = [(m.start("body"), m.end("body"), m.group("type")) for m in FUNCTION.finditer(text)]
    starts = [b[0] for b in bodies]
    opened = []  # for each parenthesis whether it holds the words of a message
    for k, token in enumerate(tokens):
        kind, what = token.lastgroup, token.group()
        before = tokens[k - 1] if k else None
        after = tokens[k + 1] if k + 1 < len(tokens) else None
        if what == "(":
            opened.append((opened and opened[-1]) or (before is not None and before.group() in WORDS))
        elif what == ")" and opened:
            opened.pop()
        if (opened and opened[-1]) or not before or not after:
            continue
        begin, end = token.span()
        if kind == "sign" and what in TWO_SIDED and text[begin - 1] == " " and text[end] in " \n":
            if before.lastgroup in ("word", "number") or before.group() in ")]":
                if before.group() not in ("return", "case", "const"):
                    yield begin, end, TWO_SIDED[what]
        elif what in ("++", "--"):
            yield begin, end, "--" if what == "++" else "++"
        elif what == "!" and text[end] != "=":
            yield begin, end, ""
        elif what in ("true", "false"):
            yield begin, end, "false" if what == "true" else "true"
        elif kind == "number":
            declared = before.group() == "[" and after.group() == "]" and k > 2 and tokens[k - 2].lastgroup == "word" \
                and tokens[k - 3].lastgroup == "word" and tokens[k - 3].group() not in ("return", "sizeof")
            changed = None if declared else number_changed(what)
            if changed:
                yield begin, end, changed
        elif what == "return" and after.group() != ";":
            at = bisect.bisect(starts, begin) - 1
            stop = k
            while stop < len(tokens) and tokens[stop].group() != ";":
                stop += 1
            if at < 0 or begin >= bodies[at][1] or stop == len(tokens):
                continue
            expression = text[end:tokens[stop].start()].strip()
            changed = None if "{" in expression else returned_changed(bodies[at][2], expression)
            if changed:
                yield begin, tokens[stop].end(), changed


TEXTS = {}  # of the files as they were when this run began: they may be worked on meanwhile


def text_of(path):
    if path not in TEXTS:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            TEXTS[path] = file.read()
    return TEXTS[path]


def all_sites(pattern):
    found = []
    for folder in (GPU,) if pattern.startswith(GPU) else FOLDERS:
        for base, folders, names in os.walk(os.path.join(ROOT, folder)):
            folders.sort()
            for name in sorted(names):
                path = os.path.relpath(os.path.join(base, name), ROOT)
                if name.endswith((".c", ".cpp", ".h")) and not LEFT_OUT.match(path) and re.match(pattern, path):
                    text = text_of(path)
                    for begin, end, replacement in sites_in(text):
                        found.append({"file": path, "line": text.count("\n", 0, begin) + 1, "begin": begin, "end": end,
                                      "was": text[begin:end], "is": replacement})
    return found


def chosen(options):
    sites = all_sites(options.files)
    if options.at:
        path, line, *number = options.at.split(":")
        sites = [s for s in sites if s["file"] == path and s["line"] == int(line)]
        return sites[int(number[0]):int(number[0]) + 1] if number else sites
    # By a number of its own for each, so that a larger count, or a file that changed, keeps the others.
    def drawn(site):
        name = "%d %s %s %s" % (options.seed, site["file"], site["was"], site["is"])
        seen[name] = seen.get(name, 0) + 1
        return hashlib.sha256(("%s %d" % (name, seen[name])).encode()).digest()
    seen = {}
    return sorted(sites, key=drawn)[:options.count]


def first_line_of_function(site):
    """Of the one that a change is in; None: it is in none."""
    text = text_of(site["file"])
    for match in FUNCTION.finditer(text):
        if match.start("body") <= site["begin"] < match.end("body"):
            return text.count("\n", 0, match.start()) + 1
    return None


def diff_of(site):
    text = text_of(site["file"])
    first = text.rfind("\n", 0, site["begin"]) + 1
    last = text.find("\n", site["end"])
    old = text[first:last]
    new = text[first:site["begin"]] + site["is"] + text[site["end"]:last]
    return "--- %s\n+++ %s\n@@ -%d +%d @@\n%s\n%s" % (
        site["file"], site["file"], site["line"], site["line"], "\n".join("-" + l for l in old.split("\n")),
        "\n".join("+" + l for l in new.split("\n")))


class Failure(Exception):
    pass


# ---------------------------------------------------------------- what CI runs

def sections():
    """Of each section of .ci/run that runs tests with MPICH and without sanitizers: what is added to the tests' names,
    its variables, and its arguments of ctest. Releases are without that file; there it is ./check alone."""
    try:
        with open(os.path.join(ROOT, ".ci", "run"), encoding="utf-8") as file:
            lines = file.read().replace("\\\n", " ").splitlines()
    except OSError:
        lines = ["section 'tests' ./check"]
    for line in lines:
        if not line.startswith("section "):
            continue
        words, environment = shlex.split(line)[2:], {}
        if words[0] == "env":
            words = words[1:]
            while "=" in words[0]:
                environment.update([words.pop(0).split("=", 1)])
        end = words.index("--") if "--" in words else len(words)
        if words[0] != "./check" or set(words[1:end]) - {"--checked"}:
            continue
        if "--checked" in words[1:end]:
            environment["META_CHECK"] = "1"
        yield ".checked" if "META_CHECK" in environment else "", environment, words[end + 1:]


# ---------------------------------------------------------------- building

class Builder:
    """A copy of the sources in @p folder/source, built in its folder @p name as ./check builds."""

    def __init__(self, folder, name="build", gpu=False):
        self.gpu = gpu
        self.source = os.path.join(folder, "source")
        self.build = os.path.join(self.source, name)
        self.log = os.path.join(folder, "build.log")
        self.programs = []
        self.users = {}  # file: the objects of test programs that include it
        self.stale = set()
        self.environment = dict(os.environ)
        if shutil.which("ccache"):
            self.environment.setdefault("CC", "ccache gcc")
            self.environment.setdefault("CCACHE_NOHASHDIR", "1")
            self.environment.setdefault("NVCC", "ccache " + (shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"))
        self.environment["META_TEST_REQUIRE_TOOLS"] = "1"
        self.environment.setdefault("META_TEST_POCL_CACHE", os.path.join(self.source, "build", "tests", "cache", "pocl"))

    def run(self, *command, folder=None):
        with open(self.log, "a", encoding="utf-8") as log:
            return subprocess.run(command, cwd=folder or self.build, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  env=self.environment, check=False).returncode == 0

    def originals(self):
        """The files of the sources, without what is made from them."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        if listed.returncode == 0:
            yield from (name for name in listed.stdout.decode().split("\0") if name)
            return
        for base, folders, names in os.walk(ROOT):  # a release
            if base == ROOT:
                folders[:] = [f for f in folders if not f.startswith(".") and not re.match(r"build($|-(?!aux))", f)]
            yield from (os.path.relpath(os.path.join(base, name), ROOT) for name in names)

    def copy(self):
        for name in self.originals():
            old, new = os.path.join(ROOT, name), os.path.join(self.source, name)
            if not os.path.isfile(old):
                continue
            with open(old, "rb") as file:
                text = file.read()
            same = os.path.isfile(new)
            if same:
                with open(new, "rb") as file:
                    same = file.read() == text
            if not same:
                os.makedirs(os.path.dirname(new), exist_ok=True)
                shutil.copy(old, new)

    def configure(self, *arguments):
        if not os.path.exists(os.path.join(self.build, "Makefile")):
            words = ["--with-mpi=mpich", "--with-openmp=yes", "--with-opencl=yes", "--with-jansson=yes", "--with-fortran=yes",
                     "--enable-werror"] + (["--with-cuda=yes", "--with-cuda-arch=90"] if self.gpu else [])
            if not self.run("bash", "-c", '. tools/bootstrap.sh; mkdir -p "$0"; configure_in "$0" "$@"',
                            os.path.basename(self.build), *words, *arguments, folder=self.source):
                raise Failure("configure failed; see " + self.log)
        if not self.make("CTestTestfile.cmake"):
            raise Failure("make failed; see " + self.log)

    def make_all(self):
        if not self.make_libraries("test-helpers", *self.needed_programs()):
            raise Failure("the sources do not build; see " + self.log)

    def make(self, *targets):
        gpu = ["backends/gpu/cuda.la"] if self.gpu else []
        return self.run("make", "-s", "-j%d" % (os.cpu_count() or 1), "peers_LTLIBRARIES=",
                        "pkglib_LTLIBRARIES=" + " ".join(["backends/openmp/openmp.la", "backends/opencl/opencl.la"] + gpu), *targets)

    def make_libraries(self, *more):
        fake = ["tests/cuda/lib/libnvrtc.la", "tests/cuda/cuda.la"] if self.gpu else []
        return self.make("libmeta.la", "libmeta_comm.la", "meta-info", "meta-mpi-probe", ".libs/libmeta/modules.stamp", *fake, *more)

    def needed_programs(self):
        """Those of the tests that will be run, which ctest only describes where they are there."""
        with open(os.path.join(self.build, "CTestTestfile.cmake"), encoding="utf-8") as file:
            entries = file.read().split("add_test(")[1:]
        found = set()
        for entry in entries:
            program = re.search(re.escape(self.build) + PROGRAM + r"\]", entry)
            labels = re.search(r"LABELS \[==\[(.*?)\]", entry)
            words = labels.group(1).split(";") if labels else []
            if program and set(words) & set(TESTS.split("|")) and not set(words) & set(NO_TESTS.split("|")):
                found.add(program.group(1))
        return sorted(found)

    def find_users(self):
        """The test programs that each file is compiled into, by what the compiler noted."""
        for base, _, names in os.walk(self.build):
            if os.path.basename(base) != ".deps":
                continue
            for name in names:
                own = re.match(r"(tests_(?:misuse_)?test_\w+?)-", name)
                plain = re.match(r"(test_\w+)\.Po", name)
                if own:
                    program = own.group(1).replace("tests_misuse_", "tests/misuse/").replace("tests_", "tests/", 1)
                elif plain:
                    program = os.path.relpath(os.path.join(base, "..", plain.group(1)), self.build)
                if (own or plain) and program in self.programs:
                    with open(os.path.join(base, name), encoding="utf-8", errors="replace") as file:
                        for path in re.findall(r"/((?:%s)/[^\s:]+)" % "|".join(FOLDERS + (GPU,)), file.read()):
                            self.users.setdefault(path, set()).add(program)

    def code(self):
        """What the libraries would run, without what tells where it comes from."""
        total = hashlib.sha256()
        names = [".libs/libmeta.so", ".libs/libmeta_comm.so", ".libs/libmeta/openmp.so", ".libs/libmeta/opencl.so"]
        for name in names + (["tests/cuda/.libs/cuda.so"] if self.gpu else []):
            out = os.path.join(self.build, "mutant.code")
            subprocess.run(["objcopy", "-g", "-R", ".note.gnu.build-id",
                            os.path.realpath(os.path.join(self.build, name)), out], check=True)
            with open(out, "rb") as file:
                total.update(file.read())
            os.remove(out)
        return total.hexdigest()

    def put(self, site, changed):
        text = text_of(site["file"])
        if changed:
            text = text[:site["begin"]] + site["is"] + text[site["end"]:]
        with open(os.path.join(self.source, site["file"]), "w", encoding="utf-8") as file:
            file.write(text)

    def build_mutant(self, site):
        mine = self.users.get(site["file"], set())
        self.put(site, True)
        built = self.make_libraries("META_WARNINGS=-w", *sorted(mine | self.stale))
        self.stale = mine
        return built

    def build_again(self):
        built = self.make_libraries("META_WARNINGS=-w", *sorted(self.stale))
        self.stale = set()
        return built

    def restore(self, site):
        self.put(site, False)


# ---------------------------------------------------------------- running

class Tests:
    def __init__(self, builder, folder, options):
        self.builder = builder
        self.times_file = os.path.join(folder, "times.json")
        self.scratch = os.path.join(folder, "scratch")
        # Processes of its own numbers: nothing that a mutant signals is outside, and all end with the test.
        self.apart = []
        for words in (["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"],
                      ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]):
            if shutil.which("unshare") and subprocess.run(words + ["true"], check=False, stderr=subprocess.DEVNULL).returncode == 0:
                self.apart = words
                break
        builder.make_all()
        self.options = options
        self.tests = self.listed(builder)
        builder.programs = {t["program"] for t in self.tests}
        builder.find_users()
        self.times = {}
        self.load()
        self.reach = reach.Reach(os.path.join(folder, "reach.jsonl"), builder.source, builder.build + "-lines", FOLDERS)
        if not builder.gpu:
            self.record(Builder(folder, "build-lines"))

    def listed(self, builder):
        return [test for section in sections() for test in self.listed_of(builder, *section)]

    def listed_of(self, builder, suffix, variables, arguments):
        wanted = set(self.options.backends.split(","))
        listed = subprocess.run(["ctest", "--show-only=json-v1", "-LE", "^(%s)$" % NO_TESTS, "-L", "^(%s)$" % TESTS] +
                                arguments, cwd=builder.build, stdout=subprocess.PIPE, check=True,
                                env=dict(builder.environment, **variables)).stdout
        found = []
        for test in json.loads(listed)["tests"]:
            if "command" not in test:
                raise Failure("the program of %s is not built; see %s" % (test["name"], builder.log))
            values = {p["name"]: p["value"] for p in test["properties"]}
            backend = [part for part in test["name"].split(".")[1:] if not re.fullmatch(r"np\d+|\d", part)]
            program = [w for w in test["command"] if re.fullmatch(re.escape(builder.build) + PROGRAM, w)]
            if program and (not backend or backend[0] in wanted) and \
                    re.search(self.options.tests, test["name"]):
                environment = dict(e.split("=", 1) for e in values.get("ENVIRONMENT", []))
                found.append({"name": test["name"] + suffix, "command": test["command"],
                              "timeout": values.get("TIMEOUT", 120), "environment": dict(variables, **environment),
                              "program": os.path.relpath(program[0], builder.build)})
        return found

    def record(self, lines):
        """Which lines each test runs, as far as that is not known of the code as it is."""
        known = self.reach.load()
        # With OpenCL the same lines run for minutes, and what it compiles is not seen. What is run once more comes last.
        left = [t["name"] for t in self.tests if not re.search(r"\.opencl|\.checked$", t["name"]) and not (known and self.reach.is_known(t))]
        scratch = self.scratch + "-lines"
        spent = self.reach.spent()
        if left and spent < self.options.record:
            lines.configure(*reach.FLAGS)
            lines.make_all()
            self.reach.begin(scratch)
            began, before = time.monotonic(), len(left)
            for test in self.programs_apart(self.listed(lines), lambda t: self.times.get(t["name"], UNKNOWN)):
                if test["name"] in left and spent < self.options.record:
                    verdict, seconds = self.run(dict(test, environment=dict(test["environment"], GCOV_PREFIX=scratch)),
                                                RECORDED, builder=lines)
                    self.reach.record(test, scratch, seconds, verdict != "late")
                    left.remove(test["name"])
                    spent += seconds
            shutil.rmtree(scratch, ignore_errors=True)
            print("recorded %d tests in %.0f s" % (before - len(left), time.monotonic() - began), flush=True)
        if left:
            print("not recorded: " + " ".join(left), flush=True)
        self.reach.finish()

    def limits(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # A test may have a limit of its own, for which the hard one stays.
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    def run(self, test, limit, cold=False, builder=None):
        """'passed', 'failed' or 'late', and the seconds it took."""
        builder = builder or self.builder
        environment = dict(builder.environment, **test["environment"])
        if cold:  # a mutant must not leave anything in the cache of the others
            environment.update(META_CACHE_DIR=self.scratch + "/libmeta", XDG_CACHE_HOME=self.scratch)
        began = time.monotonic()
        child = subprocess.Popen(self.apart + test["command"], cwd=builder.build, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True, preexec_fn=self.limits)
        try:
            status = child.wait(limit)
            verdict = "passed" if status in (0, 77) else "failed"
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            verdict = "late"
        return verdict, time.monotonic() - began

    def load(self):
        try:
            with open(self.times_file, encoding="utf-8") as file:
                self.times = json.load(file)
        except (OSError, ValueError):
            self.times = {}

    def keep(self, test, seconds):
        """How long it takes on the code as it is; -1: it fails there, and tells nothing."""
        self.times[test["name"]] = seconds
        with open(self.times_file, "w", encoding="utf-8") as file:
            json.dump(self.times, file)
        if seconds < 0:
            print("left out, as it fails without a change: " + test["name"], flush=True)

    def programs_apart(self, tests, cost):
        """The cheapest first, but each further one of the same program as if it cost four times the one before."""
        ordered, turns = [], {}
        for test in sorted(tests, key=cost):
            turn = turns[test["program"]] = turns.get(test["program"], 0) + 1
            ordered.append((cost(test) * 4 ** (turn - 1), len(ordered), test))
        return [test for _, _, test in sorted(ordered, key=lambda entry: entry[:2])]

    def words_of(self, path):
        return [w for w in re.split(r"[_./]", os.path.basename(path)[:-2]) if len(w) > 3]

    def by_room(self, path, tests):
        """The tests near a file, the fastest first, and then the others. Text for OpenCL runs there alone."""
        pattern = next(p for folder, p in NEAR if path.startswith(folder))
        words = self.words_of(path)

        def rank(test):
            own = any(word in test["name"] for word in words)
            elsewhere = path.startswith("kernels/") and path not in self.reach.code and ".opencl" not in test["name"]
            return not own, not re.search(pattern, test["name"]), elsewhere, self.times.get(test["name"], UNKNOWN)
        ordered = sorted(tests, key=rank)
        return [t for t in ordered if not rank(t)[0] or not rank(t)[1]], [t for t in ordered if rank(t)[0] and rank(t)[1]]

    def by_line(self, path, names):
        """The tests that run a line: the fast ones that run little else first."""
        words = self.words_of(path)

        def cost(test):
            own = any(word in test["name"] for word in words)
            return self.times.get(test["name"], self.reach.tests[test["name"]]["seconds"]) * self.reach.size(test["name"]) \
                * (0.1 if own else 1)
        return self.programs_apart([t for t in self.tests if t["name"] in names], cost)

    def order_for(self, site):
        """The tests for a change, and why these: those that run its line, and near ones of which that is not known."""
        first = first_line_of_function(site)
        line = self.reach.line_of(site["file"], first, site["line"]) if first else None
        by = "room"
        if line:
            names = self.reach.users.get((site["file"], line), set())
            by = "line" if names else "no test"
            tests = self.by_line(site["file"], names)
            tests += self.by_room(site["file"], [t for t in self.tests if not self.reach.has_lines(t["name"])])[0]
        else:
            near, far = self.by_room(site["file"], self.tests)
            tests = near + far
        return [t for t in tests if self.times.get(t["name"], 0) >= 0], by

    def fails_anyway(self, test, site):
        """Whether a test that has never passed fails on the code as it is, for which that is built."""
        self.builder.restore(site)
        if not self.builder.build_again():
            raise Failure("the sources do not build; see " + self.builder.log)
        verdict, seconds = self.run(test, test["timeout"])
        self.keep(test, seconds if verdict == "passed" else -1)
        if verdict != "passed" and not self.builder.build_mutant(site):
            raise Failure("a mutant builds once and not twice; see " + self.builder.log)
        return verdict != "passed"

    def judge(self, site):
        """What is known of a change after its tests ran."""
        tests, by = self.order_for(site)
        result = {"verdict": "survived", "test": "", "ran": 0, "tests": len(tests), "by": by}
        cold = site["file"].startswith(("core/cache/", "core/kernels/", "core/auto/learn"))
        spent = 0.0
        for test in tests:
            if spent > self.options.limit:
                break
            known = self.times.get(test["name"])
            usual = self.reach.seconds(test["name"]) if known is None else known
            verdict, seconds = self.run(test, test["timeout"] if usual is None else 15 + 5 * usual, cold)
            spent += seconds
            result["ran"] += 1
            if verdict == "passed" and known is None:
                self.keep(test, seconds)
            if verdict != "passed" and not (known is None and self.fails_anyway(test, site)):
                result.update(verdict="late" if verdict == "late" else "killed", test=test["name"])
                break
        return result


# ---------------------------------------------------------------- the whole

def changed_line(site):
    return tuple(" ".join(l[1:].split()) for l in diff_of(site).split("\n")[3:])


def listed_as_equivalent():
    """The changes of tests/mutants.list: file, and the lines before and after."""
    found, path, lines = set(), None, []
    with open(os.path.join(ROOT, "tests", "mutants.list"), encoding="utf-8") as file:
        for line in list(file) + [""]:
            if line[:1] in "-+" and line.strip():
                lines.append(" ".join(line[1:].split()))
                continue
            if lines:
                found.add((path,) + tuple(lines))
                lines = []
            match = re.match(r"([\w./]+): .", line)
            path = match.group(1) if match else path
    return found


def key_of(site):
    return "%s:%d:%d %s -> %s" % (site["file"], site["line"], site["begin"], site["was"], site["is"])


def known_in(path):
    known = {}
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                known[record["mutant"]] = record
    except OSError:
        pass
    return known


EQUIVALENT = set()


def is_equivalent(site):
    return (site["file"],) + changed_line(site) in EQUIVALENT


def report(sites, known, options):
    counts = {"killed": 0, "late": 0, "same": 0, "equivalent": 0, "invalid": 0, "survived": 0}
    unreached = 0
    for site in sites:
        record = known.get(key_of(site))
        if is_equivalent(site):
            counts["equivalent"] += 1
            continue
        if not record:
            continue
        counts[record["verdict"]] += 1
        if record["verdict"] == "survived":
            unreached += record.get("by") == "no test"
            print("\nsurvives %d of %d tests%s:\n%s" % (record["ran"], record["tests"], ", none known to run the line"
                                                      if record.get("by") == "no test" else "", diff_of(site)))
    told = counts["killed"] + counts["late"] + counts["survived"]
    print("\nmutants: seed %d, %d tried: %d killed (%d of them by the time limit), %d survive, %d of "
          "them where no test runs the line: %.1f %% die; "
          "%d made the same code, %d are known to change no result, %d do not compile" %
          (options.seed, sum(counts.values()), counts["killed"] + counts["late"], counts["late"], counts["survived"],
           unreached, 100.0 * (told - counts["survived"]) / told if told else 0.0, counts["same"],
           counts["equivalent"], counts["invalid"]))
    return 1 if counts["survived"] else 0


def run(options):
    folder = os.path.abspath(options.folder)
    os.makedirs(folder, exist_ok=True)
    sites = chosen(options)
    if options.list:
        print("\n".join(diff_of(site) for site in sites))
        return 0
    EQUIVALENT.update(listed_as_equivalent())
    results = os.path.join(folder, "results.jsonl")
    known = known_in(results)
    todo = [s for s in sites if not is_equivalent(s) and (key_of(s) not in known or (
        options.survivors and known[key_of(s)]["verdict"] == "survived"))]
    builder = Builder(folder, gpu=options.files.startswith(GPU))
    builder.copy()
    builder.configure()
    if todo:
        tests = Tests(builder, folder, options)
        whole = builder.code()
    for site in todo:
        began = time.monotonic()
        # A signal to everybody would reach everybody.
        record = {"mutant": key_of(site), "test": "", "ran": 0, "tests": 0}
        if not tests.apart and re.search(r"\bkill(pg)?\(", text_of(site["file"])):
            print("left out without process namespaces, as its file sends signals: " + record["mutant"], flush=True)
            continue
        try:
            if not builder.build_mutant(site):
                record["verdict"] = "invalid"
            elif not builder.stale and builder.code() == whole:
                record["verdict"] = "same"
            else:
                record.update(tests.judge(site))
        finally:
            builder.restore(site)
            shutil.rmtree(tests.scratch, ignore_errors=True)
        record["seconds"] = round(time.monotonic() - began, 1)
        with open(results, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        known[record["mutant"]] = record
        print("%s: %s %s, %.0f s" % (record["mutant"].replace("\n", " "), record["verdict"], record["test"], record["seconds"]),
              flush=True)
    return report(sites, known, options)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", 1)[1], add_help=True)
    parser.add_argument("--count", type=int, default=int(os.environ.get("META_TEST_MUTANTS", "10")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", default="")
    parser.add_argument("--at")
    parser.add_argument("--limit", type=float, default=240)
    parser.add_argument("--record", type=float, default=900)
    parser.add_argument("--backends")
    parser.add_argument("--tests", default="")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build-mutants"))
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.backends = options.backends or ("cuda,auto-cuda,auto-opencl-cuda,mixed-cuda" if options.files.startswith(GPU)
                                            else "openmp,opencl,auto,sims,mixed")
    try:
        return run(options)
    except Failure as failure:
        print("tests/mutate.py: %s" % failure, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
