/* SPDX-License-Identifier: BSD-3-Clause */
/** @file simulated.h
 *  For tests of META_MODE=auto on simulated devices (tests/plugins/sim.h): the settings of a
 * process that uses them, and the report that they write when the library ends. */
#ifndef META_TEST_SIMULATED_H
#define META_TEST_SIMULATED_H

#include <stdbool.h>

/** Set the environment: META_MODE=auto with the devices that @p machine describes, as in
 *  META_TEST_SIM, and no others, and META_POLICY=@p policy, or its default if that is NULL. Work
 * runs when it is queued, one thread computes, nothing is learned for the next process, and
 * META_CHECK is off. A test that needs other settings makes them afterwards, before the library
 * starts. */
void simulated_set(const char *machine, const char *policy);

/** Let the devices report what they do until the library ends. @return false if there is no file
 * for it, which fails a check */
bool simulated_report_begin(void);
/** After meta_finalize(). @return the report, in a static buffer; "" without one, which fails a
 * check */
const char *simulated_report_end(void);
/** The number after @p name in @p text, such as "time_us " or "cpu launches " in a report; -1 if
 *  @p name is not there. */
double simulated_number(const char *text, const char *name);

#endif
