# SPDX-License-Identifier: BSD-3-Clause
"""Gray-Scott on a periodic grid that is distributed over all ranks, by the kernel of gray_scott.kernel.h: the
example gray_scott.c in Python.

    python3 gray_scott.py [STEPS]                  # one process
    $(meta-info --launcher) -n 2 python3 gray_scott.py [STEPS]  # with mpi4py: each rank on its own device
"""
import pathlib
import sys

import libmeta as lm
import numpy as np

N, Du, Dv, F, k, dt = 40, 0.16, 0.08, 0.025, 0.055, 1.0  # N: cells along an edge of the whole grid
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100

try:
    from mpi4py import MPI
    comm = MPI.COMM_WORLD if MPI.COMM_WORLD.size > 1 else None
except ImportError:
    comm = None
lm.init(comm)
cart = comm and comm.Create_cart(MPI.Compute_dims(comm.size, 3), periods=[True] * 3)
dims, at = (cart.dims, cart.coords) if cart else ((1, 1, 1), (0, 0, 0))

# This rank's cells: first … first + cells - 1 along each dimension.
first = [N * a // d for a, d in zip(at, dims)]
cells = tuple(N * (a + 1) // d - f for a, d, f in zip(at, dims, first))

# The concentrations at the beginning: some V in a block in the middle.
x, y, z = np.ogrid[tuple(slice(f, f + n) for f, n in zip(first, cells))]
inside = (x > N // 3) & (x < N // 2) & (y > N // 3) & (y < N // 2) & (z > N // 4) & (z < N // 2)
u0, v0, u1, v1 = (lm.grid(cells, ghosts=1, label=name) for name in ("u0", "v0", "u1", "v1"))
u0.put(np.where(inside, 0.5, 1.0))
v0.put(np.where(inside, 0.25 + (x + 3 * y + 7 * z) % 16 / 128, 0.0))

text = (pathlib.Path(__file__).parent / "gray_scott.kernel.h").read_text()
gray_scott = lm.kernel(text, "gray_scott", file="gray_scott.kernel.h")
halo = cart and lm.Halo(cart, [u0, v0])


def exchange(*grids):
    """Fill the ghosts from the neighbours; of one process alone, from its own opposite sides."""
    if halo:
        return halo.exchange(grids, wait=False)
    for grid in grids:
        for d in range(3):
            def plane(index):
                return [(index if e == d else 0) for e in range(3)], [(index + 1 if e == d else N) for e in range(3)]
            lm.copy(grid, grid, plane(-1), plane(N - 1))
            lm.copy(grid, grid, plane(N), plane(0))


for step in range(steps):
    exchange(u0, v0)
    change = gray_scott(u1, v1, u0, v0, Du, Dv, F, k, dt)
    u0, u1, v0, v1 = u1, u0, v1, v0

rank, ranks = (cart.rank, cart.size) if cart else (0, 1)
change = lm.allreduce(change, "max") if cart else change
if rank == 0:
    print(f"{ranks} ranks: largest change of V in step {steps}: {change:g}")
