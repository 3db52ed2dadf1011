/* SPDX-License-Identifier: BSD-3-Clause */
/** @file node_svg.c
 *  The node as a picture: packages beside each other, in each its NUMA nodes with cores and
 * devices, and on these the ranks; below them what is of the whole node. */
#include "config.h"

#include "node.h"

#include <string.h>

enum {
    WIDTH = 330, /* of a package; all inside it follows */
    MARGIN = 12, /* around a box and between two */
    LINE = 18,   /* of text */
    CORE = 26,   /* edge of a core */
    CORES = 11,  /* in a row */
    ACROSS = 4,  /* packages in a row */
    TEXT = 640,  /* bytes */
    TITLE = 46   /* above everything */
};

/* Where boxes are put: in columns, as high as what is in them. */
typedef struct canvas {
    FILE *to;
    bool draws; /* false: only the height is needed */
} canvas;

static int rows(int count, int in_row)
{
    return (count + in_row - 1) / in_row;
}

/* Text is UTF-8 from drivers: what XML cannot have becomes a question mark. */
static void write_escaped(const char *text, FILE *to)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; ++c) {
        int more = *c < 0x80 ? 0 : *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : *c >= 0xc2 ? 1 : -1;
        if (*c > 0xf4 || (more == 0 && *c < ' ')) more = -1;
        for (int k = 1; k <= more; ++k)
            if ((c[k] & 0xc0) != 0x80) more = -1;
        /* Surrogates, numbers beyond Unicode, and longer forms than needed. */
        if ((*c == 0xed && c[1] >= 0xa0) || (*c == 0xf4 && c[1] >= 0x90) ||
            (*c == 0xe0 && c[1] < 0xa0) || (*c == 0xf0 && c[1] < 0x90) ||
            (*c == 0xef && c[1] == 0xbf && c[2] >= 0xbe))
            more = -1;
        if (more < 0) fputc('?', to);
        else if (*c == '<') fputs("&lt;", to);
        else if (*c == '>') fputs("&gt;", to);
        else if (*c == '&') fputs("&amp;", to);
        else if (*c == '"') fputs("&quot;", to);
        else fwrite(c, 1, (size_t)more + 1, to);
        if (more > 0) c += more;
    }
}

static void write_box(const canvas *v, const char *class, int x, int y, int width, int height)
{
    if (v->draws)
        fprintf(v->to,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n",
                class, x, y, width, height);
}

/* Cut off at the box's end, whole where a mouse rests on it. */
static void write_line(const canvas *v, const char *class, int x, int y, int width,
                       const char *text)
{
    const int letter = strcmp(class, "small") == 0 ? 6 : 7;
    char shown[TEXT];
    size_t room = (size_t)(width / letter);
    if (!v->draws) return;
    snprintf(shown, sizeof shown, "%s", text);
    if (strlen(shown) > room && room > 2) {
        while (room > 3 && ((unsigned char)shown[room - 2] & 0xc0) == 0x80) --room;
        strcpy(shown + room - 2, "..");
    }
    fprintf(v->to, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y + LINE - 5);
    write_escaped(shown, v->to);
    if (strcmp(shown, text) != 0) {
        fputs("<title>", v->to);
        write_escaped(text, v->to);
        fputs("</title>", v->to);
    }
    fputs("</text>\n", v->to);
}

/* Each returns the first free y below what it has drawn. */

static int draw_cores(const canvas *v, const node_domain *d, int x, int y)
{
    for (int k = 0; k < d->core_count; ++k) {
        char number[16];
        const int left = x + k % CORES * (CORE + 1), top = y + k / CORES * (CORE + 1);
        write_box(v, d->is_excluded[k] ? "excluded" : "core", left, top, CORE, CORE);
        snprintf(number, sizeof number, "%d", d->cores[k]);
        if (v->draws)
            fprintf(v->to, "<text class=\"number\" x=\"%d\" y=\"%d\">%s</text>\n", left + CORE / 2,
                    top + CORE - 9, number);
    }
    return y + rows(d->core_count, CORES) * (CORE + 1) + MARGIN / 2;
}

static int draw_device(const canvas *v, const node *n, int device, int x, int y, int width)
{
    char name[64], text[TEXT];
    const node_device *d = &n->devices[device];
    int count = 0;
    for (int k = 0; k < n->rank_count; ++k) count += n->ranks[k].device == device;
    const int height = (2 + count) * LINE + MARGIN / 2;
    write_box(v, "device", x, y, width, height);
    node_name_device(d, name, sizeof name);
    snprintf(text, sizeof text, "%s  %s", name, d->desc.name);
    write_line(v, "name", x + 6, y, width - 12, text);
    node_describe_device(d, text, sizeof text);
    write_line(v, "small", x + 6, y + LINE, width - 12, text);
    int line = y + 2 * LINE;
    for (int k = 0; k < n->rank_count; ++k) {
        if (n->ranks[k].device != device) continue;
        node_name_rank(&n->ranks[k], text, sizeof text);
        write_box(v, "rank", x + 6, line + 1, width - 12, LINE - 2);
        write_line(v, "name", x + 12, line, width - 24, text);
        line += LINE;
    }
    return y + height + MARGIN / 2;
}

