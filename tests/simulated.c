/* SPDX-License-Identifier: BSD-3-Clause */
/** @file simulated.c
 *  Settings and reports of simulated devices. */
#include "config.h"

#include "simulated.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "test.h"

void simulated_set(const char *machine, const char *policy)
{
    setenv("META_MODE", "auto", 1);
    setenv("META_AUTO_DEVICES", "sim", 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    setenv("META_TEST_SIM", machine, 1);
    setenv("META_TEST_SIM_EAGER", "1", 1);
    setenv("META_THREADS", "1", 1);
    setenv("META_LEARN", "off", 1);
    if (policy) setenv("META_POLICY", policy, 1);
    else unsetenv("META_POLICY");
    unsetenv("META_RANK_MAP");
    unsetenv("META_CHECK");
}

/* ------------------------------------------------------------------ reports */

static char path[32];

bool simulated_report_begin(void)
{
    strcpy(path, "/tmp/libmeta-sim.XXXXXX");
    const int file = mkstemp(path);
    if (!CHECK(file >= 0)) return false;
    close(file);
    setenv("META_TEST_SIM_REPORT", path, 1);
    return true;
}

const char *simulated_report_end(void)
{
    static char text[8192];
    CHECK(scratch_read(path, text, sizeof text) && *text != '\0');
    unlink(path);
    unsetenv("META_TEST_SIM_REPORT");
    return text;
}

double simulated_number(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : -1;
}
