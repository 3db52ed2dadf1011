# SPDX-License-Identifier: BSD-3-Clause
"""The Python package in one process, on the device of META_MODE: each function against NumPy. The promises are
functions; `python_checks.py LAYOUT` is given what python_layout prints."""
import contextlib
import ctypes
import gc
import io
import os
import re
import runpy
import subprocess
import sys
import traceback

import libmeta as lm
import numpy as np
from libmeta import _compute, _devices, _grid, _halo, _kernel, _library, _types

rng = np.random.default_rng(20151013)


def fails(error, text, function, *arguments, **named):
    """The call raises this error, with this text; returns it."""
    try:
        function(*arguments, **named)
    except error as failure:
        assert text in str(failure), f"'{failure}' does not say: {text}"
        return failure
    raise AssertionError(f"no {error.__name__}: {text}")


# ------------------------------------------------------------------ declarations

def structures_and_numbers_are_those_of_c():
    with open(sys.argv[1], encoding="utf-8") as lines:
        c = {name: int(value) for name, value in (line.split() for line in lines)}
    structures = {"meta_box": _library.Box, "meta_backend_desc": _devices._BackendDesc,
                  "meta_device_desc": _devices._DeviceDesc, "meta_kernel_parameter": _kernel._Parameter,
                  "meta_grid_field": _grid._Field, "meta_kernel": _kernel._Kernel,
                  "meta_extreme_f64": _kernel._extreme(ctypes.c_double),
                  "meta_extreme_f32": _kernel._extreme(ctypes.c_float)}
    if "MPI_Comm" in c:
        comm = ctypes.c_int if c["MPI_Comm"] == 4 else ctypes.c_void_p
        structures |= {"meta_halo": _halo._Plan, "meta_halo_field": _halo._Field,
                       "meta_halo_desc": _halo.desc_type(comm)}
    compared = 0
    for name, value in c.items():
        structure, _, member = name.partition(".")
        if structure in structures:
            here = getattr(structures[structure], member).offset if member else ctypes.sizeof(structures[structure])
            assert here == value, f"{name} is {here}, in C {value}"
            compared += 1
    assert compared > 35, compared
    assert [c[f"META_{name.upper()}"] for name in _types.NAMES] == list(range(c["META_TYPE_COUNT"]))
    assert (c["META_SUM"], c["META_MIN"], c["META_MAX"]) == (_grid._SUM, _grid._MIN, _grid._MAX)
    assert [c[f"META_{kind.upper()}"] for kind in _compute._STENCILS] == list(range(c["META_STENCIL_COUNT"]))
    assert [c[f"META_{name.upper()}"] for name in _halo._OPERATIONS] == [0, 1, 2]
    for name in "OUT INOUT IN ADD SCALAR VALUE SUM MIN MAX MIN_AT MAX_AT WHOLE".split():
        assert c[f"META_PARAMETER_{name}"] == getattr(_kernel, f"_{name}"), name
    assert (c["META_MAX_DIM"], c["META_KERNEL_DIMS"]) == (_library.MAX_DIM, _kernel._DIMS)
    if "MPI_Comm" in c:
        assert (c["META_HALO_FACES"], c["META_HALO_ALL"]) == (_halo._FACES, _halo._ALL)
        assert (c["META_HALO_COPY"], c["META_HALO_ADD"]) == (_halo._COPY, _halo._ADD)


# ------------------------------------------------------------------ grids

def an_array_comes_back_as_it_was():
    for dtype in ("f8", "f4", "i8", "u8", "i4", "u4", "i2", "u2", "i1", "u1", "f64", np.int16):
        for shape in ((7,), (5, 4), (4, 3, 5), (2, 3, 2, 4)):
            values = rng.integers(0, 100, shape).astype(_types.DTYPES[_types.type_of(dtype)])
            for ghosts in (0, 2):
                grid = lm.array(values, ghosts=ghosts)
                assert grid.dtype == values.dtype and grid.shape == shape
                assert (grid.get() == values).all() and grid.get().flags.f_contiguous
    assert lm.array([1.5, 2.5]).get().tolist() == [1.5, 2.5]
    assert lm.array(np.arange(12.0)[::-2], dtype="f4").get().tolist() == [11, 9, 7, 5, 3, 1]


