# SPDX-License-Identifier: BSD-3-Clause
"""Exchange of ghost cells between ranks, with mpi4py, and numbers of all ranks."""

import ctypes
import numbers

from ._library import ASYNC, MAX_DIM, Box, Error, check, comm_handle, comm_library, comm_type, attached_library
from ._types import NAMES

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

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if error[0] is None:
            self.free()


def allreduce(value, operation="sum"):
    """The "sum", "min" or "max" of a number over all ranks of init(comm), on each of them. Collective. Unlike mpi4py's
    it lets exchanges go on meanwhile."""
    if operation not in _OPERATIONS:
        raise ValueError(f"allreduce: '{operation}' is none of {', '.join(_OPERATIONS)}")
    library = attached_library("allreduce")
    if isinstance(value, numbers.Integral):
        element, kind = ctypes.c_int64(int(value)), NAMES.index("i64")
    else:
        element, kind = ctypes.c_double(float(value)), NAMES.index("f64")
    check(library.meta_allreduce(ctypes.byref(element), ctypes.byref(element), ctypes.c_int64(1),
                                 _OPERATIONS.index(operation), kind, None))
    return element.value
