# SPDX-License-Identifier: BSD-3-Clause
"""Finding and loading the C library, its functions and errors, its start and end."""

import atexit
import ctypes
import ctypes.util
import os
import subprocess
import sys
import weakref

VERSION = (0, 2)  # the libraries that this package can call
MAX_DIM = 10
ASYNC = ctypes.c_void_p(-1)


class Error(RuntimeError):
    """A function of libmeta failed. `name` is the error's name, such as "META_ERR_BOUNDS", `code` its number."""

    def __init__(self, text, code=0, name=""):
        super().__init__(text)
        self.code = code
        self.name = name


class Box(ctypes.Structure):
    """meta_box"""
    _fields_ = [("ndim", ctypes.c_int), ("size", ctypes.c_int64 * MAX_DIM), ("start", ctypes.c_int64 * MAX_DIM),
                ("end", ctypes.c_int64 * MAX_DIM)]


# ------------------------------------------------------------------ finding it

def _pkg_config():
    """The folder of the installed library, by pkg-config."""
    try:
        found = subprocess.run(["pkg-config", "--variable=libdir", "libmeta"], capture_output=True, text=True,
                               check=False)
    except OSError:
        return None
    return found.stdout.strip() if found.returncode == 0 else None


def _candidates():
    """Where libmeta.so may be, as (why, path), in the order of preference."""
    wanted = os.environ.get("LIBMETA")
    if wanted:
        # A file, or the folder or the prefix that has it.
        if not os.path.isdir(wanted):
            return [("LIBMETA", wanted)]
        for folder in (wanted, os.path.join(wanted, "lib")):
            path = os.path.join(folder, "libmeta.so")
            if os.path.exists(path):
                return [("LIBMETA", path)]
        return [("LIBMETA", os.path.join(wanted, "libmeta.so"))]
    places = []
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libmeta.so.0")
    if os.path.exists(path):  # of a wheel that has it
        return [("this package", path)]
    folder = _pkg_config()
    if folder:
        places.append(("pkg-config", os.path.join(folder, "libmeta.so")))
    # In the prefix of this package: PREFIX/lib/python3.11/site-packages/libmeta, PREFIX/share/libmeta/python/libmeta.
    prefix = os.path.abspath(__file__)
    for _ in range(5):
        prefix = os.path.dirname(prefix)
    path = os.path.join(prefix, "lib", "libmeta.so")
    if os.path.exists(path):
        places.append(("this package's prefix", path))
    places.append(("the system's folders", ctypes.util.find_library("meta") or "libmeta.so.0"))
    return places


def _load():
    tried = []
    for why, path in _candidates():
        try:
            return ctypes.CDLL(path), path
        except OSError as failure:
            tried.append(f"{path} ({why}): {failure}")
    raise ImportError("libmeta.so was not found. Set LIBMETA to the file, or to the folder or prefix where it is, or "
                      "add its lib/pkgconfig to PKG_CONFIG_PATH. Tried:\n  " + "\n  ".join(tried))


_lib, _path = _load()
_lib.meta_last_error.restype = ctypes.c_char_p
_lib.meta_strerror.restype = ctypes.c_char_p
_comm = None  # libmeta_comm, once it is needed


def version():
    """The loaded library's version, (major, minor, patch)."""
    numbers = [ctypes.c_int() for _ in range(3)]
    check(_lib.meta_version(*map(ctypes.byref, numbers)))
    return tuple(n.value for n in numbers)


def check(err):
    """Raise what a function of the library has returned."""
    if err:
        text = _lib.meta_last_error().decode("utf-8", "replace")
        name = _lib.meta_strerror(err).decode().split(":")[0]
        raise Error(text or name, err, name)


if version()[:2] != VERSION:
    raise ImportError(f"{_path} is libmeta {'.'.join(map(str, version()))}, and this package calls libmeta "
                      f"{VERSION[0]}.{VERSION[1]}: install the one that belongs to it")


def library():
    """The C library, started."""
    if not _state.started:
        if _state.life > 0:
            raise Error("libmeta was finalized: call init() to start it again", name="META_ERR_INIT")
        init()
    return _lib


def pointer(value):
    """An address, for an argument of the library."""
    return ctypes.c_void_p(value)


# ------------------------------------------------------------------ life

class _State:
    started = False
    attached = False  # by meta_comm_attach()
    life = 0          # counts starts: what is of an earlier one is gone
    process = 0       # that has started it


_state = _State()
alive = weakref.WeakSet()  # buffers that are to be freed before the library ends
plans = []                 # of exchanges, as well


def life():
    """The number of the library's present life; None where it is not started."""
    return _state.life if _state.started else None