def boxes_count_from_the_first_owned_cell():
    grid = lm.grid((4, 3), ghosts=((1, 2), (3, 0)))
    host = rng.random((8, 5))
    grid.put(host, box=grid.with_ghosts())
    assert grid.with_ghosts() == ((-1, -2), (7, 3))
    assert (grid.get() == host[1:5, 2:5]).all()
    assert (grid.get(((-1, 0), (2, 1))) == host[0:3, 2:3]).all()
    grid.fill(3, box=((1, 1), (2, 3)))
    host[2, 3:5] = 3
    assert (grid.get(grid.with_ghosts()) == host).all()
    grid.put(7.0)
    host[1:5, 2:5] = 7
    assert (grid.get(grid.with_ghosts()) == host).all()
    assert grid.get(((2, 1), (2, 3))).shape == (0, 2)


def a_view_is_the_memory_itself_where_the_host_has_it():
    grid = lm.array(rng.random((5, 4, 3)), ghosts=1)
    before = grid.get()
    assert (np.asarray(grid) == before).all()
    assert (np.array(grid, copy=True) == before).all()
    if lm.device().is_host:
        assert grid.is_viewable()
        view = grid.view()
        assert np.shares_memory(view, np.asarray(grid)) and view.strides == np.asarray(grid).strides
        view[4, 3, 2] = 99
        assert np.shares_memory(view, np.from_dlpack(grid)) and np.from_dlpack(grid)[4, 3, 2] == 99
        assert grid.max() == 99 and grid.get(((4, 3, 2), (5, 4, 3))).item() == 99
        assert grid.view(grid.with_ghosts()).shape == (7, 6, 5)
        fails(lm.Error, "leaves the grid", grid.view, ((0, 0, 0), (9, 9, 9)))
        number = grid.pointer
        del grid
        gc.collect()
        assert view[4, 3, 2] == 99 and number in [g.pointer for g in _library.alive]
    else:
        assert not grid.is_viewable()
        fails(lm.Error, "meta_host_view", grid.view)
        fails(BufferError, "DLPack", grid.__dlpack__)
        np.asarray(grid)[0, 0, 0] = -1  # a copy
        assert grid.min() >= 0


def memory_goes_with_the_last_reference():
    gc.collect()
    count = len(_library.alive)
    grid = lm.grid((10, 10))
    assert len(_library.alive) == count + 1
    del grid
    gc.collect()
    assert len(_library.alive) == count
    grid = lm.grid(10)
    grid.free()
    grid.free()
    fails(lm.Error, "was freed", grid.sum)


# ------------------------------------------------------------------ operations

def results_are_those_of_numpy():
    a, b = rng.random((6, 5, 4)), rng.random((6, 5, 4))
    x, y = lm.array(a, ghosts=1), lm.array(b, ghosts=1)
    assert abs(x.sum() - a.sum()) < 1e-12 and x.min() == a.min() and x.max() == a.max()
    assert abs(x.sum(((1, 0, 2), (4, 5, 3))) - a[1:4, :, 2:3].sum()) < 1e-12
    assert abs(x.dot(y) - (a * b).sum()) < 1e-12
    lm.axpy(y, 2.5, x)
    assert (y.get() == b + 2.5 * a).all()
    lm.copy(y, x, ((0, 0, 0), (2, 5, 4)), ((4, 0, 0), (6, 5, 4)))
    assert (y.get()[:2] == a[4:]).all() and (y.get()[2:] == (b + 2.5 * a)[2:]).all()
    n = lm.array(np.arange(-5, 5, dtype="i4"))
    assert (n.sum(), n.min(), n.max()) == (-5, -5, 4)


