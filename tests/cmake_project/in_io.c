/* SPDX-License-Identifier: BSD-3-Clause */
/** @file in_io.c
 *  Component io, with the headers and libraries of what it is made from. */
#include <meta_io.h>

#include <meta_comm.h>

int main(int argc, char **argv)
{
    if (meta_comm_init(&argc, &argv)) return 1;
    return meta_comm_finalize() != META_OK;
}
