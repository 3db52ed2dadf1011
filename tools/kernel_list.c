/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_list.c
 *  The kernels that shared objects hold. Kernels are registered when their object is loaded, so it
 * is opened here, and what was added to the registry is its own. */
#include "config.h"

#include "kernel_list.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "meta_backend.h"

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {
        [META_PARAMETER_OUT] = "OUT",       [META_PARAMETER_INOUT] = "INOUT",
        [META_PARAMETER_IN] = "IN",         [META_PARAMETER_ADD] = "ADD",
        [META_PARAMETER_SCALAR] = "SCALAR", [META_PARAMETER_VALUE] = "VALUE",
        [META_PARAMETER_SUM] = "SUM",       [META_PARAMETER_MIN] = "MIN",
        [META_PARAMETER_MAX] = "MAX",       [META_PARAMETER_MIN_AT] = "MIN_AT",
        [META_PARAMETER_MAX_AT] = "MAX_AT"};
    return kind < sizeof names / sizeof *names ? names[kind] : "?";
}

static bool is_symmetric(const meta_kernel_parameter *p)
{
    for (int d = 0; d < META_KERNEL_DIMS; ++d)
        if (p->low[d] != p->low[0] || p->high[d] != p->low[0]) return false;
    return true;
}

/* As the kernel file has it. */
static const char *reach_text(const meta_kernel_parameter *p, char *text, size_t room)
{
    const bool has_reach = p->kind == META_PARAMETER_IN || p->kind == META_PARAMETER_ADD;
    switch (has_reach || p->kind == META_PARAMETER_INOUT ? p->reach : META_PARAMETER_CELL) {
    case META_PARAMETER_STAR:
        snprintf(text, room, "STAR(%d)", p->low[0]);
        break;
    case META_PARAMETER_BOX:
        if (is_symmetric(p)) snprintf(text, room, "BOX(%d)", p->low[0]);
        else
            snprintf(text, room, "SIDES(%d, %d, %d, %d, %d, %d)", p->low[0], p->high[0], p->low[1],
                     p->high[1], p->low[2], p->high[2]);
        break;
    case META_PARAMETER_WHOLE:
        snprintf(text, room, "WHOLE");
        break;
    default:
        snprintf(text, room, "%s", has_reach ? "CELL" : "");
    }
    return text;
}

/* Its shape, where it is not the box's; every part begins with a comma. */
static const char *shape_text(const meta_kernel_parameter *p, char *text, size_t room)
{
    const bool is_plane = (p->dropped & (p->dropped - 1)) == 0;
    int used = 0;
    *text = '\0';
    if (p->dropped)
        used = snprintf(text, room, ", %s(%d)", is_plane ? "PLANE" : "LINE",
                        __builtin_ctz(is_plane ? p->dropped : ~p->dropped));
    if (p->grown[0] || p->grown[1] || p->grown[2])
        snprintf(text + used, room - (size_t)used, ", GROWN(%d, %d, %d)", p->grown[0], p->grown[1],
                 p->grown[2]);
    return text;
}

static void print_kernel(const meta_kernel *k)
{
    char reach[64], shape[64];
    printf("  %s %s, %s", k->name, meta_element_name((uint32_t)k->type), k->file);
    if (k->team)
        printf(", teams of %u x %u x %u", (unsigned)k->team->extent[0],
               (unsigned)k->team->extent[1], (unsigned)k->team->extent[2]);
    printf("\n");
    for (uint32_t n = 0; n < k->parameters; ++n) {
        const meta_kernel_parameter *p = &k->parameter[n];
        reach_text(p, reach, sizeof reach);
        printf("    %-6s %s %s%s%s%s\n", kind_name(p->kind), p->type_name, p->name,
               *reach != '\0' ? ", " : "", reach, shape_text(p, shape, sizeof shape));
    }
    for (uint32_t n = 0; k->team && n < k->team->shareds; ++n)
        printf("    SHARED %s %s, %u\n", k->team->shared[n].type_name, k->team->shared[n].name,
               (unsigned)k->team->shared[n].count);
}

static void write_team(json *j, const meta_kernel_team *team)
{
    json_open(j, "team", '[');
    for (int d = 0; d < META_KERNEL_TEAM_DIMS; ++d) json_number(j, NULL, team->extent[d]);
    json_close(j, ']');
    json_open(j, "shared", '[');
    for (uint32_t n = 0; n < team->shareds; ++n) {
        json_open(j, NULL, '{');
        json_string(j, "type", team->shared[n].type_name);
        json_string(j, "name", team->shared[n].name);
        json_number(j, "count", team->shared[n].count);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_kernel(json *j, const char *object, const meta_kernel *k)
{
    char reach[64], shape[64];
    json_open(j, NULL, '{');
    json_string(j, "object", object);
    json_string(j, "name", k->name);
    json_string(j, "type", meta_element_name((uint32_t)k->type));
    json_string(j, "file", k->file);
    json_open(j, "parameters", '[');
    for (uint32_t n = 0; n < k->parameters; ++n) {
        const meta_kernel_parameter *p = &k->parameter[n];
        json_open(j, NULL, '{');
        json_string(j, "kind", kind_name(p->kind));
        json_string(j, "type", p->type_name);
        json_string(j, "name", p->name);
        reach_text(p, reach, sizeof reach);
        json_string(j, "reach", *reach != '\0' ? reach : NULL);
        shape_text(p, shape, sizeof shape);
        json_string(j, "shape", *shape != '\0' ? shape + 2 : NULL);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (k->team) write_team(j, k->team);
    json_close(j, '}');
}

/* The kernels that were registered after the first @p before. */
static void list_from(int before, const char *object, json *j)
{
    int count = before;
    meta_kernel_count(&count);
    if (!j)
        printf("%s: %d %s\n", object, count - before, count - before == 1 ? "kernel" : "kernels");
    for (int k = before; k < count; ++k) {
        meta_kernel *kernel;
        if (meta_kernel_at(k, &kernel) != META_OK) continue;
        if (j) write_kernel(j, object, kernel);
        else print_kernel(kernel);
    }
}

/* A name without a folder would be looked for in the folders of libraries. */
static bool open_object(const char *file)
{
    char path[PATH_MAX];
    const char *from = realpath(file, path) != NULL ? path : file;
    if (dlopen(from, RTLD_NOW | RTLD_LOCAL) != NULL) return true;
    fprintf(stderr, "meta-info: %s\n", dlerror());
    return false;
}

bool kernel_list(int count, char *const *files, bool as_json)
{
    json j = {.to = stdout};
    bool all = true;
    if (as_json) json_open(&j, NULL, '{'), json_open(&j, "kernels", '[');
    for (int k = 0; k < count && all; ++k) {
        int before = 0;
        meta_kernel_count(&before);
        all = open_object(files[k]);
        if (all) list_from(before, files[k], as_json ? &j : NULL);
    }
    if (as_json) json_close(&j, ']'), json_close(&j, '}');
    return all;
}
