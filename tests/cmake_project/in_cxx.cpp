// SPDX-License-Identifier: BSD-3-Clause
/** @file in_cxx.cpp
 *  The target libmeta::libmeta, in C++. */
#include <meta.h>

#include <cstdio>

int main()
{
    int major = -1, minor = -1;
    if (meta_version(&major, &minor, nullptr)) return 1;
    std::printf("version %s\n", major == META_VERSION_MAJOR && minor == META_VERSION_MINOR ? "right" : "wrong");
    return 0;
}
