/* SPDX-License-Identifier: BSD-3-Clause */
/** @file policy.c
 *  Whose policy holds: META_POLICY's, a thread's, or that of a thread's next kernel. */
#include "auto/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auto/auto.h"

static meta_policy common; /* META_POLICY's */

/* A thread's own, while they were set in this life of the library. */
static _Thread_local struct {
    unsigned life;
    bool has_own, has_next;
    uint64_t call; /* meta_auto.calls of the kernel that next is for */
    meta_policy own, next;
} mine;

/* ------------------------------------------------------------------ words */

static const struct {
    const char *word;
    meta_policy_kind kind;
} words[] = {{"cost", META_POLICY_COST},
             {"greedy", META_POLICY_GREEDY},
             {"profile", META_POLICY_PROFILE},
             {"locality", META_POLICY_LOCALITY},
             {"round_robin", META_POLICY_ROUND_ROBIN},
             {"random", META_POLICY_RANDOM}};

#define WORDS                                                                                      \
    "cost, greedy, profile, locality, device:N, type:cpu, type:gpu, type:NAME of a back end, "     \
    "round_robin or random[:SEED]"

/* What stands behind "WORD:" at the beginning of @p text; NULL: another word does. */
static const char *behind(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && text[length] == ':' ? text + length + 1 : NULL;
}

static bool number_behind(const char *text, const char *word, uint64_t *number)
{
    const char *digits = behind(text, word);
    char *end;
    if (!digits || *digits < '0' || *digits > '9') return false;
    errno = 0;
    *number = strtoull(digits, &end, 10);
    return errno == 0 && *end == '\0';
}

static bool read_policy(const char *text, meta_policy *p)
{
    const char *type = behind(text, "type");
    uint64_t number;
    *p = (meta_policy){.kind = META_POLICY_COST};
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k) {
        if (strcmp(text, words[k].word) != 0) continue;
        p->kind = words[k].kind;
        p->random = 1;
        return true;
    }
    if (type && *type && strlen(type) < sizeof p->type) {
        p->kind = META_POLICY_TYPE;
        strcpy(p->type, type);
    } else if (number_behind(text, "random", &number)) {
        p->kind = META_POLICY_RANDOM;
        p->random = number;
    } else if (number_behind(text, "device", &number)) {
        p->kind = META_POLICY_DEVICE;
        p->device = number < META_SLABS_DEVICES ? (int)number : META_SLABS_DEVICES;
    } else {
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------ devices */

uint32_t meta_policy_devices(const meta_policy *p)
{
    uint32_t set = 0;
    for (int d = 0; d < meta_auto.devices; ++d) {
        const meta_device *device = meta_auto.device[d].device;
        const bool is_gpu = device->desc.is_gpu;
        const bool fits = strcmp(p->type, "gpu") == 0 ? is_gpu
                          : strcmp(p->type, "cpu") == 0
                              ? !is_gpu
                              : strcmp(p->type, device->backend->name) == 0;
        if (fits) set |= UINT32_C(1) << d;
    }
    return set;
}

/* The devices of META_AUTO, for an error. */
static const char *list_devices(char text[256])
{
    size_t at = 0;
    char name[48];
    text[0] = '\0';
    for (int d = 0; d < meta_auto.devices && at < 256; ++d)
        at += (size_t)snprintf(text + at, 256 - at, "%s%d: %s", d > 0 ? ", " : "", d,
                               meta_auto_name(d, name));
    return text;
}

/* Whether what it names is there; @p from says in the error where it comes from. */
static meta_err check(const meta_policy *p, const char *from)
{
    char list[256];
    if (meta_auto.devices == 0) return META_OK; /* it is not open */
    if (p->kind == META_POLICY_DEVICE && p->device >= meta_auto.devices)
        return meta_fail(META_ERR_NO_DEVICE,
                         "%sdevice:%d, but META_MODE=auto has %d device%s, counted from 0 (%s)",
                         from, p->device, meta_auto.devices, meta_auto.devices == 1 ? "" : "s",
                         list_devices(list));
    if (p->kind == META_POLICY_TYPE && !meta_policy_devices(p))
        return meta_fail(META_ERR_NO_DEVICE,
                         "%stype:%s, but META_MODE=auto has no such device (%s)", from, p->type,
                         list_devices(list));
    return META_OK;
}

/* ------------------------------------------------------------------ META_POLICY */

meta_err meta_policy_read(void)
{
    const char *text = meta_variable("META_POLICY");
    if (!text) text = "cost";
    if (read_policy(text, &common)) return META_OK;
    return meta_fail(META_ERR_ENVIRONMENT, "META_POLICY=%s: give " WORDS, text);
}

meta_err meta_policy_check(void)
{
    return check(&common, "META_POLICY=");
}

/* ------------------------------------------------------------------ threads and calls */

/* What was set in an earlier life of the library does not hold. */
static void begin_life(void)
{
    if (mine.life == meta_life()) return;
    mine.life = meta_life();
    mine.has_own = mine.has_next = false;
    mine.call = 0;
}

meta_policy *meta_policy_now(bool is_kernel)
{
    if (__builtin_expect(mine.life != meta_life(), 0)) begin_life();
    if (is_kernel && __builtin_expect(mine.has_next, 0)) {
        if (mine.call == 0) mine.call = meta_auto.calls;
        if (mine.call == meta_auto.calls) return &mine.next; /* also where one device refuses it */
        mine.has_next = false;
    }
    return mine.has_own ? &mine.own : &common;
}

/* NULL: none of its own. */
static void set(const meta_policy *p, meta_policy_scope scope)
{
    begin_life();
    if (scope == META_POLICY_THREAD) {
        mine.has_own = p != NULL;
        if (p) mine.own = *p;
    } else {
        mine.has_next = p != NULL;
        mine.call = 0;
        if (p) mine.next = *p;
    }
}

static meta_err check_scope(meta_policy_scope scope)
{
    if (scope == META_POLICY_THREAD || scope == META_POLICY_CALL) return META_OK;
    return meta_fail(META_ERR_ARGUMENT,
                     "argument 'scope' is %d: give META_POLICY_THREAD or META_POLICY_CALL",
                     (int)scope);
}

meta_err meta_set_policy(const char *policy, meta_policy_scope scope)
{
    meta_policy p;
    META_ENTER();
    META_TRY(check_scope(scope));
    if (policy && !read_policy(policy, &p))
        return meta_fail(META_ERR_ARGUMENT, "argument 'policy' is \"%s\": give " WORDS, policy);
    if (policy) META_TRY(check(&p, "argument 'policy' is "));
    set(policy ? &p : NULL, scope);
    return META_OK;
}

meta_err meta_set_policy_function(meta_policy_function *function, void *user,
                                  meta_policy_scope scope)
{
    const meta_policy p = {.kind = META_POLICY_FUNCTION, .function = function, .user = user};
    META_ENTER();
    META_TRY(check_scope(scope));
    set(function ? &p : NULL, scope);
    return META_OK;
}