def stencils_are_averages():
    for kind, ndim, points in (("2d5p", 2, 5), ("2d9p", 2, 9), ("3d7p", 3, 7), ("3d27p", 3, 27)):
        a = rng.random((6, 5, 4)[:ndim])
        source, out = lm.array(a, ghosts=1), lm.array(a, ghosts=1)
        padded, expected = np.pad(a, 1), np.zeros_like(a)
        for offset in np.ndindex(*(3,) * ndim):
            if sum(o != 1 for o in offset) <= 1 or points == 3 ** ndim:
                expected += padded[tuple(slice(o, o + n) for o, n in zip(offset, a.shape))] / points
        total = lm.stencil(out, source, kind, sum=True)
        assert np.allclose(out.get(), expected, rtol=1e-13) and abs(total - expected.sum()) < 1e-12
        out.fill(0)
        assert lm.stencil(out, source, kind) is None
        assert np.allclose(out.get(), expected, rtol=1e-13)


KERNELS = """
#include <meta_kernel.h>
#define mix_ARGS(A) A(OUT, T, out) A(IN, T, u, STAR(2)) A(IN, int32_t, n, CELL) A(VALUE, T, a) A(VALUE, int32_t, b) \\
    A(SCALAR, T, s) A(SUM, T, total) A(MIN_AT, T, least) A(MAX, int32_t, most)
META_CELLS(mix)
{
    const T x = a * (AT2(u, -2, 0) + AT2(u, 0, 2)) + s + (T)(ON(n) * b);
    ON(out) = x;
    ADD(total, x);
    LOWER(least, x);
    RAISE(most, ON(n));
}
#include META_AGAIN
"""
PLAIN = """
#include <meta_kernel.h>
#define twice_ARGS(A) A(INOUT, T, u)
META_CELLS(twice) { ON(u) = 2 * ON(u); }
#include META_AGAIN
"""


def kernels_from_text_compute():
    mix = lm.kernel(KERNELS, "mix")
    assert mix.parameters == ("out", "u", "n", "a", "b", "s") and mix.reach(2) == ((2, 2), (2, 2))
    a, n = rng.random((7, 6)), rng.integers(0, 9, (7, 6)).astype("i4")
    u, out, counts = lm.array(a, ghosts=2), lm.grid((7, 6), ghosts=2), lm.array(n, ghosts=2)
    s, padded = lm.array([0.5]), np.pad(a, 2)
    expected = 3.0 * (padded[:-4, 2:-2] + padded[2:-2, 4:]) + 0.5 + n * 2
    total, (least, cell), most = mix(out, u, counts, 3.0, np.int32(2), s)
    assert np.allclose(out.get(), expected, rtol=1e-14) and abs(total - expected.sum()) < 1e-12
    assert abs(least - expected.min()) < 1e-14 and cell == np.unravel_index(expected.argmin(), expected.shape)
    assert most == n.max()
    part = mix(u=u, out=out, n=counts, s=s, a=1, b=0, box=((1, 1), (3, 4)))
    assert abs(part[0] - ((padded[1:3, 3:6] + padded[3:5, 5:8]) + 0.5).sum()) < 1e-12
    assert all(1 <= i < e for i, e in zip(part[1][1], (3, 4)))
    twice = lm.kernel(PLAIN, "twice", "f4")
    f = lm.array(a, dtype="f4")
    twice.prepare()
    assert twice(f) is None
    twice(f, wait=False)
    assert (f.get() == 4 * a.astype("f4")).all()


DIVERGENCE = """
#include <meta_kernel.h>
#define divergence_ARGS(A) A(OUT, T, p) A(IN, float, u, SIDES(0, 1, 0, 0, 0, 0)) A(IN, T, v, SIDES(0, 0, 0, 1, 0, 0)) \\
    A(IN, int32_t, node, SIDES(0, 1, 0, 1, 0, 0)) A(SUM, T, total)
META_CELLS(divergence)
{
    ON(p) = (T)(AT2(u, 1, 0) - ON(u)) + AT2(v, 0, 1) - ON(v) + (T)(AT2(node, 1, 1) - ON(node));
    ADD(total, ON(p));
}
#include META_AGAIN
"""


