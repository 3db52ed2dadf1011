/* SPDX-License-Identifier: BSD-3-Clause */
/** @file metamorph_fatal.c
 *  A program in MetaMorph's style that makes the mistake that its argument names, in a function
 * that returns no error: the job is to end. */
#include <metamorph_mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "";
    int rank = 0, size[1] = {8}, stride[1] = {1};
    meta_face *face = meta_get_face(0, 1, size, stride);
    double host[8] = {0};
    void *buffer;
    if (strcmp(mistake, "late") == 0) meta_set_acc(0, metaModePreferOpenMP);
    meta_mpi_init(&argc, &argv);
    metaMPIRank(&rank);
    if (meta_alloc(&buffer, sizeof host)) return 2;
    if (strcmp(mistake, "type") == 0)
        meta_mpi_packed_face_send(0, buffer, 1, 0, NULL, (meta_type_id)10, 0);
    if (strcmp(mistake, "face") == 0)
        meta_mpi_pack_and_send_face(NULL, NULL, 0, NULL, buffer, buffer, 0, NULL, meta_db, 0);
    if (strcmp(mistake, "room") == 0) meta_mpi_packed_face_recv(0, buffer, 9, 0, NULL, meta_db, 1);
    if (strcmp(mistake, "host") == 0) meta_mpi_packed_face_send(0, host, 8, 0, NULL, meta_db, 0);
    if (strcmp(mistake, "rank") == 0) meta_mpi_packed_face_send(99, buffer, 8, 0, NULL, meta_db, 0);
    if (strcmp(mistake, "short") == 0) {
        void *packed;
        if (meta_alloc(&packed, sizeof host)) return 2;
        meta_mpi_recv_and_unpack_face(NULL, NULL, 0, face, buffer, packed, 5, NULL, meta_db, 1);
        meta_mpi_packed_face_send(0, packed, 3, 5, NULL, meta_db, 1);
        meta_flush();
    }
    meta_free_face(face);
    meta_free(buffer);
    meta_mpi_finalize();
    return 0;
}
