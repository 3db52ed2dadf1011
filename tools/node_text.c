/* SPDX-License-Identifier: BSD-3-Clause */
/** @file node_text.c
 *  The node as a tree, one line for each part. */
#include "config.h"

#include "node.h"

enum { LINE = 640 };

static void write_range(int first, int last, FILE *to)
{
    if (last > first) fprintf(to, " %d-%d", first, last);
    else fprintf(to, " %d", first);
}

/* Those that this process may use, or those that it may not: "0-3 8 10-11". */
static void write_cores(const node_domain *d, const char *name, bool is_excluded, FILE *to)
{
    int first = -1, last = -1;
    for (int k = 0; k < d->core_count; ++k) {
        if (d->is_excluded[k] != is_excluded) continue;
        if (first < 0) fprintf(to, "    %s", name);
        if (first >= 0 && d->cores[k] != last + 1) write_range(first, last, to);
        if (first < 0 || d->cores[k] != last + 1) first = d->cores[k];
        last = d->cores[k];
    }
    if (first < 0) return;
    write_range(first, last, to);
    fputc('\n', to);
}

static void write_device(const node *n, int device, FILE *to)
{
    char name[64], text[LINE];
    const node_device *d = &n->devices[device];
    node_name_device(d, name, sizeof name);
    node_describe_device(d, text, sizeof text);
    fprintf(to, "    %s  %s: %s\n", name, d->desc.name, text);
    for (int k = 0; k < n->rank_count; ++k) {
        if (n->ranks[k].device != device) continue;
        node_name_rank(&n->ranks[k], text, sizeof text);
        fprintf(to, "      %s\n", text);
    }
}

static void write_devices(const node *n, int domain, FILE *to)
{
    for (int d = 0; d < n->device_count; ++d)
        if (n->devices[d].domain == domain) write_device(n, d, to);
}

static void write_domain(const node *n, int domain, FILE *to)
{
    const node_domain *d = &n->domains[domain];
    fprintf(to, "  %s\n", *d->memory != '\0' ? d->memory : "memory not known");
    write_cores(d, "cores", false, to);
    write_cores(d, "cores that this process may not use:", true, to);
    write_devices(n, domain, to);
}

void node_write_text(const node *n, FILE *to)
{
    char text[LINE];
    bool has_others = false;
    node_describe(n, text, sizeof text);
    fprintf(to, "%s\n", text);
    for (int package = -1; package < node_packages(n); ++package) {
        bool is_named = false;
        for (int d = 0; d < n->domain_count; ++d) {
            if (n->domains[d].package != package) continue;
            if (!is_named && package >= 0) fprintf(to, "package %d\n", package);
            else if (!is_named) fprintf(to, "packages not known\n");
            is_named = true;
            write_domain(n, d, to);
        }
    }
    for (int d = 0; d < n->device_count; ++d) has_others |= n->devices[d].domain < 0;
    if (has_others) fprintf(to, "whole node\n");
    write_devices(n, -1, to);
    for (int k = 0; k < n->rank_count; ++k) {
        if (n->ranks[k].device >= 0) continue;
        node_name_rank(&n->ranks[k], text, sizeof text);
        fprintf(to, "%s\n", text);
    }
}
