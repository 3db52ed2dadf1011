# SPDX-License-Identifier: BSD-3-Clause
"""What the plot-* programs and meta-plot-profile have in common: options, messages, colours and units."""
import argparse
import contextlib
import io
import os
import sys

# A palette for colour-blind readers (Okabe and Ito).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]


class Wrong(Exception):
    """An error message for the user, and the exit status."""

    def __init__(self, text, status=2):
        super().__init__(text)
        self.status = status


# ------------------------------------------------------------------ options


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Wrong(f"{message} (--help lists the options)")


def words(text):
    found = [word for word in text.split(",") if word]
    if not found or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of different words with commas between")
    return found


def words_of(known):
    def parse(text):
        for word in words(text):
            if word not in known:
                raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(known)}")
        return words(text)
    return parse


def number(least):
    def parse(text):
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number from {least} on")
        return int(text)
    return parse


def numbers(text):
    return sorted(number(1)(word) for word in words(text))


def print_output(text):
    """Write @text to standard output, or say why that cannot be done."""
    lost = "standard output cannot be written"
    if sys.stdout is None:
        raise Wrong(f"{lost}: it is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Python would write the rest again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Wrong(f"{lost}: {error.strerror}") from error


def run_main(main, arguments):
    """What it prints is written at its end, where an error is not taken for one of a file."""
    status, text = 0, io.StringIO()
    with contextlib.redirect_stdout(text):
        try:
            main(arguments)
        except SystemExit as end:  # of --help
            status = end.code or 0
    print_output(text.getvalue())
    return status


def guarded(name, main, arguments):
    """The exit status of @main; its errors are one line each."""
    try:
        return run_main(main, arguments)
    except Wrong as wrong:
        print(f"{name}: {wrong}", file=sys.stderr)
        return wrong.status
    except OSError as error:
        print(f"{name}: {error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


# ------------------------------------------------------------------ numbers


def unit_for(values):
    """What numbers of seconds are shown in."""
    for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if max(values) * factor >= 1:
            return factor, name
    return 1e9, "ns"
