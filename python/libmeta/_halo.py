# SPDX-License-Identifier: BSD-3-Clause
"""Exchange of ghost cells between ranks, with mpi4py, and numbers of all ranks."""

import ctypes
import numbers

from ._library import ASYNC, MAX_DIM, Box, Error, check, comm_handle, comm_library, comm_type, attached_library, plans
from ._types import NAMES, element

_FACES, _ALL = 0, 1
_COPY, _ADD = 0, 1
_OPERATIONS = ("sum", "min", "max")  # in the order of meta_op


class _Plan(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_uint32), ("generation", ctypes.c_uint32)]


class _Field(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("box", Box)]


def desc_type(comm):
    """meta_halo_desc, with communicators of this C type."""
    return type("HaloDesc", (ctypes.Structure,), {"_fields_": [
        ("size", ctypes.c_size_t), ("cart", comm), ("box", Box), ("low", ctypes.c_int * MAX_DIM),
        ("high", ctypes.c_int * MAX_DIM), ("kind", ctypes.c_int), ("fields", ctypes.c_int), ("type", ctypes.c_int),
        ("op", ctypes.c_int), ("field", ctypes.POINTER(_Field)), ("batch", ctypes.c_uint32)]})


class Halo:
    """A plan for exchanging the ghost cells of some grids, and of any others of the same types and layouts, with the
    neighbours in a Cartesian communicator, whose dimension 0 is x. The grids' types may differ, not their ghost widths.
    Collective, as is free().

    `corners` exchanges with neighbours at edges and corners too; `add` adds ghosts to the neighbours' own cells. Both
    ends may be on devices of any kind.
    """

    def __init__(self, cart, grids, corners=False, add=False):
        self._plan = _Plan()
        comm_library(cart)
        self._lib = attached_library("Halo")
        grids = list(grids) if isinstance(grids, (list, tuple)) else [grids]
        if not grids:
            raise ValueError("Halo: no grid is given")
        if any((g.low, g.high) != (grids[0].low, grids[0].high) for g in grids):
            raise ValueError(f"Halo: the grids of a plan have the same ghost widths: make a plan for each of {grids}")
        self._layouts = [(g.type, bytes(g.own)) for g in grids]
        fields = (_Field * len(grids))(*[_Field(g.type, g.own) for g in grids])
        made = desc_type(comm_type())
        desc = made(size=ctypes.sizeof(made), cart=comm_handle(cart), box=grids[0].own,
                    kind=_ALL if corners else _FACES, fields=len(grids), type=grids[0].type,
                    op=_ADD if add else _COPY, field=fields)
        for d in range(grids[0].ndim):
            desc.low[d], desc.high[d] = grids[0].low[d], grids[0].high[d]
        check(self._lib.meta_halo_create(ctypes.byref(self._plan), ctypes.byref(desc)))
        plans.append(self._plan)

    def _addresses(self, grids):
        grids = grids if isinstance(grids, (list, tuple)) else [grids]
        if [(g.type, bytes(g.own)) for g in grids] != self._layouts:
            raise Error(f"Halo: the plan is for {len(self._layouts)} grids of its types, shapes and ghosts, and these "
                        f"are others: {list(grids)}", name="META_ERR_ARGUMENT")
        return (ctypes.c_void_p * len(grids))(*[g.pointer for g in grids])

    def exchange(self, grids, wait=True):
        """Exchange the ghosts of these grids. With wait=False, operations that are queued afterwards come behind it."""
        check(self._lib.meta_halo_exchange(self._plan, self._addresses(grids), None if wait else ASYNC))

    def start(self, grids):
        """Begin an exchange: the grids' own cells may be read until finish(), not written."""
        check(self._lib.meta_halo_start(self._plan, self._addresses(grids)))

    def finish(self, wait=True):
        """Finish the exchange that start() began."""
        check(self._lib.meta_halo_finish(self._plan, None if wait else ASYNC))

    def free(self):
        """Free the plan; collective. finalize() frees those that are left."""
        check(self._lib.meta_halo_free(ctypes.byref(self._plan)))
        plans[:] = [plan for plan in plans if plan is not self._plan]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if error[0] is None:
            self.free()


def allreduce(value, operation="sum"):
    """The "sum", "min" or "max" of a number over all ranks of init(comm), on each of them: an integer of 64 bits, which
    wraps, where all have integers, else a real number. Collective. Unlike mpi4py's it lets exchanges go on meanwhile.
    """
    if operation not in _OPERATIONS:
        raise ValueError(f"allreduce: '{operation}' is none of {', '.join(_OPERATIONS)}")
    library = attached_library("allreduce")

    def reduced(number, kind, how):
        mine = element(number, NAMES.index(kind), "allreduce: the number")
        check(library.meta_allreduce(ctypes.byref(mine), ctypes.byref(mine), ctypes.c_int64(1),
                                     _OPERATIONS.index(how), NAMES.index(kind), None))
        return mine.value

    # A rank without a part may have the integer 0; and no rank may leave the others alone.
    kind = ("i64", "f64", None)[reduced(_kind_of(value), "i64", "max")]
    if kind is None:
        raise OverflowError(f"allreduce: a rank's number is none that a reduction takes; {value!r} here: give integers "
                            "of 64 bits or reals")
    return reduced(value, kind, operation)


def _kind_of(value):
    """0: an integer of 64 bits, 1: a real number, 2: neither."""
    if isinstance(value, numbers.Integral):
        return 0 if -2**63 <= value < 2**63 else 2
    if isinstance(value, (str, bytes)):
        return 2
    try:
        float(value)
        return 1
    except (TypeError, ValueError):
        return 2
