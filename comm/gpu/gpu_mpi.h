/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_mpi.h
 *  Whether MPI is given GPU memory itself: META_GPU_MPI. */
#ifndef META_COMM_GPU_MPI_H
#define META_COMM_GPU_MPI_H

#include "progress/progress.h"

/** Read META_GPU_MPI. */
meta_err comm_gpu_mpi_read(void);
/** Find out whether MPI takes this rank's device memory, and decide with all ranks, into
 *  `comm_job.direct`. After the device was chosen; collective over comm_job.messages. */
meta_err comm_gpu_mpi_decide(void);
/** Whether MPI is given memory of @p device: it is the one that was tried. */
bool comm_gpu_mpi_takes(const meta_device *device);

#endif
