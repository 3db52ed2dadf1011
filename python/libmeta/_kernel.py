# SPDX-License-Identifier: BSD-3-Clause
"""Kernels whose text is given at run time (doc/kernels.md)."""

import ctypes

from ._grid import Grid, owned_by_all
from ._library import ASYNC, MAX_DIM, Error, check, library, pointer
from ._types import C_TYPES, NAMES, element, type_of, whole

# In the order of meta_parameter_kind and meta_parameter_reach.
_OUT, _INOUT, _IN, _ADD, _SCALAR, _VALUE, _SUM, _MIN, _MAX, _MIN_AT, _MAX_AT = range(11)
_WHOLE = 3
_DIMS = 4


class _Parameter(ctypes.Structure):
    _fields_ = [("type_name", ctypes.c_char_p), ("name", ctypes.c_char_p), ("kind", ctypes.c_uint32),
                ("type", ctypes.c_uint32), ("bytes", ctypes.c_uint32), ("reach", ctypes.c_uint32),
                ("low", ctypes.c_uint8 * _DIMS), ("high", ctypes.c_uint8 * _DIMS), ("dropped", ctypes.c_uint32),
                ("grown", ctypes.c_int8 * _DIMS)]


class _Kernel(ctypes.Structure):  # the members that are read
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("type", ctypes.c_int), ("file", ctypes.c_char_p),
                ("text", ctypes.c_char_p), ("parameter", ctypes.POINTER(_Parameter)), ("parameters", ctypes.c_uint32)]


def _extreme(c_type):
    """meta_extreme_f64 …"""
    return type("Extreme", (ctypes.Structure,), {"_fields_": [("value", c_type), ("index", ctypes.c_int64 * MAX_DIM)]})


class Kernel:
    """A kernel, made by kernel(). Called with its parameters but for the results, in the order of its list or by their
    names: grids for arrays and SCALARs, numbers for values. Returns its results, SUM, MIN, MAX …: one, or a tuple of
    several; those of MIN_AT and MAX_AT are (value, cell)."""

    def __init__(self, text, name, dtype="f8", file=None):
        self._kernel = ctypes.POINTER(_Kernel)()
        self.name, self.type = name, type_of(dtype)
        check(library().meta_kernel_compile(ctypes.byref(self._kernel), name.encode(), self.type,
                                            (file or f"{name}.kernel.h").encode(), text.encode()))
        made = self._kernel.contents
        self._parameters = [made.parameter[k] for k in range(made.parameters)]
        self._taken = [p for p in self._parameters if p.kind < _SUM]

    @property
    def parameters(self):
        """The names of what a call is given."""
        return tuple(p.name.decode() for p in self._taken)

    def __repr__(self):
        return f"<libmeta kernel {self.name}({', '.join(self.parameters)}) for {NAMES[self.type]}>"

    def reach(self, ndim=3):
        """The ghost widths that its arrays need, as grid() takes them."""
        ndim = whole(ndim, "reach: the number of dimensions", 1, MAX_DIM)
        low, high = (ctypes.c_int * MAX_DIM)(), (ctypes.c_int * MAX_DIM)()
        check(library().meta_kernel_reach(self._kernel, low, high))
        return tuple(low[:ndim]), tuple(high[:ndim])

    def prepare(self):
        """Build it for the current device now, so that its first call need not."""
        check(library().meta_kernel_prepare(self._kernel))

    def _sorted(self, arguments, named):
        names = self.parameters
        if len(arguments) > len(names):
            raise TypeError(f"{self.name}: {len(arguments)} arguments, but it takes {len(names)}: {', '.join(names)}")
        given = dict(zip(names, arguments))
        for key, value in named.items():
            if key not in names or key in given:
                wrong = "given twice" if key in given else "no parameter"
                raise TypeError(f"{self.name}: '{key}' is {wrong}; it takes {', '.join(names)}")
            given[key] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{self.name}: {', '.join(missing)} missing")
        return given

    def _array(self, parameter, value):
        name = parameter.name.decode()
        if not isinstance(value, Grid):
            raise TypeError(f"{self.name}: {name} is an array: give a grid, not {type(value).__name__}")
        if value.type != parameter.type:
            raise TypeError(f"{self.name}: {name} has elements of {NAMES[parameter.type]}, the grid {value.dtype}")
        return value.pointer

    def _value(self, parameter, value):
        if parameter.type < len(C_TYPES):
            return element(value, parameter.type, f"{self.name}: {parameter.name.decode()}")
        value = bytes(value)  # a structure
        if len(value) != parameter.bytes:
            raise ValueError(f"{self.name}: {parameter.name.decode()} has {parameter.bytes} bytes, not {len(value)}")
        return ctypes.create_string_buffer(value, len(value))

    def __call__(self, *arguments, box=None, wait=True, **named):
        """`box` of the arrays that have all of the box's dimensions; the cells that all of these own where it is not
        given. `wait=False` queues the work, for kernels without results."""
        given = self._sorted(arguments, named)
        addresses, keep, results, flat = [], [], [], []
        for parameter in self._parameters:
            value = given.get(parameter.name.decode())
            if parameter.kind <= _SCALAR:
                addresses.append(self._array(parameter, value))
                if parameter.kind != _SCALAR and parameter.reach != _WHOLE and not parameter.dropped:
                    flat.append(value)
                continue
            if parameter.kind == _VALUE:
                keep.append(self._value(parameter, value))
            else:
                c_type = C_TYPES[parameter.type]
                keep.append(_extreme(c_type)() if parameter.kind >= _MIN_AT else c_type())
                results.append((parameter, keep[-1]))
            addresses.append(ctypes.addressof(keep[-1]))
        if not flat:
            raise Error(f"{self.name}: none of its arrays has all dimensions of the box: such kernels cannot be called "
                        "from Python", name="META_ERR_UNSUPPORTED")
        if any(grid.ndim != flat[0].ndim for grid in flat):
            raise Error(f"{self.name}: the grids differ in the number of dimensions: {flat}", name="META_ERR_ARGUMENT")
        if results and not wait:
            raise ValueError(f"{self.name}: its results are waited for: wait=False is for kernels without any")
        where = flat[0].box(box if box is not None else owned_by_all(flat))
        check(library().meta_kernel_run(self._kernel, ctypes.byref(where),
                                        (ctypes.c_void_p * len(addresses))(*addresses), None if wait else ASYNC))
        found = [self._result(parameter, result, flat[0]) for parameter, result in results]
        return found[0] if len(found) == 1 else tuple(found) if found else None

    @staticmethod
    def _result(parameter, result, shape):
        if parameter.kind < _MIN_AT:
            return result.value
        return result.value, tuple(result.index[d] - shape.own.start[d] for d in range(shape.ndim))


def kernel(text, name, dtype="f8", file=None):
    """Kernel `name` of a kernel file's text, for one element type. It is compiled, or found in the cache. `file` names
    the text in a compiler's messages."""
    return Kernel(text, name, dtype, file)
