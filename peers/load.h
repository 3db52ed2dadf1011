/* SPDX-License-Identifier: BSD-3-Clause */
/** @file load.h
 *  Finds and opens the peer of a back end. */
#ifndef META_PEER_LOAD_H
#define META_PEER_LOAD_H

#include "peer.h"

/** Open the peer installed next to the plugin of @p mode, on device @p index of that mode.
 *  @return its table, with the peer in @p peer; or NULL, with a message in @p reason that names the
 * file and the remedy. The module stays loaded. */
const meta_peer_table *peer_open(meta_mode mode, int index, meta_peer **peer, char *reason,
                                 size_t room);

#endif
