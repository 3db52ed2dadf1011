/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_info.c
 *  meta-info --json prints one JSON document that agrees with the library. */
/* TEST: backends=any labels=tools smoke=yes */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "test.h"

static json_t *document;

/* The document that `meta-info ARGUMENTS` prints; NULL, and a failure, where it is none. */
static json_t *read_document(const char *arguments)
{
    char command[1200], text[1 << 16];
    json_error_t error;
    json_t *read;
    snprintf(command, sizeof command, "'%s' %s", test_built("meta-info"), arguments);
    FILE *pipe = popen(command, "r");
    if (!CHECK(pipe != NULL)) return NULL;
    const size_t length = fread(text, 1, sizeof text, pipe);
    const int status = pclose(pipe);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    read = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!read) FAIL("line %d: %s", error.line, error.text);
    return read;
}

static void prints_one_document_with_its_parts(void)
{
    document = read_document("--json --ranks 3");
    CHECK(json_is_array(json_object_get(document, "backends")));
    CHECK(json_is_array(json_object_get(document, "devices")));
    CHECK(json_is_array(json_object_get(document, "variables")));
    CHECK(json_is_object(json_object_get(document, "mpi")));
    CHECK(json_is_object(json_object_get(document, "documents")));
    CHECK_INT(json_array_size(json_object_get(document, "ranks")), 3);
}

static void every_back_end_is_usable_or_has_a_reason(void)
{
    const json_t *backends = json_object_get(document, "backends");
    int count;
    if (!CHECK_OK(meta_init()) || !CHECK_OK(meta_backend_count(&count))) return;
    CHECK_INT(json_array_size(backends), count);
    for (int k = 0; k < count; ++k) {
        const json_t *item = json_array_get(backends, (size_t)k);
        meta_backend_desc desc = META_BACKEND_DESC_INIT;
        CHECK_OK(meta_backend_info(k, &desc));
        CHECK_STRING(json_string_value(json_object_get(item, "name")), desc.name);
        CHECK_INT(json_is_true(json_object_get(item, "usable")), desc.usable);
        CHECK_STRING(json_string_value(json_object_get(item, "reason")), desc.reason);
        CHECK(desc.usable == (desc.reason[0] == '\0'));
    }
    CHECK_OK(meta_finalize());
}

static void every_device_is_described_as_the_library_does(void)
{
    const json_t *devices = json_object_get(document, "devices");
    int count;
    if (!CHECK_OK(meta_init()) || !CHECK_OK(meta_device_count(META_SPREAD, &count))) return;
    CHECK_INT(json_array_size(devices), count);
    for (size_t k = 0; k < json_array_size(devices); ++k) {
        const json_t *item = json_array_get(devices, k);
        meta_device_desc desc = META_DEVICE_DESC_INIT;
        meta_mode mode;
        CHECK_OK(meta_mode_find(json_string_value(json_object_get(item, "backend")), &mode));
        CHECK_OK(meta_device_info((int)json_integer_value(json_object_get(item, "index")), mode, &desc));
        CHECK_STRING(json_string_value(json_object_get(item, "name")), desc.name);
        CHECK_STRING(json_string_value(json_object_get(item, "driver")), desc.driver);
        CHECK_STRING(json_string_value(json_object_get(item, "pci")), desc.pci);
        CHECK_INT(json_integer_value(json_object_get(item, "compute_units")), desc.compute_units);
        CHECK_INT(json_is_true(json_object_get(item, "f64")), desc.has_f64);
    }
    CHECK_OK(meta_finalize());
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void mpi_is_described_by_itself_or_has_a_reason(void)
{
    const json_t *mpi = json_object_get(document, "mpi");
    const char *kind = getenv("META_TEST_MPI");
    const bool none = !kind || strcmp(kind, "none") == 0;
    CHECK_INT(json_is_true(json_object_get(mpi, "known")), !none);
    CHECK(json_is_integer(json_object_get(mpi, "shared_memory_free")));
    if (none) {
        CHECK_CONTAINS(text_of(mpi, "reason"), "built without MPI");
        return;
    }
    CHECK_STRING(text_of(mpi, "reason"), "");
    CHECK_CONTAINS(text_of(mpi, "threads"), "MPI_THREAD_");
    CHECK(atof(text_of(mpi, "standard")) >= 3);
    if (strcmp(kind, "mpich") == 0) CHECK_CONTAINS(text_of(mpi, "library"), "MPICH");
    if (strcmp(kind, "openmpi") == 0) CHECK_CONTAINS(text_of(mpi, "library"), "Open MPI");
    for (int k = 0; k < 2; ++k) {
        const json_t *answer = json_object_get(mpi, k ? "hip" : "cuda");
        CHECK(json_is_boolean(json_object_get(answer, "says_yes")));
        CHECK(*text_of(answer, "source") != '\0');
    }
}

static void every_variable_is_listed(void)
{
    const json_t *variables = json_object_get(document, "variables");
    int count = 0;
    CHECK_OK(meta_variable_count(&count));
    CHECK_INT(json_array_size(variables), count);
}

/* A value from the environment with every character that JSON must escape. */
static void any_text_is_escaped(void)
{
    const char *odd = "a\"b\\c\n\t\x01/\xc3\xa9";
    setenv("META_CACHE_DIR", odd, 1);
    json_t *again = read_document("--json --env");
    const json_t *variables = json_object_get(again, "variables");
    bool found = false;
    for (size_t k = 0; k < json_array_size(variables); ++k) {
        const json_t *item = json_array_get(variables, k);
        if (strcmp(json_string_value(json_object_get(item, "name")), "META_CACHE_DIR") != 0) continue;
        CHECK_STRING(json_string_value(json_object_get(item, "value")), odd);
        found = true;
    }
    CHECK(found);
    json_decref(again);
    json_decref(document);
}

TEST_MAIN(PROMISE(prints_one_document_with_its_parts),
          PROMISE(every_back_end_is_usable_or_has_a_reason),
          PROMISE(every_device_is_described_as_the_library_does),
          PROMISE(mpi_is_described_by_itself_or_has_a_reason), PROMISE(every_variable_is_listed),
          PROMISE(any_text_is_escaped))
