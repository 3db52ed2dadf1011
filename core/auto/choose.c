/* SPDX-License-Identifier: BSD-3-Clause */
/** @file choose.c
 *  The policy, META_POLICY: which device a launch goes to. */
#include "auto/auto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef enum policy { COST, DEVICE, ROUND_ROBIN, RANDOM } policy;

static policy now;
static int device;    /* of DEVICE */
static uint64_t turn; /* of ROUND_ROBIN */
static uint64_t random_state;

/* The number behind "WORD:" at the beginning of @p text. */
static bool number_behind(const char *text, const char *word, uint64_t *number)
{
    const size_t length = strlen(word);
    char *end;
    if (strncmp(text, word, length) != 0 || text[length] != ':') return false;
    text += length + 1;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

meta_err meta_policy_read(void)
{
    const char *text = meta_variable("META_POLICY");
    uint64_t number = 1;
    turn = 0;
    now = COST;
    if (!text || strcmp(text, "cost") == 0) return META_OK;
    if (strcmp(text, "round_robin") == 0) now = ROUND_ROBIN;
    else if (strcmp(text, "random") == 0 || number_behind(text, "random", &number)) now = RANDOM;
    else if (number_behind(text, "device", &number)) now = DEVICE;
    else
        return meta_fail(META_ERR_ENVIRONMENT,
                         "META_POLICY=%s: give cost, device:N, round_robin or random:SEED", text);
    device = number < META_SLABS_DEVICES ? (int)number : META_SLABS_DEVICES;
    random_state = number;
    return META_OK;
}

meta_err meta_policy_check(void)
{
    if (now != DEVICE || device < meta_auto.devices) return META_OK;
    return meta_fail(META_ERR_NO_DEVICE,
                     "META_POLICY=device:%d, but META_MODE=auto has %d device%s, counted from 0",
                     device, meta_auto.devices, meta_auto.devices == 1 ? "" : "s");
}

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Member @p n of a set, counted from 0. */
static int member(uint32_t set, int n)
{
    while (n-- > 0) set &= set - 1;
    return __builtin_ctz(set);
}

/* The choice of a policy that does not look at costs; -1: it does. */
static int blind(uint32_t among)
{
    const int count = __builtin_popcount(among);
    switch (now) {
    case DEVICE:
        return among >> device & 1 ? device : member(among, 0);
    case ROUND_ROBIN:
        return member(among, (int)(turn++ % (uint64_t)count));
    case RANDOM:
        return member(among, (int)(next_random() % (uint64_t)count));
    default:
        return -1;
    }
}

int meta_auto_choose(const meta_auto_choice *choice)
{
    const int chosen = blind(choice->among);
    return chosen >= 0 ? chosen : meta_cost_choose(choice);
}

int meta_auto_plan_copy(const meta_auto_range *range, bool is_in)
{
    return now == COST ? meta_cost_copy(range, is_in) : -1;
}

/* What was never written goes to the host's memory, from where any device gets it. */
int meta_auto_choose_copy(const meta_auto_range *range, uint32_t among)
{
    int chosen = blind(among);
    if (chosen < 0) chosen = meta_auto_holder(range, among);
    for (int d = 0; chosen < 0 && d < meta_auto.devices; ++d)
        if (among >> d & 1 && meta_auto.device[d].is_host) chosen = d;
    return chosen >= 0 ? chosen : member(among, 0);
}
