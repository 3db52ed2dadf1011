#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MetaMorph's functions that return no error end the job where they fail, after a line that says why.
# TEST: backends=any mpi=yes labels=comm
. "$META_TEST_SRCDIR/tests/programs.sh"
export META_MODE=openmp

# ends MISTAKE TEXT
ends()
{
    run any 1 tests/metamorph_fatal "$1"
    [ "$got" != 0 ] || broken 'goes on'
    grep -q "^ERROR in meta_mpi_$2" err || broken "does not say: $2"
}

run 0 1 tests/metamorph_fatal none
[ ! -s err ] || broken 'prints something'
ends type 'packed_face_send: type is 10'
ends face 'pack_and_send_face: face is NULL'
ends room 'packed_face_recv: the message has 72 bytes, but packed_buf has only 64'
ends host 'packed_face_send: meta_pointer_info: '
ends short 'recv_and_unpack_face: rank 0 sent 3 elements with tag 5, but the face has 8'
# MPI itself ends the job.
run any 1 tests/metamorph_fatal rank
[ "$got" != 0 ] || broken 'goes on'
# The device was chosen before meta_mpi_init() could.
META_MODE='' ends late 'init: '
[ $failed = 0 ] && echo 'kept   what fails in a function without an error ends the job'
exit $failed
