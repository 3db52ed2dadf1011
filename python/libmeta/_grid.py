# SPDX-License-Identifier: BSD-3-Clause
"""Grids: arrays in a device's memory."""

import ctypes
import numbers

import numpy

from ._library import ASYNC, MAX_DIM, Box, Error, alive, check, library, life, pointer
from ._types import C_TYPES, DTYPES, element, elements, type_of, whole

_SUM, _MIN, _MAX = range(3)


class _Field(ctypes.Structure):
    """meta_grid_field"""
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("stagger", ctypes.c_int * MAX_DIM),
                ("ptr", ctypes.c_void_p), ("box", Box)]


def _extents(shape, what):
    """The extents of owned cells, from a number or one for each dimension."""
    shape = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)
    shape = tuple(whole(n, f"{what}: an extent") for n in shape)
    if not 1 <= len(shape) <= MAX_DIM:
        raise ValueError(f"{what}: a grid has 1 to {MAX_DIM} dimensions, not {len(shape)}")
    return shape


def _widths(ghosts, ndim):
    """Ghost widths at the low and high sides, from a number, one for each dimension, or a pair of these."""
    def each(width):
        width = (width,) * ndim if isinstance(width, numbers.Integral) else tuple(width)
        width = tuple(whole(n, "ghosts: a width", 0, 2**31 - 1) for n in width)
        if len(width) != ndim:
            raise ValueError(f"ghosts: {len(width)} widths for {ndim} dimensions")
        return width
    if isinstance(ghosts, tuple) and len(ghosts) == 2 and all(isinstance(side, tuple) for side in ghosts):
        return each(ghosts[0]), each(ghosts[1])
    return each(ghosts), each(ghosts)


