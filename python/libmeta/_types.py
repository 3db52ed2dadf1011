# SPDX-License-Identifier: BSD-3-Clause
"""Element types: NumPy's and the library's."""

import ctypes

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
