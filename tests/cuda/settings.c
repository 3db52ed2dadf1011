/* SPDX-License-Identifier: BSD-3-Clause */
/** @file settings.c
 *  Reads the variables FAKE_CUDA_… of the environment. */
#include "settings.h"

#include <cuda_runtime_api.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

fake_settings settings = {.devices = 1,
                          .driver = CUDART_VERSION,
                          .capability = 90,
                          .units = 4,
                          .memory = (long)16 << 30,
                          .pools = 1,
                          .seed = 1,
                          .fail_status = cudaErrorUnknown};

static const struct number {
    const char *name;
    long *value, low, high;
} numbers[] = {
    {"FAKE_CUDA_DEVICES", &settings.devices, 0, FAKE_DEVICES},
    {"FAKE_CUDA_DRIVER", &settings.driver, 0, INT_MAX},
    {"FAKE_CUDA_CAPABILITY", &settings.capability, 10, 999},
    {"FAKE_CUDA_UNITS", &settings.units, 1, 1000},
    {"FAKE_CUDA_MEMORY", &settings.memory, 1, (long)1 << 36},
    {"FAKE_CUDA_POOLS", &settings.pools, 0, 1},
    {"FAKE_CUDA_THREADS", &settings.threads, 1, 1024},
    {"FAKE_CUDA_LAZY", &settings.lazy, 0, 1},
    {"FAKE_CUDA_DELAY", &settings.delay, 0, 10000000},
    {"FAKE_CUDA_SEED", &settings.seed, 1, LONG_MAX},
    {"FAKE_CUDA_RACES", &settings.races, 0, 1},
    {"FAKE_CUDA_OPEN", &settings.open, 0, 1},
    {"FAKE_CUDA_FAIL_AT", &settings.fail_at, 0, LONG_MAX},
    {"FAKE_CUDA_FAIL_STATUS", &settings.fail_status, 1, 9999},
    {"FAKE_CUDA_FAIL_STICKY", &settings.fail_sticky, 0, 1},
    {"FAKE_CUDA_QUIET", &settings.quiet, 0, 1},
};

/* Of HIP-CPU too; FAKE_CUDA_DEVICES has precedence. */
static const struct number gpus = {"META_TEST_GPUS", &settings.devices, 0, FAKE_DEVICES};

static const struct word {
    const char *name, **value;
} words[] = {
    {"FAKE_CUDA_FAIL_CALL", &settings.fail_call},
    {"FAKE_CUDA_REPORT", &settings.report},
};

static _Noreturn void refuse(const char *variable, const char *why)
{
    fprintf(stderr, "fake CUDA: %s: %s\n", variable, why);
    _exit(1);
}

/* The variable @p name, whose value is returned; NULL: it is another one. */
static const char *value_of(const char *variable, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=' ? variable + length + 1
                                                                           : NULL;
}

static void read_number(const char *variable, const char *text, const struct number *to)
{
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno || end == text || *end) refuse(variable, "no number");
    if (value < to->low || value > to->high) refuse(variable, "the number is out of range");
    *to->value = value;
}

static void read_variable(const char *variable)
{
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k) {
        const char *text = value_of(variable, numbers[k].name);
        if (text) {
            read_number(variable, text, &numbers[k]);
            return;
        }
    }
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k) {
        const char *text = value_of(variable, words[k].name);
        if (text) {
            *words[k].value = text;
            return;
        }
    }
    if (strncmp(variable, "FAKE_CUDA_", 10) == 0) refuse(variable, "there is no such variable");
}

void settings_read(void)
{
    settings.threads = sysconf(_SC_NPROCESSORS_ONLN);
    if (settings.threads < 1) settings.threads = 1;
    const char *devices = getenv(gpus.name);
    if (devices) read_number(gpus.name, devices, &gpus);
    for (char **variable = environ; *variable; ++variable) read_variable(*variable);
}