static int draw_devices(const canvas *v, const node *n, int domain, int x, int y, int width)
{
    for (int d = 0; d < n->device_count; ++d)
        if (n->devices[d].domain == domain) y = draw_device(v, n, d, x, y, width);
    return y;
}

static int draw_domain_inside(const canvas *v, const node *n, int domain, int x, int y)
{
    const node_domain *d = &n->domains[domain];
    const int width = WIDTH - 4 * MARGIN + 12;
    write_line(v, "small", x, y, width, *d->memory != '\0' ? d->memory : "memory not known");
    y = draw_cores(v, d, x, y + LINE);
    return draw_devices(v, n, domain, x, y, width);
}

static int draw_domain(const canvas *v, const node *n, int domain, int x, int y)
{
    const canvas measure = {.draws = false};
    const int end = draw_domain_inside(&measure, n, domain, x, y);
    write_box(v, "numa", x - 6, y - 2, WIDTH - 2 * MARGIN, end - y + 2);
    draw_domain_inside(v, n, domain, x, y);
    return end + MARGIN / 2;
}

static int draw_package_inside(const canvas *v, const node *n, int package, int x, int y)
{
    char title[32] = "packages not known";
    if (package >= 0) snprintf(title, sizeof title, "package %d", package);
    write_line(v, "title", x, y, WIDTH - 2 * MARGIN, title);
    y += LINE + 4;
    for (int d = 0; d < n->domain_count; ++d)
        if (n->domains[d].package == package) y = draw_domain(v, n, d, x + 6, y);
    return y;
}

static int draw_package(const canvas *v, const node *n, int package, int x, int y)
{
    const canvas measure = {.draws = false};
    const int end = draw_package_inside(&measure, n, package, x + MARGIN, y);
    write_box(v, "package", x, y, WIDTH, end - y);
    draw_package_inside(v, n, package, x + MARGIN, y);
    return end;
}

static bool has_package(const node *n, int package)
{
    for (int d = 0; d < n->domain_count; ++d)
        if (n->domains[d].package == package) return true;
    return false;
}

static int draw_packages(const canvas *v, const node *n, int y)
{
    int column = 0, lowest = y;
    for (int package = -1; package < node_packages(n); ++package) {
        if (!has_package(n, package)) continue;
        if (column == ACROSS) column = 0, y = lowest + MARGIN;
        const int end = draw_package(v, n, package, MARGIN + column * (WIDTH + MARGIN), y);
        if (end > lowest) lowest = end;
        ++column;
    }
    return lowest + MARGIN;
}

/* What has no place in a package. */
static int draw_whole(const canvas *v, const node *n, int y)
{
    char text[TEXT];
    int others = 0;
    for (int d = 0; d < n->device_count; ++d) others += n->devices[d].domain < 0;
    if (others > 0) write_line(v, "title", MARGIN, y, WIDTH, "whole node");
    if (others > 0) y = draw_devices(v, n, -1, MARGIN, y + LINE + 4, WIDTH);
    for (int k = 0; k < n->rank_count; ++k) {
        if (n->ranks[k].device >= 0) continue;
        node_name_rank(&n->ranks[k], text, sizeof text);
        write_line(v, "missing", MARGIN, y, TEXT * 7, text);
        y += LINE;
    }
    return y + MARGIN;
}

static int draw_all(const canvas *v, const node *n)
{
    char text[TEXT];
    node_describe(n, text, sizeof text);
    write_line(v, "title", MARGIN, MARGIN, TEXT * 7, text);
    return draw_whole(v, n, draw_packages(v, n, TITLE));
}

void node_write_svg(const node *n, FILE *to)
{
    static const char style[] =
        "text { font: 12px sans-serif; fill: #222 } .title { font-weight: bold }\n"
        ".name { font-size: 12px } .small { font-size: 11px; fill: #555 }\n"
        ".number { font-size: 10px; text-anchor: middle } .missing { fill: #b00 }\n"
        "rect { stroke: #777; fill: #fff } .package { fill: #f4f4f4 } .numa { fill: #e6eef5 }\n"
        ".core { fill: #fff } .excluded { fill: #bbb } .device { fill: #dcefdc } .rank { fill: "
        "#ffe9b8 }\n";
    const canvas measure = {.draws = false}, draw = {.to = to, .draws = true};
    const int packages = node_packages(n) + has_package(n, -1);
    int columns = packages < ACROSS ? packages : ACROSS;
    if (columns < 2) columns = 2; /* the title's width */
    const int width = MARGIN + columns * (WIDTH + MARGIN), height = draw_all(&measure, n);
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<style>\n%s</style>\n"
            "<rect x=\"0\" y=\"0\" width=\"%d\" height=\"%d\"/>\n",
            width, height, width, height, style, width, height);
    draw_all(&draw, n);
    fputs("</svg>\n", to);
}
