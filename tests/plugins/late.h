/* SPDX-License-Identifier: BSD-3-Clause */
/** @file late.h
 *  Constants shared by the back end "late" and the tests that use it. */
#ifndef LATE_H
#define LATE_H

enum {
    LATE_FAULT = 0xee, /**< META_U8 fills with this value fail when they run */
    LATE_TESTS = 3     /**< work is done in this test of its event at the latest */
};

#endif
