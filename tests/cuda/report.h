/* SPDX-License-Identifier: BSD-3-Clause */
/** @file report.h
 *  What goes into the file that FAKE_CUDA_REPORT names. */
#ifndef META_TEST_CUDA_REPORT_H
#define META_TEST_CUDA_REPORT_H

void report_call(const char *name);
/** A kernel is launched. */
void report_kernel(const char *name);
/** A call is made while the thread's last error, @p error, has not been read. */
void report_pending(const char *name, const char *error);
void report_misuse(const char *text);

#endif