def a_family_has_cells_faces_and_nodes_of_the_same_cells():
    divergence = lm.kernel(DIVERGENCE, "divergence")
    shapes = [tuple(int(n) for n in rng.integers(1, 12, 2)) for _ in range(8)] + [(250, 200)]  # the last one is padded
    for number, (nx, ny) in enumerate(shapes):
        ghosts = (((0, 0), (0, 0)), ((1, 1), (1, 1)), ((3, 1), (2, 2)))[number % 3]
        grids = lm.family((nx, ny), ghosts, {"p": "f8", "q": ("f8", (0, 0)), "u": ("f4", (1, 0)), "v": ("f8", (0, 1)),
                                             "node": ("i4", (1, 1))})
        assert list(grids) == ["p", "q", "u", "v", "node"]
        p, q, u, v, node = grids.values()
        assert [g.shape for g in grids.values()] == [(nx, ny), (nx, ny), (nx + 1, ny), (nx, ny + 1), (nx + 1, ny + 1)]
        assert len({(g.own.size[0], g.own.start[0], g.own.start[1], g.low, g.high) for g in grids.values()}) == 1
        host = {name: rng.integers(-50, 50, tuple(b - a for a, b in zip(*g.with_ghosts()))).astype(g.dtype)
                for name, g in grids.items()}
        for name, g in grids.items():
            g.put(host[name], g.with_ghosts())
        own = {name: host[name][g.low[0]:g.low[0] + g.shape[0], g.low[1]:g.low[1] + g.shape[1]]
               for name, g in grids.items()}

        def unchanged():
            return all((g.get(g.with_ghosts()) == host[name]).all() for name, g in grids.items())
        total = divergence(p, u, v, node)
        own["p"][:] = (own["u"][1:] - own["u"][:-1]) + (own["v"][:, 1:] - own["v"][:, :-1]) + \
            (own["node"][1:, 1:] - own["node"][:-1, :-1])
        assert total == own["p"].sum() and unchanged()
        cells = own["v"][:, :ny]
        lm.axpy(v, 2, q)
        cells += 2 * own["q"]
        assert unchanged() and v.dot(q) == q.dot(v) == (cells * own["q"]).sum()
        part = ((nx // 2, 0), (nx, 1))
        assert v.dot(q, part) == (cells * own["q"])[nx // 2:, :1].sum()
        assert u.sum() == own["u"].sum() and node.max() == own["node"].max()
        v.fill(7, ((0, ny), (nx, ny + 1)))
        own["v"][:, ny] = 7
        assert unchanged()
        if min(ghosts[0]) > 0:
            w = np.array(host["q"], order="F")
            lm.stencil(v, q, "2d5p")
            x, y = ghosts[0]
            near = w[x:x + nx, y:y + ny] + w[x - 1:x - 1 + nx, y:y + ny] + w[x + 1:x + 1 + nx, y:y + ny] + \
                w[x:x + nx, y - 1:y - 1 + ny] + w[x:x + nx, y + 1:y + 1 + ny]
            assert np.allclose(v.get(((0, 0), (nx, ny))), near / 5, rtol=1e-13)
            host["v"][:] = v.get(v.with_ghosts())
            assert (own["v"][:, ny] == 7).all() and unchanged()
    single = lm.family(5, fields={"x": ("f8", (1,)), "y": ("f8", (-1,))}, ghosts=1)
    assert single["x"].shape == (6,) and single["y"].shape == (4,)
    assert single["x"].fill(2).dot(single["y"].fill(3)) == 24


def errors_of_families_say_what_is_wrong():
    fields = {"p": "f8", "u": ("f8", (0, 1))}
    p, u = lm.family((4, 3), 1, fields).values()
    error = fails(lm.Error, "dimension 1: [1, 6) leaves 'x' (\"p\"", lm.axpy, u, 1, p, ((0, 0), (4, 5)))
    assert error.name == "META_ERR_BOUNDS" and "a grid of 6 x 5 elements" in str(error)
    other = lm.family((4, 3), 2, {"w": "f8"})["w"]
    error = fails(lm.Error, "are grids whose own cells begin at index 1 and 2 along dimension 0", lm.axpy, u, 1, other)
    assert error.name == "META_ERR_ARGUMENT" and "'y' (\"u\"" in str(error) and "'x' (\"w\"" in str(error)
    error = fails(lm.Error, "field[1].stagger[0] is -2, and there are 1 ghosts at the high side", lm.family, (4, 3), 1,
                  {"p": "f8", "u": ("f8", (-2, 0))})
    assert error.name == "META_ERR_ARGUMENT"
    count = len(_library.alive)
    error = fails(lm.Error, "meta_grid_family", lm.family, (1 << 40, 1 << 10), 1, fields)
    assert error.name in ("META_ERR_NO_MEMORY", "META_ERR_OVERFLOW") and len(_library.alive) <= count
    fails(ValueError, "no field is given", lm.family, (4, 3))
    fails(ValueError, "1 to 10 dimensions", lm.family, (), 0, fields)
    fails(ValueError, "the stagger of u has 2 numbers for 3 dimensions", lm.family, (4, 3, 2), 1, fields)
    fails(TypeError, "the stagger of u is 0.5", lm.family, 4, 1, {"u": ("f8", (0.5,))})
    fails(TypeError, "complex128", lm.family, 4, 1, {"u": complex})
    fails(lm.Error, "covers", lm.copy, u, p, ((0, 0), (5, 3)), ((0, 0), (4, 3)))
    error = fails(lm.Error, "the grids differ in the number of dimensions", lm.kernel(DIVERGENCE, "divergence"), p,
                  lm.grid((4, 3), 1, "f4"), lm.grid(4, 1), lm.grid((4, 3), 1, "i4"))
    assert error.name == "META_ERR_ARGUMENT"


def gray_scott_has_the_bits_of_plain_loops():
    lm.finalize()
    arguments, sys.argv = sys.argv, ["gray_scott.py", "12"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        ran = runpy.run_path(os.path.join(os.environ["META_TEST_SRCDIR"], "examples", "gray_scott.py"))
    sys.argv = arguments
    n, c = ran["N"], np.arange(ran["N"])
    x, y, z = c[:, None, None], c[None, :, None], c[None, None, :]
    part = (x > n // 3) & (x < n // 2) & (y > n // 3) & (y < n // 2) & (z > n // 4) & (z < n // 2)
    u, v = np.where(part, 0.5, 1.0), np.where(part, 0.25 + (x + 3 * y + 7 * z) % 16 / 128, 0.0)

    def laplacian(a):
        return (np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) + np.roll(a, 1, 2) +
                np.roll(a, -1, 2) - 6 * a)
    for _ in range(12):
        uvv = u * v * v
        dv = ran["dt"] * (ran["Dv"] * laplacian(v) + uvv - (ran["F"] + ran["k"]) * v)
        u, v = u + ran["dt"] * (ran["Du"] * laplacian(u) - uvv + ran["F"] * (1 - u)), v + dv
    assert (ran["u0"].get() == u).all() and (ran["v0"].get() == v).all()
    assert said.getvalue() == f"1 ranks: largest change of V in step 12: {np.abs(dv).max():g}\n", said.getvalue()


# ------------------------------------------------------------------ devices and errors

def devices_are_listed_and_chosen():
    mine, every = lm.device(), lm.devices()
    assert any(str(d) == "openmp:0" and d.is_host and not d.is_gpu and d.compute_units > 0 for d in every)
    lm.set_device("openmp")
    assert str(lm.device()) == "openmp:0" and lm.array([1.0]).is_viewable()
    lm.set_device(mine)
    assert str(lm.device()) == str(mine)
    lm.set_device("spread")
    assert str(lm.device()) == str(mine)
    fails(ValueError, "'opencl:x'", lm.set_device, "opencl:x")
    assert fails(lm.Error, "nothing_of_that_name", lm.set_device, "nothing_of_that_name").name == "META_ERR_NO_DEVICE"


def errors_have_the_librarys_message():
    grid = lm.grid((4, 4), ghosts=1)
    error = fails(lm.Error, "meta_reduce: argument 'box'", grid.sum, ((0, 0), (9, 9)))
    assert error.name == "META_ERR_BOUNDS" and error.code > 0
    other = lm.grid((6, 4), ghosts=1)
    error = fails(lm.Error, "[1, 7) leaves 'buf'", grid.sum, other.box())
    assert error.name == "META_ERR_BOUNDS" and grid.fill(2).sum() == 32
    assert fails(lm.Error, "cells", lm.grid, (2, -1)).name == "META_ERR_ARGUMENT"
    error = fails(lm.Error, "meta_grid_alloc", lm.grid, (1 << 40, 1 << 10))
    assert error.name in ("META_ERR_NO_MEMORY", "META_ERR_OVERFLOW")
    assert fails(lm.Error, "init(comm)", lm.allreduce, 1).name == "META_ERR_STATE"
    fails(ValueError, "'mean' is none of sum, min, max", lm.allreduce, 1, "mean")
    fails(ValueError, "1 to 10 dimensions", lm.grid, ())
    fails(ValueError, "3 widths for 2 dimensions", lm.grid, (4, 4), (1, 1, 1))
    fails(TypeError, "complex128", lm.grid, 4, dtype=complex)
    fails(TypeError, "machine's byte order", lm.grid, 4, dtype=">f8")
    fails(ValueError, "box: give", grid.sum, ((0,), (1,)))
    fails(ValueError, "'3d8p' is none of", lm.stencil, grid, grid, "3d8p")
    fails(lm.Error, "the grids differ", grid.dot, lm.grid((4, 4), ghosts=1, dtype="f4"))
    fails(lm.Error, "the grids differ", lm.axpy, grid, 1, lm.grid((4, 4, 4), ghosts=1))
    error = fails(lm.Error, "are grids whose own cells begin at index 1 and 0 along dimension 0",
                  lm.axpy, lm.grid((4, 4), ghosts=1, label="wide"), 1, lm.grid((8, 8), label="narrow"))
    assert error.name == "META_ERR_ARGUMENT" and '"wide"' in str(error) and '"narrow"' in str(error)
    fails(TypeError, "cannot be copied", lm.copy, grid, lm.grid((4, 4), dtype="f4"))
    twice = lm.kernel(PLAIN, "twice")
    fails(TypeError, "2 arguments, but it takes 1: u", twice, grid, grid)
    fails(TypeError, "u missing", twice)
    fails(TypeError, "'v' is no parameter", twice, grid, v=1)
    fails(TypeError, "'u' is given twice", twice, grid, u=grid)
    fails(TypeError, "u is an array: give a grid, not float", twice, 1.0)
    fails(TypeError, "u has elements of f64, the grid float32", twice, lm.grid(4, dtype="f4"))
    mix = lm.kernel(KERNELS, "mix")
    some = lm.array(np.zeros((4, 4)), ghosts=2)
    fails(ValueError, "its results are waited for", mix, some, some, lm.grid((4, 4), 2, "i4"), 1, 1, some, wait=False)
    assert fails(lm.Error, "no such kernel", lm.kernel, PLAIN, "thrice").name == "META_ERR_ARGUMENT"
    fails(lm.Error, "wrong.kernel.h", lm.kernel, PLAIN.replace("ON(u);", "OFF(u);"), "twice", file="wrong.kernel.h")
    fails(lm.Error, "libmeta is started", lm.init)


def numbers_that_do_not_fit_are_errors():
    for dtype, right, wrong in (("u1", (0, 255, 7.0, np.uint64(9), True), (256, -1, 0.5, np.int64(-3), 1e300, np.nan)),
                                ("i8", (-2**63, 2**63 - 1, -1.0), (2**63, -2**63 - 1, 2.0**63, 1.5)),
                                ("u8", (2**64 - 1,), (2**64, -1, 2.0**64)),
                                ("f4", (0.1, np.inf, -np.inf, 3e38, 2**100), (1e39, -1e300, 2**200))):
        grid = lm.grid((3,), ghosts=1, dtype=dtype)
        for number in right:
            expected = np.dtype(dtype).type(number)
            grid.fill(number)
            assert (grid.get() == expected).all(), (dtype, number)
            assert (lm.array([number] * 3, dtype=dtype).get() == expected).all(), (dtype, number)
            assert (grid.put([number] * 3).get() == expected).all(), (dtype, number)
        for number in wrong:
            for call in (grid.fill, lambda n: grid.put([1, n, 1])):
                try:
                    call(number)
                    raise AssertionError(f"{number} is taken for {dtype}")
                except (OverflowError, TypeError):
                    pass
        assert (grid.get() == expected).all()  # nothing was written
    grid = lm.grid((4,), dtype="i4")
    fails(OverflowError, "fill: the value is 2147483648: give -2147483648 to 2147483647", grid.fill, 2**31)
    fails(OverflowError, "put: the values have 4294967296, which int32 does not hold", grid.put, [1, 2, 3, 2**32])
    fails(TypeError, "give a whole number", grid.fill, 0.5)
    fails(TypeError, "give a number", lm.grid(4).fill, "3")
    fails(OverflowError, "axpy: the factor", lm.axpy, grid, 2**40, grid)
    # What NumPy counts with is as good as Python's.
    five = np.array([5])[0]
    assert lm.grid(five).shape == (5,) and lm.grid((five, np.uint8(3)), ghosts=np.int16(2)).low == (2, 2)
    assert lm.grid((five,), ghosts=(five,)).fill(1).sum(((np.int8(1),), (five,))) == 4
    fails(TypeError, "shape: an extent is 2.5", lm.grid, (2.5, 3))
    fails(OverflowError, "shape: an extent", lm.grid, 2**64)
    fails(OverflowError, "ghosts: a width", lm.grid, 4, 2**32)
    fails(OverflowError, "box: an index", grid.sum, ((0,), (2**63,)))
    fails(TypeError, "box: an index", grid.sum, ((0,), (1.5,)))
    fails(OverflowError, "set_device: the number", lm.set_device, "openmp", 2**32)
    scaled = lm.kernel(PLAIN.replace("A(INOUT, T, u)", "A(INOUT, T, u) A(VALUE, int32_t, k)"), "twice")
    scaled(lm.grid(4).fill(1), np.int64(100))
    fails(OverflowError, "twice: k is 2147483648: give -2147483648 to 2147483647", scaled, lm.grid(4), 2**31)


def a_child_ends_in_silence():
    program = "import os, sys, libmeta as lm; lm.array([1.0]).sum()\nif os.fork() == 0: sys.exit(0)\nsys.exit(os.wait()[1])"
    # Python 3.12 and later warn of every fork() where there are threads.
    quiet = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    ended = subprocess.run(quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert (ended.returncode, ended.stdout) == (0, b""), ended


def a_life_ends_and_another_begins():
    grid = lm.array([1.0, 2.0])
    lm.finalize()
    lm.finalize()
    assert fails(lm.Error, "was finalized", grid.sum).name == "META_ERR_INIT"
    fails(lm.Error, "was finalized", lm.devices)
    lm.init()
    assert lm.array([1.0, 2.0]).sum() == 3
    fails(lm.Error, "was freed", grid.sum)
    with open(os.path.join(os.environ["META_TEST_SRCDIR"], "core", "meta.h"), encoding="utf-8") as header:
        said = re.findall(r"define META_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read())
    assert lm.version() == tuple(map(int, said)) and len(said) == 3


broken = 0
for promise in (structures_and_numbers_are_those_of_c, an_array_comes_back_as_it_was,
                boxes_count_from_the_first_owned_cell, a_view_is_the_memory_itself_where_the_host_has_it,
                memory_goes_with_the_last_reference, results_are_those_of_numpy, stencils_are_averages,
                kernels_from_text_compute, a_family_has_cells_faces_and_nodes_of_the_same_cells,
                errors_of_families_say_what_is_wrong, devices_are_listed_and_chosen, errors_have_the_librarys_message,
                numbers_that_do_not_fit_are_errors, a_child_ends_in_silence,
                a_life_ends_and_another_begins, gray_scott_has_the_bits_of_plain_loops):
    try:
        promise()
        print("kept  ", promise.__name__)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        print("BROKEN", promise.__name__)
        broken = 1
sys.exit(broken)
