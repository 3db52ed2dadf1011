# SPDX-License-Identifier: BSD-3-Clause
"""Element types, NumPy's and the library's, and numbers that must fit them."""

import ctypes
import math
import operator

import numpy

# In the order of meta_type.
NAMES = ("f64", "f32", "i64", "u64", "i32", "u32", "i16", "u16", "i8", "u8")
DTYPES = tuple(numpy.dtype(code) for code in ("f8", "f4", "i8", "u8", "i4", "u4", "i2", "u2", "i1", "u1"))
C_TYPES = (ctypes.c_double, ctypes.c_float, ctypes.c_int64, ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint32,
           ctypes.c_int16, ctypes.c_uint16, ctypes.c_int8, ctypes.c_uint8)


def type_of(dtype):
    """The number of an element type: of a dtype of NumPy, or of a name such as "f64". "i8" and "u8" are NumPy's, of 8
    bytes."""
    if isinstance(dtype, str) and dtype in NAMES[:-2]:
        return NAMES.index(dtype)
    dtype = numpy.dtype(dtype)
    if dtype not in DTYPES:
        raise TypeError(f"libmeta has no elements of type {dtype}: use float64, float32 or an integer type in the "
                        "machine's byte order")
    return DTYPES.index(dtype)


def whole(value, what, least=-2**63, most=2**63 - 1):
    """An int, of Python or NumPy, within these limits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r}: give a whole number") from None
    if not least <= number <= most:
        raise OverflowError(f"{what} is {number}: give {least} to {most}")
    return number


def element(value, kind, what):
    """A number as an element of type number `kind`; one that it cannot hold is an error. Reals are rounded."""
    if isinstance(value, (numpy.generic, numpy.ndarray)):
        value = value.item()
    if DTYPES[kind].kind == "f":
        if isinstance(value, (str, bytes)):
            raise TypeError(f"{what} is {value!r}: give a number")
        number = float(value)
        if math.isfinite(number) and abs(number) > float(numpy.finfo(DTYPES[kind]).max):
            raise OverflowError(f"{what} is {number}, which {NAMES[kind]} does not hold")
        return C_TYPES[kind](number)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    limits = numpy.iinfo(DTYPES[kind])
    return C_TYPES[kind](whole(value, what, int(limits.min), int(limits.max)))


def elements(values, dtype, what):
    """An array of this type with these values; one that it cannot hold is an error. Reals are rounded."""
    values = numpy.asarray(values)
    if values.dtype == dtype or values.size == 0:
        return numpy.asarray(values, dtype)
    if values.dtype == object:  # among them integers of more than 64 bits
        each = [element(value, DTYPES.index(dtype), what).value for value in values.flat]
        return numpy.array(each, dtype).reshape(values.shape)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{what} are of type {values.dtype}, and the grid's elements of {dtype}")
    if dtype.kind == "f":
        with numpy.errstate(over="ignore"):
            held = numpy.isfinite(values.astype(dtype)) | ~numpy.isfinite(values)
    else:
        limits = numpy.iinfo(dtype)
        held = values >= limits.min
        # The greatest integer may be rounded up where it becomes a real number.
        held &= values < float(limits.max) + 1 if values.dtype.kind == "f" else values <= limits.max
        held &= values == numpy.floor(values) if values.dtype.kind == "f" else True
    if not numpy.all(held):
        raise OverflowError(f"{what} have {values[~held].flat[0]}, which {dtype} does not hold")
    return values.astype(dtype)
