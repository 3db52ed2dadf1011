/* SPDX-License-Identifier: BSD-3-Clause */
/** @file print.c
 *  A measured row as a line of a table or as a JSON object. */
#include "config.h"

#include "print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "job.h"
#include "json.h"

enum { NAME_WIDTH = 34, PEER_WIDTH = 11 };

/* The group whose column headings were printed last. */
static const group *current;

static bool in_table(const options *o)
{
    return job_here()->rank == 0 && !o->json;
}

void print_place(const options *o, const place *p)
{
    const int ranks = job_here()->size;
    if (!in_table(o)) return;
    printf("meta-bench %s: %d %s on %s; rank 0: %s", PACKAGE_VERSION, ranks,
           ranks == 1 ? "process" : "ranks", p->backends, p->device.name);
    if (p->threads > 0) printf(", %d %s", p->threads, p->threads == 1 ? "thread" : "threads");
    printf(
        "\nmedians of %d rounds; above 1 in a peer's column: libmeta is that many times faster\n",
        o->rounds);
    if (p->has_peer) printf("raw: %s\n", p->table->launch);
    if (p->has_blas) printf("vendor: %s\n", p->table->blas);
    else if (p->table != NULL && p->table->no_blas != NULL)
        printf("vendor: none, %s\n", p->table->no_blas);
}

void print_columns(const options *o, const group *g)
{
    current = g;
    if (!in_table(o)) return;
    printf("\n%-*s %9s %9s %9s %8s  %-14s %8s %8s", NAME_WIDTH, g->name, "median", "least", "most",
           "GB/s", "limit", "GB/s", "fraction");
    for (const char *const *name = g->peers; *name != NULL; ++name)
        printf(" %*s", PEER_WIDTH, *name);
    if (g->extra != NULL) printf(" %*s", PEER_WIDTH, g->extra);
    printf("\n");
    fflush(stdout);
}

static void print_seconds(double s)
{
    if (s < 1e-6) printf(" %6.1f ns", 1e9 * s);
    else if (s < 1e-3) printf(" %6.2f us", 1e6 * s);
    else if (s < 1) printf(" %6.2f ms", 1e3 * s);
    else printf(" %6.3f s ", s);
}

static void print_number(int width, int digits, double value)
{
    if (isnan(value)) printf(" %*s", width, "-");
    else printf(" %*.*f", width, digits, value);
}

static void print_peer(const figures *f, const char *name)
{
    for (int k = 0; k < f->peers; ++k)
        if (strcmp(f->peer[k].name, name) == 0) {
            print_number(PEER_WIDTH, 2, f->peer[k].ratio);
            return;
        }
    print_number(PEER_WIDTH, 2, NAN);
}

static void print_line(const row *r, const figures *f)
{
    printf("%-*s", NAME_WIDTH, r->name);
    print_seconds(f->seconds.median);
    print_seconds(f->seconds.least);
    print_seconds(f->seconds.most);
    print_number(8, 2, f->gbps);
    printf("  %-14s", f->limit != NULL ? f->limit : "-");
    print_number(8, 2, f->limit_gbps);
    print_number(8, 3, f->fraction);
    for (const char *const *name = current->peers; *name != NULL; ++name) print_peer(f, *name);
    if (!isnan(f->sector_fraction)) print_number(PEER_WIDTH, 3, f->sector_fraction);
    if (!isnan(f->over_raw_seconds)) printf(" %8.2f us", 1e6 * f->over_raw_seconds);
    if (!isnan(f->over_fixed_seconds)) printf(" %8.3f us", 1e6 * f->over_fixed_seconds);
    if (!isnan(f->hidden)) printf(" %*.2f hidden", PEER_WIDTH, f->hidden);
    if (!isnan(f->peer_seconds.least)) {
        printf("  ");
        print_seconds(f->peer_seconds.least);
    }
    printf("\n");
}

static void write_object(const place *p, const row *r, const figures *f)
{
    json j = {.to = stdout, .line = true};
    json_open(&j, NULL, '{');
    json_string(&j, "name", r->name);
    json_string(&j, "backend", p->backends);
    json_number(&j, "ranks", job_here()->size);
    json_number(&j, "threads", p->threads);
    json_real(&j, "seconds", f->seconds.median);
    json_real(&j, "seconds_min", f->seconds.least);
    json_real(&j, "seconds_max", f->seconds.most);
    json_real(&j, "gbps", f->gbps);
    json_string(&j, "limit", f->limit);
    json_real(&j, "limit_gbps", f->limit_gbps);
    json_real(&j, "fraction", f->fraction);
    if (!isnan(f->sector_fraction)) json_real(&j, "sector_fraction", f->sector_fraction);
    if (!isnan(f->over_raw_seconds)) json_real(&j, "over_raw_seconds", f->over_raw_seconds);
    if (!isnan(f->over_fixed_seconds)) json_real(&j, "over_fixed_seconds", f->over_fixed_seconds);
    if (!isnan(f->hidden)) json_real(&j, "hidden", f->hidden);
    if (r->messages > 0) json_number(&j, "messages", r->messages);
    for (int k = 0; k < f->peers; ++k) {
        char key[64];
        snprintf(key, sizeof key, "%s_ratio", f->peer[k].name);
        json_real(&j, key, f->peer[k].ratio);
        if (k > 0 || isnan(f->peer_seconds.least)) continue;
        snprintf(key, sizeof key, "%s_seconds", f->peer[k].name);
        json_real(&j, key, f->peer_seconds.median);
        snprintf(key, sizeof key, "%s_seconds_min", f->peer[k].name);
        json_real(&j, key, f->peer_seconds.least);
    }
    json_close(&j, '}');
}

void print_row(const options *o, const place *p, const row *r)
{
    if (job_here()->rank != 0) return;
    const figures f = figures_of(r, o->rounds);
    if (o->json) write_object(p, r, &f);
    else print_line(r, &f);
    fflush(stdout);
}