class Grid:
    """An array in a device's memory, with ghost cells around the owned ones. Made by grid(), array() and family().

    `shape` are the owned cells, x first; `dtype`; `low` and `high` the ghost widths. Cell 0 is the first owned one, so
    ghosts are at -1 and at shape[d]. A `box`, here and in other functions, is a pair of cells, (first, end), the
    second one being behind the last cell in each dimension; None is all owned cells. Operations of several grids take
    grids of any shapes with the same ghosts below: a cell is the same one in all, and None is the cells that all own.
    """

    def __init__(self, shape, ghosts=0, dtype="f8", label=None):
        self._pointer = None
        shape = _extents(shape, "shape")
        low, high = _widths(ghosts, len(shape))
        kind = type_of(dtype)
        address, own = ctypes.c_void_p(), Box()
        widths = ctypes.c_int * len(shape)
        check(library().meta_grid_alloc(ctypes.byref(address), ctypes.byref(own), len(shape),
                                        (ctypes.c_int64 * len(shape))(*shape), widths(*low), widths(*high), kind))
        self._adopt(address.value, own, low, high, kind)
        if label:
            check(library().meta_label(pointer(address.value), str(label).encode()))

    def _adopt(self, address, own, low, high, kind):
        self.ndim, self.own = own.ndim, own
        self.shape = tuple(own.end[d] - own.start[d] for d in range(own.ndim))
        self.low, self.high = low, high
        self.type, self.dtype = kind, DTYPES[kind]
        self._pointer, self._life = address, life()
        alive.add(self)
        return self

    # ---------------------------------------------------------------- life

    @property
    def pointer(self):
        """The buffer's address, for functions of the C library."""
        if self._pointer is None or self._life != life():
            raise Error("this grid was freed: make another one", name="META_ERR_POINTER")
        return self._pointer

    def free(self):
        """Free the memory now, after the work and exchanges on it. Arrays that view() returned are invalid then."""
        address, self._pointer = self._pointer, None
        if address is not None and self._life == life():
            if library().meta_free(pointer(address)):  # an exchange may not be complete yet
                check(library().meta_flush())
                check(library().meta_free(pointer(address)))

    def __del__(self):
        try:
            self.free()
        except Exception:  # at the interpreter's end there may be nothing left to call
            pass

    def __repr__(self):
        state = "freed" if self._pointer is None else f"ghosts {self.low}, {self.high}"
        return f"<libmeta grid {self.shape} of {self.dtype}, {state}>"

    # ---------------------------------------------------------------- boxes

    def box(self, box=None):
        """A meta_box of these cells of this grid."""
        if isinstance(box, Box):
            return box
        first, end = box if box is not None else ((0,) * self.ndim, self.shape)
        if len(first) != self.ndim or len(end) != self.ndim:
            raise ValueError(f"box: give ({self.ndim} indices, {self.ndim} indices), not {box}")
        found = Box(self.ndim)
        for d in range(self.ndim):
            found.size[d] = self.own.size[d]
            found.start[d] = whole(self.own.start[d] + whole(first[d], "box: an index"), "box: an index")
            found.end[d] = whole(self.own.start[d] + whole(end[d], "box: an index"), "box: an index")
        return found

    def with_ghosts(self):
        """The box of all cells, ghosts included."""
        return tuple(-n for n in self.low), tuple(n + h for n, h in zip(self.shape, self.high))

    # ---------------------------------------------------------------- contents

    def element(self, value, what="a number"):
        """A number as the C library takes it."""
        return ctypes.byref(element(value, self.type, what))

    def fill(self, value, box=None):
        """Set cells to a number; without a box, ghosts too."""
        where = self.box(self.with_ghosts() if box is None else box)
        number = self.element(value, "fill: the value")
        check(library().meta_fill_box(pointer(self.pointer), ctypes.byref(where), number, self.type, ASYNC))
        return self

    def _dense(self, box):
        """The box, and that of an array with its cells and no others."""
        where, dense = self.box(box), Box(self.ndim)
        for d in range(self.ndim):
            dense.size[d] = dense.end[d] = max(where.end[d] - where.start[d], 0)
        return where, dense, tuple(dense.size[:self.ndim])

    def put(self, values, box=None):
        """Copy an array, or what NumPy makes one of, to the cells: a[x, y, z] to cell (x, y, z) of the box."""
        where, dense, shape = self._dense(box)
        host = numpy.asfortranarray(numpy.broadcast_to(elements(values, self.dtype, "put: the values"), shape))
        check(library().meta_copy_box_h2d(pointer(self.pointer), ctypes.byref(where), pointer(host.ctypes.data),
                                          ctypes.byref(dense), self.type, None))
        return self

    def get(self, box=None):
        """A copy of the cells, a NumPy array in Fortran's order."""
        where, dense, shape = self._dense(box)
        host = numpy.empty(shape, self.dtype, order="F")
        check(library().meta_copy_box_d2h(pointer(host.ctypes.data), ctypes.byref(dense), pointer(self.pointer),
                                          ctypes.byref(where), self.type, None))
        return host

    # ---------------------------------------------------------------- the host's view

    def _interface(self, box):
        address, where = ctypes.c_void_p(), self.box(box)
        check(library().meta_host_view(pointer(self.pointer), ctypes.byref(address)))
        strides, step, offset = [], self.dtype.itemsize, 0
        for d in range(self.ndim):
            if not 0 <= where.start[d] <= where.end[d] <= where.size[d]:
                raise Error(f"view: dimension {d} of the box leaves the grid", name="META_ERR_BOUNDS")
            strides.append(step)
            offset += where.start[d] * step
            step *= where.size[d]
        shape = tuple(where.end[d] - where.start[d] for d in range(self.ndim))
        return {"version": 3, "shape": shape, "typestr": self.dtype.str, "strides": tuple(strides),
                "data": (address.value + offset, False)}

    def view(self, box=None):
        """The cells themselves, as a NumPy array on the device's memory: where that is the host's (OpenMP), else an
        Error. Valid until the grid is freed. Changes are seen by both sides."""
        class Holder:  # keeps the grid for as long as the array lives
            pass
        holder = Holder()
        holder.grid, holder.__array_interface__ = self, self._interface(box)
        return numpy.asarray(holder)

    def is_viewable(self):
        """Whether view() works: whether the device's memory is the host's."""
        address = ctypes.c_void_p()
        return library().meta_host_view(pointer(self.pointer), ctypes.byref(address)) == 0

    @property
    def __array_interface__(self):
        if not self.is_viewable():
            raise AttributeError("the device has memory of its own: __array__ copies")
        return self._interface(None)

    def __array__(self, dtype=None, copy=None):
        if self.is_viewable() and not copy:
            found = self.view()
        elif copy is False:
            raise ValueError("the device has memory of its own: a copy cannot be avoided")
        else:
            found = self.get()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __buffer__(self, flags):  # Python 3.12 and later
        return memoryview(self._viewed("the buffer protocol"))

    def _viewed(self, what):
        try:
            return self.view()
        except Error as failure:
            raise BufferError(f"{what}: {failure}") from None

    def __dlpack__(self, **arguments):
        return self._viewed("DLPack").__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._viewed("DLPack").__dlpack_device__()

    # ---------------------------------------------------------------- reductions

    def _reduce(self, operation, box):
        result, where = C_TYPES[self.type](), self.box(box)
        check(library().meta_reduce(ctypes.byref(result), pointer(self.pointer), ctypes.byref(where), operation,
                                    self.type, None))
        return result.value

    def sum(self, box=None):
        """The sum of the cells; integers wrap."""
        return self._reduce(_SUM, box)

    def min(self, box=None):
        """The least cell; NaN if there is one."""
        return self._reduce(_MIN, box)

    def max(self, box=None):
        """The greatest cell; NaN if there is one."""
        return self._reduce(_MAX, box)

    def dot(self, other, box=None):
        """The sum of the products with another grid."""
        result, where = C_TYPES[self.type](), common_box("dot", box, self, other)
        check(library().meta_dot(ctypes.byref(result), pointer(self.pointer), pointer(other.pointer),
                                 ctypes.byref(where), self.type, None))
        return result.value


