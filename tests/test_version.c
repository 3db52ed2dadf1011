/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_version.c
 *  The version, and the names of error codes. */
/* TEST: backends=any labels=core smoke=yes */
#include "test.h"

#include <string.h>

static void version_is_that_of_the_header(void)
{
    int major = -1, minor = -1, patch = -1;
    if (!CHECK_OK(meta_version(&major, &minor, &patch))) return;
    CHECK_INT(major, META_VERSION_MAJOR);
    CHECK_INT(minor, META_VERSION_MINOR);
    CHECK_INT(patch, META_VERSION_PATCH);
}

static void version_takes_null_for_any_part(void)
{
    int minor = -1;
    CHECK_OK(meta_version(NULL, &minor, NULL));
    CHECK_INT(minor, META_VERSION_MINOR);
    CHECK_OK(meta_version(NULL, NULL, NULL));
}

static void every_error_has_a_name_of_its_own(void)
{
    for (int a = 0; a < META_ERR_COUNT; ++a) {
        const char *name = meta_strerror((meta_err)a);
        test_case("error %d", a);
        if (!CHECK(name && *name)) continue;
        for (int b = 0; b < a; ++b) CHECK(strcmp(name, meta_strerror((meta_err)b)) != 0);
    }
}

static void an_unknown_error_has_a_name_too(void)
{
    const meta_err unknown[] = {META_ERR_COUNT, (meta_err)-1, (meta_err)1000000};
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; ++k) {
        const char *name = meta_strerror(unknown[k]);
        test_case("error %d", (int)unknown[k]);
        CHECK(name && *name);
    }
}

TEST_MAIN(PROMISE(version_is_that_of_the_header), PROMISE(version_takes_null_for_any_part),
          PROMISE(every_error_has_a_name_of_its_own), PROMISE(an_unknown_error_has_a_name_too))
