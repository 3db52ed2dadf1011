/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_coherence.c
 *  Random sequences of calls give the bits of plain arrays on the host, whichever devices the
 *  library chooses and wherever it moves the data. META_TEST_SEED sets the base seed;
 *  META_TEST_SEQUENCE=N runs only sequence N. With META_MODE set, the sequences run there. */
/* TEST: backends=any labels=core */
#include "coherence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

enum { NO_DEVICE = 77 };

static void require_backend(const char *name)
{
    int mode, count = 0;
    if (!CHECK_OK(meta_mode_find(name, &mode)) || !CHECK_OK(meta_device_count(mode, &count)))
        return;
    if (count == 0) {
        printf("no device of %s\n", name);
        fflush(stdout);
        _exit(NO_DEVICE);
    }
}

static void run_machine(void *argument)
{
    const coherence_machine *m = argument;
    coherence_machine_set(m);
    /* It compares whole buffers, of which bytes may be lost that the call does not use. */
    if (m->fails) unsetenv("META_CHECK");
    if (m->must_exist && CHECK_OK(meta_init())) {
        require_backend(m->must_exist);
        CHECK_OK(meta_finalize());
    }
    coherence_run(m);
}

/* In a process of its own, since modules are never unloaded; skipped where devices are missing and
 * where META_MODE asks for another one. */
static void machine_holds(coherence_machine m)
{
    if (getenv("META_MODE")) return;
    const test_end end = test_child(run_machine, &m, NULL, 0);
    if (end.status == NO_DEVICE) return;
    test_check_child(end, __FILE__, __LINE__, m.name);
}

static void cpu_and_opencl_are_coherent(void)
{
    machine_holds((coherence_machine){.name = "openmp and opencl",
                                      .devices = "openmp,opencl",
                                      .must_exist = "opencl",
                                      .few = 300,
                                      .many = 60000,
                                      .life = 100});
}

#define THREE_SIMULATED(memory)                                                                    \
    "a rate=1G memory=" memory "; b rate=4G latency=10us bandwidth=10G memory=" memory             \
    "; c rate=9G peer=50G memory=" memory

static void three_simulated_devices_are_coherent(void)
{
    machine_holds((coherence_machine){.name = "three simulated devices",
                                      .devices = "sim",
                                      .simulated = THREE_SIMULATED("1G"),
                                      .few = 600,
                                      .many = 200000,
                                      .life = 10});
}

/* 2.5 of the largest buffers fit. */
static void devices_with_little_memory_are_coherent(void)
{
    machine_holds((coherence_machine){.name = "three simulated devices with little memory",
                                      .devices = "sim",
                                      .simulated = THREE_SIMULATED("240K"),
                                      .few = 600,
                                      .many = 200000,
                                      .life = 10});
}

static void devices_that_copy_between_each_other_are_coherent_with_the_cpu(void)
{
    machine_holds(
        (coherence_machine){.name = "the CPU and simulated devices with peer copies",
                            .devices = "openmp,sim",
                            .simulated = "a rate=4G peer=50G sync; b rate=9G peer=50G; c rate=2G",
                            .few = 600,
                            .many = 100000,
                            .life = 10});
}

static void the_rest_is_coherent_when_a_device_fails(void)
{
    machine_holds(
        (coherence_machine){.name = "three simulated devices of which one fails",
                            .devices = "sim",
                            .simulated = "a rate=1G peer=50G; b rate=4G; c rate=9G peer=50G",
                            .few = 300,
                            .many = 100000,
                            .life = 1,
                            .fails = true});
}

static void the_cpu_is_coherent_when_a_device_fails(void)
{
    machine_holds((coherence_machine){.name = "the CPU and simulated devices of which one fails",
                                      .devices = "openmp,sim",
                                      .simulated = "a rate=4G memory=240K; b rate=9G memory=240K",
                                      .few = 300,
                                      .many = 100000,
                                      .found = 60583,
                                      .life = 1,
                                      .fails = true});
}

static void one_device_is_coherent(void)
{
    machine_holds((coherence_machine){
        .name = "openmp alone", .devices = "openmp", .few = 600, .many = 100000, .life = 10});
}

static void the_device_of_meta_mode_is_coherent(void)
{
    static const coherence_machine own = {
        .name = "the device of META_MODE", .few = 300, .many = 60000, .life = 100};
    if (getenv("META_MODE")) coherence_run(&own);
}

TEST_MAIN(PROMISE(cpu_and_opencl_are_coherent), PROMISE(three_simulated_devices_are_coherent),
          PROMISE(devices_with_little_memory_are_coherent),
          PROMISE(devices_that_copy_between_each_other_are_coherent_with_the_cpu),
          PROMISE(the_rest_is_coherent_when_a_device_fails),
          PROMISE(the_cpu_is_coherent_when_a_device_fails), PROMISE(one_device_is_coherent),
          PROMISE(the_device_of_meta_mode_is_coherent))
