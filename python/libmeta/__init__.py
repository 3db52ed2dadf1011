# SPDX-License-Identifier: BSD-3-Clause
"""libmeta: device memory, grid kernels and halo exchange on CPUs, OpenCL devices and GPUs.

    import libmeta as lm

    grid = lm.grid((64, 64, 64), ghosts=1)      # on this process's device: META_MODE, META_RANK_MAP
    grid.fill(1.0)
    print(grid.sum())

Index 0 is x, the fastest dimension, everywhere, as in the C library: NumPy arrays of grids are indexed
a[x, y, z] and have Fortran's order. Each function raises libmeta.Error with the library's message.
doc/python.md is the guide.
"""

from ._compute import axpy, copy, stencil
from ._devices import Device, device, devices, set_device
from ._grid import Grid, array, family, grid
from ._halo import Halo, allreduce
from ._kernel import Kernel, kernel
from ._library import Error, flush, init, finalize, version

__all__ = ["Device", "Error", "Grid", "Halo", "Kernel", "allreduce", "array", "axpy", "copy", "device", "devices",
           "family", "finalize", "flush", "grid", "init", "kernel", "set_device", "stencil", "version"]
