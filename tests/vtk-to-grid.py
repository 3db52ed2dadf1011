# SPDX-License-Identifier: BSD-3-Clause
# Reads FILE.pvti with VTK's own reader and writes the grid as the file of --grid-out has it, in the
# type of the file: vtk-to-grid.py FILE.pvti GRID
import sys

import vtk

reader = vtk.vtkXMLPImageDataReader()
wrong = []
for event in ("ErrorEvent", "WarningEvent"):
    reader.AddObserver(event, lambda *unused: wrong.append(1))
reader.SetFileName(sys.argv[1])
reader.Update()
image = reader.GetOutput()
arrays = image.GetCellData()
if wrong or arrays.GetNumberOfArrays() == 0:
    sys.exit("VTK cannot read " + sys.argv[1])
with open(sys.argv[2], "wb") as grid:
    for k in range(arrays.GetNumberOfArrays()):
        array = arrays.GetArray(k)
        if array.GetName() != "variable %d" % (k + 1):
            sys.exit("array %d is called %s" % (k, array.GetName()))
        if array.GetNumberOfTuples() != image.GetNumberOfCells():
            sys.exit("%s has %d cells" % (array.GetName(), array.GetNumberOfTuples()))
        grid.write(memoryview(array))
