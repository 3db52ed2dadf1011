# SPDX-License-Identifier: BSD-3-Clause
"""What h5py and NumPy find in files of libmeta, and files that they write for it; see test_io_readers.sh."""

import sys
import xml.etree.ElementTree

import numpy

RHO = 0.25 * numpy.arange(7 * 5 * 4).reshape(4, 5, 7) + 3000
ID = numpy.arange(7 * 5 * 4, dtype="i4").reshape(4, 5, 7) - 5
MASK = (numpy.arange(18) + 250).astype("u1").reshape(3, 6)


def equal(found, expected):
    """The same elements of the same type and shape."""
    assert found.dtype == expected.dtype, (found.dtype, expected.dtype)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    assert found.tobytes() == expected.tobytes(), (found, expected)


def read_npy(path):
    """rho as an array of NumPy, mapped as well."""
    equal(numpy.load(path), RHO)
    equal(numpy.asarray(numpy.load(path, mmap_mode="r")), RHO)


def read_hdf5(path):
    """All fields and attributes, and what the XDMF file says of them."""
    import h5py

    with h5py.File(path, "r") as file:
        equal(file["rho"][...], RHO)
        equal(file["id"][...], ID)
        equal(file["mask"][...], MASK)
        assert sorted(file) == ["id", "mask", "rho"], list(file)
        assert file["rho"].chunks is not None
        assert file.attrs["time"] == 1.5
        title = file.attrs["title"]
        assert (title.decode() if isinstance(title, bytes) else title) == "Grüße <&>", title
        assert list(file.attrs["numbers"]) == [1, -2, 3]
    tree = xml.etree.ElementTree.parse(path + ".xmf").getroot()
    grids = tree.findall("Domain/Grid")
    assert [grid.get("Name") for grid in grids] == ["7x5x4", "6x3"]
    assert grids[0].find("Topology").attrib == {"TopologyType": "3DCoRectMesh", "Dimensions": "5 6 8"}
    corner, edges = grids[0].findall("Geometry/DataItem")
    assert [float(x) for x in corner.text.split()] == [0, 0, -1]
    assert [float(x) for x in edges.text.split()] == [1, 1, 0.5]
    assert float(grids[0].find("Time").get("Value")) == 1.5
    sets = {}
    for attribute in tree.iter("Attribute"):
        item = attribute.find("DataItem")
        sets[attribute.get("Name")] = (item.text, item.get("Dimensions"), item.get("NumberType"), item.get("Precision"))
        assert attribute.get("Center") == "Cell"
    name = path.split("/")[-1]
    assert sets == {
        "rho": (name + ":/rho/", "4 5 7", "Float", "8"),
        "id": (name + ":/id/", "4 5 7", "Int", "4"),
        "mask": (name + ":/mask/", "3 6", "UChar", "1"),
    }, sets


def read_vtk(path):
    """Fields and attributes as VTK reads them, and the times of the series."""
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkXMLImageDataReader()
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    assert image.GetDimensions() == (8, 6, 5), image.GetDimensions()
    assert image.GetOrigin() == (-1, 0, 0) and image.GetSpacing() == (0.5, 1, 1)
    cells = image.GetCellData()
    assert cells.GetNumberOfArrays() == 2
    equal(vtk_to_numpy(cells.GetArray("rho")).reshape(RHO.shape), RHO)
    equal(vtk_to_numpy(cells.GetArray("id")).reshape(ID.shape), ID)
    about = image.GetFieldData()
    assert about.GetArray("TimeValue").GetValue(0) == 1.5
    assert [about.GetArray("numbers").GetValue(k) for k in range(3)] == [1, -2, 3]
    assert about.GetAbstractArray("title").GetValue(0) == "Grüße <&>"


def read_series(path, *times):
    """The files of a series, by their times."""
    tree = xml.etree.ElementTree.parse(path).getroot()
    assert [float(item.get("timestep")) for item in tree.iter("DataSet")] == [float(time) for time in times]
    for item in tree.iter("DataSet"):
        with open(item.get("file"), "rb") as file:
            assert file.read(8) == b"<VTKFile"


def write_npy(folder):
    """Arrays as NumPy stores them: in Fortran's order, of other versions and byte orders, of other types."""
    from numpy.lib import format as npy

    numpy.save(folder + "/plain.npy", RHO)
    numpy.save(folder + "/fortran.npy", numpy.asfortranarray(RHO))
    with open(folder + "/version2.npy", "wb") as file:
        npy.write_array(file, RHO, version=(2, 0))
    numpy.save(folder + "/line.npy", numpy.arange(11, dtype="u2"))
    numpy.save(folder + "/foreign.npy", RHO.astype(RHO.dtype.newbyteorder()))
    numpy.save(folder + "/complex.npy", RHO.astype("c16"))
    numpy.save(folder + "/scalar.npy", numpy.float64(1))
    numpy.save(folder + "/none.npy", numpy.zeros((3, 0)))


def write_hdf5(path):
    """Datasets of every layout, and others that are no fields."""
    import h5py

    with h5py.File(path, "w") as file:
        file["whole"] = RHO
        file.create_dataset("packed", data=RHO, chunks=(1, 3, 4), compression="gzip", shuffle=True)
        file.create_dataset("foreign", data=RHO.astype(">f8"))
        file.create_dataset("tall", data=RHO, maxshape=(None, 5, 7))
        file.create_dataset("small", data=ID.astype("<i2"))
        file["text"] = "no field"
        file["single"] = 3.0
        file["pairs"] = RHO.astype("c16")
        file.create_group("group")["inner"] = RHO
        file.create_dataset("empty", shape=(0, 3))
        file["half"] = RHO.astype("f2")
        file["words"] = ["of", "a", "text"]
        file["elsewhere"] = h5py.SoftLink("/whole")
        file.attrs["text"] = "of variable length"
        file.attrs["texts"] = ["several", "of them"]
        file.attrs["flag"] = True
    with h5py.File(path + "-blocked", "w", userblock_size=2048) as file:
        file["whole"] = RHO
    with open(path + "-blocked", "r+b") as file:
        file.write(b"what the program likes")
    with h5py.File(path + "-bare", "w") as file:
        file.create_group("group")


def main():
    """Run one of the functions above, or compare two arrays."""
    what, *arguments = sys.argv[1:]
    if what == "same":
        wanted = {"rho": RHO, "small": ID.astype("i2"), "line": numpy.arange(11, dtype="u2")}
        equal(numpy.load(arguments[0]), wanted[arguments[1]])
    else:
        globals()[what](*arguments)


main()
