# SPDX-License-Identifier: BSD-3-Clause
"""Devices."""

import ctypes

from ._library import check, library
from ._types import whole


class _BackendDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("mode", ctypes.c_int), ("usable", ctypes.c_int), ("devices", ctypes.c_int),
                ("name", ctypes.c_char * 32), ("description", ctypes.c_char * 128), ("reason", ctypes.c_char * 256),
                ("path", ctypes.c_char * 1024)]


class _DeviceDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("mode", ctypes.c_int), ("index", ctypes.c_int),
                ("backend", ctypes.c_char * 32), ("name", ctypes.c_char * 128), ("driver", ctypes.c_char * 128),
                ("memory", ctypes.c_uint64), ("compute_units", ctypes.c_int), ("has_f64", ctypes.c_int),
                ("is_host", ctypes.c_int), ("is_gpu", ctypes.c_int), ("pci", ctypes.c_char * 16)]


class Device:
    """A device: `backend`, `index`, `name`, `driver`, `memory` in bytes, `compute_units`, `has_f64`, `is_host`,
    `is_gpu`; as a string "opencl:0", which set_device() takes."""

    def __init__(self, desc):
        self.backend, self.index = desc.backend.decode(), desc.index
        self.name, self.driver = desc.name.decode(), desc.driver.decode()
        self.memory, self.compute_units = desc.memory, desc.compute_units
        self.has_f64, self.is_host, self.is_gpu = bool(desc.has_f64), bool(desc.is_host), bool(desc.is_gpu)

    def __str__(self):
        return f"{self.backend}:{self.index}"

    def __repr__(self):
        return f"<{self}: {self.name}>"


def _describe(mode, index):
    desc = _DeviceDesc(size=ctypes.sizeof(_DeviceDesc))
    check(library().meta_device_info(index, mode, ctypes.byref(desc)))
    return Device(desc)


def devices():
    """The devices of all back ends. Those that are missing are not listed; meta-info says why."""
    count, found = ctypes.c_int(), []
    check(library().meta_backend_count(ctypes.byref(count)))
    for k in range(count.value):
        desc = _BackendDesc(size=ctypes.sizeof(_BackendDesc))
        check(library().meta_backend_info(k, ctypes.byref(desc)))
        found += [_describe(desc.mode, index) for index in range(desc.devices if desc.usable else 0)]
    return found


def device():
    """The device that grids are made on, in this thread."""
    index, mode = ctypes.c_int(), ctypes.c_int()
    check(library().meta_get_acc(ctypes.byref(index), ctypes.byref(mode)))
    return _describe(mode.value, index.value)


def set_device(name, index=None):
    """Make grids on this device from now on, in this thread: "opencl", "opencl:1" or a Device; "spread" is the
    process's own again."""
    name, colon, number = str(name).partition(":")
    if colon:
        if not number.isdigit():
            raise ValueError(f"set_device: '{name}:{number}' is no device: give a back end's name and a number")
        index = int(number)
    index = 0 if index is None else whole(index, "set_device: the number", 0, 2**31 - 1)
    mode = ctypes.c_int()
    check(library().meta_mode_find(name.encode(), ctypes.byref(mode)))
    check(library().meta_set_acc(index, mode.value))
