#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds what a Dockerfile says without Docker, for tests: each stage in a clean root made by mmdebstrap.

    build_image.py DOCKERFILE CONTEXT FOLDER [NAME=VALUE]...
    build_image.py --in ROOT USER COMMAND

Leaves the root of stage K, from 0, in FOLDER/K; --in runs a command there, as a user in the home folder. Knows FROM
debian:12 and debian:13, ARG, ENV, COPY, WORKDIR, USER, RUN and CMD, as far as packaging/Dockerfile uses them. Needs root, mmdebstrap, chroot and unshare, and Debian's mirrors.
"""
import glob
import os
import re
import shutil
import subprocess
import sys


RELEASES = {"debian:12": "bookworm", "debian:13": "trixie"}


def fail(text):
    sys.exit("build_image: " + text)


def instructions(path):
    """Pairs of a number of a line and its text, with continued lines joined."""
    joined, begun = "", 0
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not joined and (not line.strip() or line.startswith("#")):
                continue
            begun = begun if joined else number
            joined += line.rstrip("\n")
            if joined.endswith("\\"):
                joined = joined[:-1] + " "
                continue
            yield begun, joined
            joined = ""


def expanded(text, variables):
    return re.sub(r"\$\{(\w+)\}|\$(\w+)", lambda m: variables.get(m[1] or m[2], ""), text)


class Stage:
    def __init__(self, root, release):
        self.root, self.variables, self.folder, self.user = root, {}, "/", "root"
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", release, root], check=True)
        # Docker's images find names as their host does, and their packages start no service.
        shutil.copy("/etc/resolv.conf", root + "/etc/resolv.conf")
        with open(root + "/usr/sbin/policy-rc.d", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 101\n")
        os.chmod(root + "/usr/sbin/policy-rc.d", 0o755)

    def expand(self, text):
        return expanded(text, self.variables)

    def run(self, command):
        return run_in(self.root, command, self.folder, self.user, self.variables)

    def copy(self, source, target):
        into = self.root + target
        if target.endswith("/"):
            os.makedirs(into, exist_ok=True)
        found = glob.glob(source)
        for name in found:
            shutil.copy(name, into)
        return found


def run_in(root, command, folder="/", user="root", variables=()):
    """Runs a command of a shell in a root, in namespaces of its own; returns its exit status."""
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
    environment.update(variables)
    environment["HOME"] = "/root" if user == "root" else "/home/" + user
    inner = 'mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mkdir -p "$0/dev/shm" && ' \
            'mount -t tmpfs shm "$0/dev/shm" && exec chroot --userspec="$1" "$0" /bin/sh -c "$3" sh "$2" "$4"'
    steps = 'cd "$1" && exec /bin/sh -c "$2"'
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "/bin/sh", "-c", inner, root, user, folder, steps,
                           command], env=environment, stdin=subprocess.DEVNULL).returncode


def build(path, context, target, given):
    stages, names, ahead = [], {}, {}
    os.makedirs(target, exist_ok=True)
    for number, line in instructions(path):
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        stage = stages[-1] if stages else None
        print("== %s:%d: %s %s" % (path, number, word, rest), flush=True)
        if word == "FROM":
            image, _, name = expanded(rest, ahead).partition(" AS ")
            if image not in RELEASES:
                fail("line %d: the image is %s, and only %s are known" % (number, image, " and ".join(RELEASES)))
            stages.append(Stage(os.path.join(target, str(len(stages))), RELEASES[image]))
            names[name] = stages[-1]
        elif word in ("ARG", "ENV"):
            key, _, value = rest.partition("=")
            variables = stage.variables if stage else ahead
            variables[key] = given.get(key, value) if word == "ARG" else value
        elif word == "COPY":
            option, source = re.match(r"(?:--from=(\w+) )?(\S+) ", rest).groups()
            base = names[option].root if option else context + "/"
            if not stage.copy(base + stage.expand(source), stage.expand(rest.split()[-1])):
                fail("line %d: there is no file %s" % (number, stage.expand(source)))
        elif word == "WORKDIR":
            stage.folder = stage.expand(rest)
            os.makedirs(stage.root + stage.folder, exist_ok=True)
        elif word == "USER":
            stage.user = rest
        elif word == "RUN":
            status = stage.run(rest)
            if status != 0:
                fail("line %d: the command ended with status %d" % (number, status))
        elif word != "CMD":
            fail("line %d: %s is not known here" % (number, word))


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "--in":
        sys.exit(run_in(sys.argv[2], sys.argv[4], "/home/" + sys.argv[3], sys.argv[3]))
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    build(sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3]), dict(word.split("=", 1) for word in sys.argv[4:]))
