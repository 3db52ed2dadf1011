/* SPDX-License-Identifier: BSD-3-Clause */
/** @file binding.h
 *  What the Fortran binding needs of libmeta_comm beyond its public header. */
#ifndef META_COMM_BINDING_H
#define META_COMM_BINDING_H

#include "meta_comm.h"

/** Where this thread's next collective call fails on this rank, all ranks are told @p code and @p
 * text in place of what that call found: its caller looked closer and calls it only so that the
 * others need not wait. @p text is read in that call; META_OK takes it back. */
META_API void meta_comm_refuse(meta_err code, const char *text);

#endif
