/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_learned.c
 *  Files of learned times with arbitrary text and recomputed checksums: refused with the reason and
 *  nothing left in the table, or what is written of the table is read as the same again. */
/* TEST: labels=core,fuzz */
#include "auto/learned.h"
#include "cache/cache.h"
#include "fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 3, SUM = 32 };
static const char machine[] = "libmeta 0.1.0, 3 devices\ndevice 0 sim\n";
static const char end[] = "checksum ";

static const char *const seeds[] = {
    "turn 1\n",
    "turn 12\npace 0 8 0x1p-10\nlink 0 1 1.5 20\n",
    "turn 3\npace 2 1e6 0.25\nkernel heat f64 0123456789abcdef 3 1 100 0.5 101 0.25\n",
    "turn 7\nlink 2 0 0 1e300\nkernel a i32 0000000000000001 6 0 5 1e-9\n"
    "kernel a f32 0000000000000001 7 2 4096 1e-3\n",
};
static const char *const words[] = {"turn ",  "pace ",   "link ",     "kernel ", " f64 ",  " u8 ",
                                    "\n",     " ",       "0",         "1",       "2",      "3",
                                    "-1",     "1e308",   "nan",       "inf",     "0x1p63", "1e19",
                                    "1e-320", "0x1p-10", "checksum ", "device",  NULL};

/* "checksum" and that of what is before it, at the end. */
static size_t put_end(uint8_t *data, size_t size)
{
    char text[64];
    meta_cache_key sum = META_CACHE_KEY_INIT;
    meta_cache_key_add(&sum, data, size);
    const int length = snprintf(text, sizeof text, "%s%016" PRIx64 "%016" PRIx64 "\n", end,
                                sum.part[0], sum.part[1]);
    memcpy(data + size, text, (size_t)length);
    return size + (size_t)length;
}

static size_t seed(int n, uint8_t *data, size_t room)
{
    meta_learned none = {.turn = 0};
    size_t bytes;
    char *title = meta_learned_text(&none, machine, &bytes);
    if (title == NULL) return 0;
    const size_t head = (size_t)(strstr(title, "turn ") - title);
    const int size = snprintf((char *)data, room, "%.*s%s", (int)head, title, seeds[n]);
    free(title);
    return put_end(data, (size_t)size);
}

static void repair(uint8_t *data, size_t size, uint64_t how)
{
    const size_t last = sizeof end - 1 + SUM + 1;
    if (size >= last && how % 4 != 0) put_end(data, size - last);
}

const fuzz_target fuzz_here = {"learned", 4, seed, repair, words};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

static bool parse(meta_learned *t, const char *text, size_t bytes, const char *of)
{
    char reason[512] = "";
    *t = (meta_learned){.turn = 0};
    const bool read = meta_learned_parse(t, text, bytes, of, DEVICES, reason, sizeof reason);
    if (read == (*reason != '\0')) fuzz_fail("read: %d, and the reason is '%s'", read, reason);
    if (!read && (t->count > 0 || t->line != NULL)) fuzz_fail("refused, and lines are left");
    return read;
}

static void write_and_read_again(meta_learned *t)
{
    meta_learned again;
    size_t bytes, bytes_again;
    char *text = meta_learned_text(t, machine, &bytes);
    if (text == NULL) fuzz_fail("it cannot be written");
    if (!parse(&again, text, bytes, machine)) fuzz_fail("what was written is refused:\n%s", text);
    char *text_again = meta_learned_text(&again, machine, &bytes_again);
    if (text_again == NULL || bytes != bytes_again || memcmp(text, text_again, bytes) != 0)
        fuzz_fail("what was written is read as something else:\n%s\nand\n%s", text,
                  text_again != NULL ? text_again : "nothing");
    free(text);
    free(text_again);
    meta_learned_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    meta_learned t;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    if (parse(&t, text, size, machine)) {
        write_and_read_again(&t);
        fuzz_accept();
    }
    meta_learned_clear(&t);
    parse(&t, text, size, NULL); /* as of any machine */
    meta_learned_clear(&t);
    free(text);
    return 0;
}