def common_box(function, box, first, other):
    """The box of two grids of one type; without one, of the cells that both own."""
    if first.type != other.type or first.ndim != other.ndim:
        raise Error(f"{function}: the grids differ in type or in the number of dimensions: {first!r}, {other!r}",
                    name="META_ERR_ARGUMENT")
    return first.box(box if box is not None else owned_by_all((first, other)))


def owned_by_all(grids):
    """The box of the cells that all of some grids own, which have as many dimensions."""
    return (0,) * grids[0].ndim, tuple(map(min, zip(*(grid.shape for grid in grids))))


def grid(shape, ghosts=0, dtype="f8", label=None):
    """A grid of `shape` owned cells on the current device; its contents are undefined. `ghosts` is the width on every
    side, one for each dimension, or a pair of tuples for the low and high sides."""
    return Grid(shape, ghosts, dtype, label)


def family(cells, ghosts=0, fields=None):
    """Grids for the same cells that are used together, such as those of cells, faces and nodes: a dictionary of them
    by the names of `fields`, which are their labels, too. `fields` has for each name its type and how many more
    elements than cells it has along each dimension, behind the last cell, as in {"p": "f8", "u": ("f8", (1, 0))}:
    element i of u is the face below cell i, and i + 1 the one above it. All have the same ghost widths, and are laid
    out alike."""
    cells = _extents(cells, "cells")
    low, high = _widths(ghosts, len(cells))
    if not fields:
        raise ValueError("family: no field is given: fields={name: (type, stagger)}")
    asked = (_Field * len(fields))()
    for field, (name, what) in zip(asked, fields.items()):
        dtype, stagger = what if isinstance(what, tuple) else (what, (0,) * len(cells))
        if len(stagger) != len(cells):
            raise ValueError(f"family: the stagger of {name} has {len(stagger)} numbers for {len(cells)} dimensions")
        field.name, field.type = str(name).encode(), type_of(dtype)
        for d, more in enumerate(stagger):
            field.stagger[d] = whole(more, f"family: the stagger of {name}", -2**31, 2**31 - 1)
    widths = ctypes.c_int * len(cells)
    check(library().meta_grid_family(asked, len(asked), None, len(cells), (ctypes.c_int64 * len(cells))(*cells),
                                     widths(*low), widths(*high)))
    return {name: Grid.__new__(Grid)._adopt(field.ptr, Box.from_buffer_copy(field.box), low, high, field.type)
            for name, field in zip(fields, asked)}


def array(values, ghosts=0, dtype=None, label=None):
    """A grid with a copy of an array; ghosts, if any, are 0."""
    values = numpy.asarray(values, dtype)
    made = Grid(values.shape, ghosts, values.dtype, label)
    if any(made.low) or any(made.high):
        made.fill(0)
    return made.put(values)
