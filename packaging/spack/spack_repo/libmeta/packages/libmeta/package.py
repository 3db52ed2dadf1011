# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe of libmeta. This folder is part of a repository for Spack:

    tar xf libmeta-0.2.0.tar.gz
    spack repo add libmeta-0.2.0/packaging/spack/spack_repo/libmeta
    spack install --no-checksum libmeta +cuda cuda_arch=90     # where libmeta-0.2.0.tar.gz is
"""
import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
    from spack_repo.builtin.build_systems.rocm import ROCmPackage
except ImportError:
    pass  # Before Spack 1.0, spack.package has them.


class Libmeta(AutotoolsPackage, CudaPackage, ROCmPackage):
    """One MPI program for structured grids on mixed devices: CPU cores, OpenCL devices and GPUs. Device memory
    addressed like an array, grid kernels, kernels of the program's own, and halo exchange."""

    # The release is taken from the current folder or a mirror.
    manual_download = True
    url = "file://{0}/libmeta-0.2.0.tar.gz".format(os.getcwd())
    download_instr = "Run spack in the folder of libmeta's release (libmeta-VERSION.tar.gz), or put it in a mirror."
    license("BSD-3-Clause")

    version("0.2.0")

    variant("mpi", default=True, description="Messages, halo exchange, and the applications")
    variant("fortran", default=True, description="The Fortran modules")
    variant("openmp", default=True, description="The back end for CPU cores")
    variant("opencl", default=False, description="The back end for OpenCL devices")
    variant("hwloc", default=True, description="Learn which cores a process may use")
    variant("blas", default=False, description="Compare with OpenBLAS, and with CLBlast where there is opencl")
    variant("pictures", default=False, description="Pictures of the grid, and compressed files for VTK")
    variant("jansson", default=False, description="Run the tests that read JSON")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cxx", type="build", when="+rocm")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cmake", type="test")
    depends_on("mpi@3:", when="+mpi")
    depends_on("opencl@1.2:", when="+opencl")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("openblas", when="+blas")
    depends_on("clblast", when="+blas+opencl")
    depends_on("libpng", when="+pictures")
    depends_on("zlib-api", when="+pictures")
    depends_on("jansson", when="+jansson")
    depends_on("hip", when="+rocm")

    conflicts("+blas", when="~openmp", msg="OpenBLAS is the peer of the OpenMP back end: use +openmp")

    def setup_build_environment(self, env):
        # Optimization is configure's own, larger for kernels than for the rest; CFLAGS would replace it.
        if self.spec.satisfies("+cuda"):
            env.set("CUDA_HOME", self.spec["cuda"].prefix)
        if self.spec.satisfies("+rocm"):
            env.set("ROCM_PATH", self.spec["hip"].prefix)

    def setup_run_environment(self, env):
        # For programs that users link by pkg-config, and for the Python module.
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib)

    def mpi_choice(self):
        if self.spec.satisfies("~mpi"):
            return "no"
        mpi = self.spec["mpi"]
        # Debian's MPIs share a prefix: mpicc is one of them, mpicc.mpich and mpicc.openmpi are each one's own.
        if os.path.exists(os.path.join(mpi.prefix, "bin", "mpicc." + mpi.name)):
            return mpi.name
        return mpi.prefix

    def configure_args(self):
        spec = self.spec
        args = [
            "--with-{0}={1}".format(option, "yes" if spec.satisfies("+" + variant) else "no")
            for option, variant in (
                ("fortran", "fortran"),
                ("openmp", "openmp"),
                ("opencl", "opencl"),
                ("hwloc", "hwloc"),
                ("blas", "blas"),
                ("png", "pictures"),
                ("zlib", "pictures"),
                ("jansson", "jansson"),
                ("cuda", "cuda"),
                ("hip", "rocm"),
            )
        ]
        args.append("--with-clblast={0}".format("yes" if spec.satisfies("+blas+opencl") else "no"))
        args.append("--with-mpi={0}".format(self.mpi_choice()))
        for variant, targets, option in (("cuda", "cuda_arch", "cuda-arch"), ("rocm", "amdgpu_target", "hip-arch")):
            if spec.satisfies("+" + variant):
                chosen = [target for target in spec.variants[targets].value if target != "none"]
                if chosen:
                    args.append("--with-{0}={1}".format(option, ",".join(chosen)))
        return args

    def test_back_ends(self):
        """meta-info finds the back ends usable"""
        text = Executable(os.path.join(self.prefix, "bin", "meta-info"))(output=str)
        for variant in ("openmp", "opencl", "cuda"):
            # A device may be missing here, but not the module.
            assert self.spec.satisfies("~" + variant) or "/{0}.so".format(variant) in text, text
