/* SPDX-License-Identifier: BSD-3-Clause */
/** @file documents.c
 *  Where the documents of libmeta are, and what they are. */
#include "config.h"

#include "documents.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TITLE_ROOM = 256 };

/* ------------------------------------------------------------------ places */

/* The folder of this program; false if the system does not say. */
static bool own_folder(char folder[PATH_MAX])
{
    if (realpath("/proc/self/exe", folder) == NULL) return false;
    char *slash = strrchr(folder, '/');
    if (slash == NULL) return false;
    *slash = '\0';
    return true;
}

/* The way from folder @p from to folder @p to, both absolute: "../share/man". */
static void make_way(char *way, size_t room, const char *from, const char *to)
{
    size_t same = 0, used = 0;
    for (size_t k = 0; from[k] == to[k] && from[k] != '\0'; ++k)
        if (from[k] == '/') same = k + 1;
    *way = '\0';
    for (const char *c = from + same; *c != '\0' && used < room;
         c += strcspn(c, "/"), c += *c == '/')
        used += (size_t)snprintf(way + used, room - used, "../");
    if (used < room) snprintf(way + used, room - used, "%s", to + same);
}

/* Set @p path to folder @p installed: in the build tree that this program is of, as it lies from
 * this program, or where it was configured to be. Empty if it is in none of these places. */
static void find_folder(char path[PATH_MAX], const char *built, const char *installed)
{
    char own[PATH_MAX], way[PATH_MAX], candidate[2 * PATH_MAX];
    if (own_folder(own)) {
        const size_t length = strlen(own);
        const bool is_built = length > 6 && strcmp(own + length - 6, "/.libs") == 0;
        make_way(way, sizeof way, META_BINDIR, installed);
        snprintf(candidate, sizeof candidate, "%s/%s", own, is_built ? built : way);
        if (realpath(candidate, path) != NULL) return;
    }
    if (realpath(installed, path) == NULL) *path = '\0';
}

/* Set @p path to file @p name of @p folder, or to an empty text if it is not there. */
static void find_file(char path[PATH_MAX], const char *folder, const char *name)
{
    char candidate[2 * PATH_MAX];
    snprintf(candidate, sizeof candidate, "%s/%s", folder, name);
    if (*folder == '\0' || realpath(candidate, path) == NULL) *path = '\0';
}

void documents_find(documents *d)
{
    char root[PATH_MAX], html[PATH_MAX], page[PATH_MAX];
    find_folder(root, "share/doc/libmeta", META_DOCDIR);
    find_file(d->readme, root, "README.md");
    find_file(d->guides, root, "doc");
    find_file(d->cheat_sheet, root, "doc/cheat-sheet.md");
    find_file(d->examples, root, "examples");
    find_folder(html, "share/doc/libmeta/html", META_HTMLDIR);
    find_file(d->html, html, "index.html");
    find_folder(d->manual, "share/man", META_MANDIR);
    find_file(page, d->manual, "man7/libmeta.7");
    if (*page == '\0') find_file(page, d->manual, "man7/libmeta.7.gz");
    if (*page == '\0') d->manual[0] = '\0';
}

/* ------------------------------------------------------------------ as text */

static int is_guide(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".md") == 0;
}

/* The first heading of a guide; empty if there is none. */
static void read_title(char title[TITLE_ROOM], const char *folder, const char *name)
{
    char path[2 * PATH_MAX], line[TITLE_ROOM];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    *title = '\0';
    if (file == NULL) return;
    while (*title == '\0' && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "# ", 2) == 0)
            snprintf(title, TITLE_ROOM, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
    fclose(file);
}

static void print_titles(const char *folder)
{
    struct dirent **entries;
    char title[TITLE_ROOM];
    const int count = scandir(folder, &entries, is_guide, alphasort);
    for (int k = 0; k < count; ++k) {
        read_title(title, folder, entries[k]->d_name);
        printf("    %-18s %s\n", entries[k]->d_name, title);
        free(entries[k]);
    }
    if (count >= 0) free(entries);
}

static void print_line(const char *what, const char *path, const char *remedy)
{
    printf("  %-13s %s\n", what, *path != '\0' ? path : remedy);
}

void documents_print(void)
{
    static const char lost[] = "not here: make install installs it";
    documents d;
    documents_find(&d);
    printf("documents\n");
    print_line("README", d.readme, lost);
    print_line("cheat sheet", d.cheat_sheet, lost);
    print_line("guides", d.guides, lost);
    if (*d.guides != '\0') print_titles(d.guides);
    print_line("examples", d.examples, "not here: make install installs them where there is MPI");
    print_line("manual pages", d.manual, lost);
    if (*d.manual != '\0')
        printf("    man -M %s libmeta    the overview\n"
               "    man -M %s meta_alloc  a function; -M is not needed for pages in MANPATH\n",
               d.manual, d.manual);
    print_line("HTML", d.html, "not here: make install-html makes and installs it (with doxygen)");
}

/* ------------------------------------------------------------------ as JSON */

static void write_path(json *j, const char *key, const char *path)
{
    json_string(j, key, *path != '\0' ? path : NULL);
}

void documents_write(json *j)
{
    documents d;
    documents_find(&d);
    json_open(j, "documents", '{');
    write_path(j, "readme", d.readme);
    write_path(j, "cheat_sheet", d.cheat_sheet);
    write_path(j, "guides", d.guides);
    write_path(j, "examples", d.examples);
    write_path(j, "manual", d.manual);
    write_path(j, "html", d.html);
    json_close(j, '}');
}
