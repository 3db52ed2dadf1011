/* SPDX-License-Identifier: BSD-3-Clause */
/** @file wire.h
 *  What marks a message as libmeta's own. */
#ifndef META_COMM_WIRE_H
#define META_COMM_WIRE_H

#define COMM_MAGIC        0x636d656du /* "memc" */
#define COMM_WIRE_VERSION 3           /* grows when the header or a plan's offer changes */

#endif
