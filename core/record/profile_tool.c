/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_tool.c
 *  Callbacks of an external tool (meta_set_tool()). */
#include "record/recorder.h"

static _Atomic uint64_t last_id;
static meta_tool tool;

void meta_tool_set(const meta_tool *wanted)
{
    tool = *wanted;
}

void meta_tool_begin(meta_activity activity, const char *name, uint64_t bytes, uint64_t *id)
{
    if (!(meta_profile_flags & META_PROFILE_TOOL)) return;
    *id = ++last_id;
    if (tool.begin) tool.begin(tool.user, activity, name, bytes, *id);
}

void meta_tool_end(meta_activity activity, uint64_t id, uint64_t begin, uint64_t end)
{
    if (id == 0 || !(meta_profile_flags & META_PROFILE_TOOL) || !tool.end) return;
    tool.end(tool.user, activity, id, begin, end);
}
