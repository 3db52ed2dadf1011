# SPDX-License-Identifier: BSD-3-Clause
"""The Python package on several ranks, with mpi4py: halos against NumPy's periodic shifts."""
import sys

import numpy as np
from mpi4py import MPI

import libmeta as lm

world = MPI.COMM_WORLD
try:
    lm.init(world)
except lm.Error as failure:
    # The wrong MPI: what it says is a promise too.
    ok = "was built with another MPI than mpi4py" in str(failure) and "Build libmeta --with-mpi" in str(failure)
    print(failure if ok else f"BROKEN: {failure}")
    sys.exit(77 if ok else 1)

N = (12, 10, 8)
cart = world.Create_cart(MPI.Compute_dims(world.size, 3), periods=[True] * 3)
first = [n * a // d for n, a, d in zip(N, cart.coords, cart.dims)]
cells = tuple(n * (a + 1) // d - f for n, a, d, f in zip(N, cart.coords, cart.dims, first))
rng = np.random.default_rng(7)  # the same on every rank
whole = rng.random(N)


def ghosted(a, width):
    """This rank's cells of a periodic array, and those around them."""
    return a[np.ix_(*[np.arange(f - width, f + n + width) % w for f, n, w in zip(first, cells, a.shape)])]


def mine(a):
    return ghosted(a, 0)


def faces_or_all_neighbours_are_exchanged():
    for corners in (False, True):
        u = lm.array(mine(whole), ghosts=2)
        numbers = (whole * 1000).astype("i4")
        counts = lm.array(mine(numbers), ghosts=2)
        with lm.Halo(cart, [u, counts], corners=corners) as halo:
            halo.exchange([u, counts])
            got, expected = u.get(u.with_ghosts()), ghosted(whole, 2)
            inner = [slice(2, -2)] * 3
            for d in range(3):
                part = tuple(inner[:d] + [slice(None)] + inner[d + 1:])
                assert (got[part] == expected[part]).all()
            assert (got == expected).all() == corners
            assert (counts.get(((-2, 0, 0), (0,) + cells[1:])) == ghosted(numbers, 2)[:2, 2:-2, 2:-2]).all()


def queued_work_comes_behind_the_exchange():
    u, v = lm.array(mine(whole), ghosts=1), lm.grid(cells, ghosts=1)
    halo, expected = lm.Halo(cart, u), whole
    for _ in range(5):
        halo.exchange(u, wait=False)
        total = lm.stencil(v, u, "3d7p", sum=True)
        u, v = v, u
        expected = sum(np.roll(expected, s, d) for d in range(3) for s in (1, -1)) / 7 + expected / 7
    halo.start(u)
    halo.finish()
    assert np.allclose(u.get(), mine(expected), rtol=1e-13)
    assert abs(lm.allreduce(total) - expected.sum()) < 1e-9
    assert lm.allreduce(world.rank + 1) == world.size * (world.size + 1) // 2
    assert lm.allreduce(np.int32(world.rank), "max") == world.size - 1 and lm.allreduce(world.rank - 0.5, "min") == -0.5
    halo.free()


def ranks_may_have_numbers_of_several_kinds():
    mine = 0.5 if world.rank == 0 else world.rank
    for how, expected in (("sum", 0.5 + sum(range(1, world.size))), ("min", 0.5), ("max", max(world.size - 1, 0.5))):
        got = lm.allreduce(mine, how)
        assert got == expected and isinstance(got, float), got
    assert lm.allreduce(2**62 if world.rank == 0 else 1, "max") == 2**62
    for wrong in (2**63, "3", None):
        try:
            lm.allreduce(wrong if world.rank == world.size - 1 else 1)
            raise AssertionError("is accepted")
        except OverflowError as failure:
            assert "a rank's number" in str(failure)
    assert lm.allreduce(1) == world.size


def ghosts_are_added():
    u = lm.grid(cells, ghosts=1)
    u.fill(1)
    halo = lm.Halo(cart, u, corners=True, add=True)
    halo.exchange(u)
    lm.flush()
    assert abs(world.allreduce(u.sum()) - sum(np.prod([n + 2 for n in c]) for c in world.allgather(cells))) < 1e-9
    halo.free()


def errors_are_the_same_on_every_rank():
    u, other = lm.grid(cells, ghosts=1), lm.grid(cells, ghosts=2)
    halo = lm.Halo(cart, u)
    for wrong in (other, [u, u], lm.grid(cells, ghosts=1, dtype="f4")):
        try:
            halo.exchange(wrong)
            raise AssertionError("is accepted")
        except lm.Error as failure:
            assert "these are others" in str(failure)
    try:
        lm.Halo(cart, [u, other])
        raise AssertionError("is accepted")
    except ValueError as failure:
        assert "the same ghost widths" in str(failure)
    try:
        lm.Halo(cart, lm.grid(cells, ghosts=20 if cart.rank == 0 else 1))
        raise AssertionError("is accepted")
    except lm.Error as failure:
        assert failure.name in ("META_ERR_BOUNDS", "META_ERR_MISMATCH"), failure
    halo.exchange(u)  # it goes on
    # The plan is left to finalize().


for promise in (faces_or_all_neighbours_are_exchanged, queued_work_comes_behind_the_exchange,
                ranks_may_have_numbers_of_several_kinds, ghosts_are_added,
                errors_are_the_same_on_every_rank):
    try:
        promise()
    except Exception as failure:
        print(f"BROKEN {promise.__name__} on rank {world.rank}: {failure!r}", flush=True)
        world.Abort(1)
    if world.rank == 0:
        print("kept  ", promise.__name__, flush=True)