def _mpi_kind(mpi):
    """Whose handles a module of mpi4py has, as configure's --with-mpi names it."""
    if mpi._handleof(mpi.COMM_WORLD) == 0x101:  # this address in MPI 5's standard ABI alone
        return "abi"
    return "openmpi" if mpi.get_vendor()[0] == "Open MPI" else "mpich"


def _has_standard_abi(library):
    """Whether the MPI that a library is linked with is one of the standard ABI."""
    try:
        ask = library.MPI_Abi_get_version
    except AttributeError:
        return False
    major, minor = ctypes.c_int(-1), ctypes.c_int(-1)
    return ask(ctypes.byref(major), ctypes.byref(minor)) == 0 and major.value > 0


def _load_comm(mpi):
    # Where libraries of several MPIs are installed beside each other, their names say which.
    folder = os.path.dirname(_path)
    failures = []
    for name in (f"libmeta_comm-{mpi}.so.0", "libmeta_comm.so" if folder else "libmeta_comm.so.0"):
        try:
            return ctypes.CDLL(os.path.join(folder, name))
        except OSError as failure:
            failures.append(str(failure))
    raise Error(f"libmeta_comm was not found beside {_path}: build libmeta with --with-mpi, or install its package for "
                f"mpi4py's MPI, {mpi} ({'; '.join(failures)})")


def comm_library(comm):
    """libmeta_comm, for communicators of mpi4py, whose MPI it must have been built with."""
    global _comm
    from mpi4py import MPI
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"a communicator of mpi4py is needed, not {type(comm).__name__}")
    if _comm is None:
        kind = _mpi_kind(MPI)
        found = _load_comm(kind)
        text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
        # Of the MPI that libmeta_comm is linked with, whose handles may be of another size.
        found.MPI_Get_library_version(text, ctypes.byref(length))
        theirs, ours = text.value.decode("utf-8", "replace"), MPI.Get_library_version()
        # An MPI has its own ABI and the standard one in two libraries of the same version.
        abi = " by the standard ABI"
        theirs_abi, ours_abi = abi if _has_standard_abi(found) else "", abi if kind == "abi" else ""
        if theirs.rstrip("\0\n ") != ours.rstrip("\0\n ") or theirs_abi != ours_abi:
            raise Error(f"libmeta_comm was built with another MPI than mpi4py: {theirs.splitlines()[0]}{theirs_abi} "
                        f"there, {ours.splitlines()[0]}{ours_abi} here. Build libmeta --with-mpi for mpi4py's, or mpi4py "
                        "for libmeta's")
        _comm = found
    return _comm


def comm_type():
    """The C type of a communicator's handle: an int or an address."""
    from mpi4py import MPI
    return ctypes.c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p


def comm_handle(comm):
    """The C handle of a communicator of mpi4py."""
    from mpi4py import MPI
    return comm_type()(MPI._handleof(comm))


def init(comm=None):
    """Start the library; the first use of it does so, too. With a communicator of mpi4py the process is a rank of a
    job: META_RANK_MAP counts its ranks, the ranks of a node share its devices, and halos can be exchanged. Collective
    then, and before anything else is called."""
    if _state.started:
        raise Error("init: libmeta is started: call init(comm) before anything else, or finalize() first")
    if comm is None:
        check(_lib.meta_init())
    else:
        check(comm_library(comm).meta_comm_attach(comm_handle(comm)))
    _state.started, _state.attached = True, comm is not None
    _state.life += 1
    _state.process = os.getpid()


def attached_library(function):
    """libmeta_comm, for a function that needs init(comm)."""
    if not _state.attached:
        raise Error(f"{function}: call libmeta.init(comm) before anything else, so that this process is a rank of a "
                    "job", name="META_ERR_STATE")
    return _comm


def flush():
    """Wait for all queued work and messages."""
    check(library().meta_flush())


def finalize():
    """Free all grids and end the library; collective after init(comm). Called at the program's end, unless an
    exception ends it: other ranks would not come."""
    if not _state.started:
        return
    try:
        check(_lib.meta_flush())
        for plan in plans:  # in the order in which all ranks have made them
            _comm.meta_halo_free(ctypes.byref(plan))
        for buffer in list(alive):
            buffer.free()
    finally:
        plans.clear()
        end = _comm.meta_comm_finalize if _state.attached else _lib.meta_finalize
        _state.started = _state.attached = False
        check(end())


def _at_exit():
    # A child by fork() has neither started the library nor its devices and ranks.
    if os.getpid() == _state.process and not (_state.attached and getattr(sys, "last_type", None)):
        finalize()


atexit.register(_at_exit)
