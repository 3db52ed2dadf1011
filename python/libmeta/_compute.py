# SPDX-License-Identifier: BSD-3-Clause
"""Operations of several grids."""

import ctypes

from ._grid import common_box
from ._library import ASYNC, check, library, pointer
from ._types import C_TYPES

_STENCILS = ("2d5p", "2d9p", "3d7p", "3d27p")  # in the order of meta_stencil_kind


def stencil(out, source, kind, box=None, sum=False):
    """Set each cell of `out` to the average of the stencil's points in `source`: "2d5p", "2d9p", "3d7p" or "3d27p".
    With `sum` it returns the sum of the new cells; otherwise the work is queued."""
    if kind not in _STENCILS:
        raise ValueError(f"stencil: '{kind}' is none of {', '.join(_STENCILS)}")
    result, where = C_TYPES[out.type](), common_box("stencil", box, out, source)
    check(library().meta_stencil(pointer(out.pointer), pointer(source.pointer), ctypes.byref(where),
                                 _STENCILS.index(kind), out.type, ctypes.byref(result) if sum else None,
                                 None if sum else ASYNC))
    return result.value if sum else None


def axpy(y, a, x, box=None):
    """y += a·x; queued."""
    where = common_box("axpy", box, y, x)
    factor = y.element(a, "axpy: the factor")
    check(library().meta_axpy(pointer(y.pointer), factor, pointer(x.pointer), ctypes.byref(where), y.type, ASYNC))


def copy(to, source, box=None, source_box=None):
    """Copy cells between grids, or within one, of one device: `box` of `to` from `source_box` of `source`, which is the
    same box where it is not given. Queued."""
    if to.type != source.type:
        raise TypeError(f"copy: {source.dtype} cannot be copied to {to.dtype}")
    where = to.box(box)
    of = source.box(box if source_box is None else source_box)
    check(library().meta_copy_box(pointer(to.pointer), ctypes.byref(where), pointer(source.pointer), ctypes.byref(of),
                                  to.type, ASYNC))
