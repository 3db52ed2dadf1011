/* SPDX-License-Identifier: BSD-3-Clause */
/** @file xml.c
 *  What files of viewers have in common. */
#include <string.h>

#include "formats/formats.h"

void io_xml_text(FILE *to, const char *text)
{
    for (; *text; ++text)
        if (strchr("&<>\"'", *text)) fprintf(to, "&#%d;", *text);
        else fputc(*text, to);
}

bool io_head_time(const io_head *head, double *time)
{
    for (int a = 0; a < head->attributes; ++a) {
        const meta_io_attribute *at = &head->attribute[a];
        float single;
        if (strcmp(at->name, "time") != 0 || at->text || at->count != 1) continue;
        if (at->type == META_F64) memcpy(time, at->numbers, sizeof *time);
        else if (at->type == META_F32) {
            memcpy(&single, at->numbers, sizeof single);
            *time = single;
        } else continue;
        return true;
    }
    return false;
}
