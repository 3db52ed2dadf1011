#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tests of misuse know every procedure of module meta: one that is new is misused too, or named here with the
# reason why it cannot fail.
# TEST: labels=fortran
src=${META_TEST_SRCDIR:-.}
status=0
broken() { echo "BROKEN: $*"; status=1; }
tests="$src/tests/fortran/test_fortran_errors.f90 $src/tests/fortran/test_fortran_arguments.f90
$src/tests/fortran/test_fortran_comm_arguments.f90 $src/tests/fortran/test_fortran_files.f90"

# Types, and what a program's own procedures look like.
no_procedures=' meta_buffer meta_grid_field meta_box meta_c_box meta_event meta_face meta_kernel meta_argument meta_csr meta_cuts meta_halo
meta_exchange meta_state meta_candidate meta_decision meta_traffic meta_backend_desc meta_variable_desc
meta_device_desc meta_pointer_desc meta_mem_desc meta_pool_desc meta_extreme_f64 meta_extreme_f32 meta_extreme_i64
meta_extreme_i32 meta_policy_function meta_event_function meta_tool_begin meta_tool_end meta_halo_work
meta_speed_work meta_io_field meta_io_attributes meta_io_file meta_io_request '
# Those without an error: an answer, or what meta_kernel_run() checks.
no_errors=' meta_range meta_is_allocated meta_strerror meta_last_error meta_path_name meta_array meta_value
meta_result meta_shifted meta_io_describe meta_io_put '
# Those without an argument that could be wrong in a started library.
no_arguments=' meta_version meta_backend_count meta_variable_count meta_get_acc meta_here meta_set_reproducible
meta_get_reproducible meta_timers_init meta_timers_finalize meta_set_tool meta_comm_finalize meta_comm_rank
meta_comm_traffic '

names=$(sed -n 's/^ *\(!@mpi \)\{0,1\} *public :: *//p' "$src/fortran/meta.f90.in" | tr ',&' '\n\n' |
    sed 's/^ *//; s/ *$//' | grep '^meta_')
misused=0
for name in $names; do
    case "$(echo "$no_procedures $no_errors $no_arguments" | tr '\n' ' ')" in *" $name "*) continue ;; esac
    # shellcheck disable=SC2086 # several files
    if grep -q "[\"']$name[:'\"]" $tests; then misused=$((misused + 1))
    else broken "no test misuses $name"; fi
done
for name in $no_procedures $no_errors $no_arguments; do
    echo "$names" | grep -qx "$name" || broken "module meta has no $name"
done
[ $misused -gt 70 ] || broken "only $misused procedures were found"
echo "note   $misused procedures are misused"
[ $status -eq 0 ] && echo 'kept   every_procedure_is_misused'
exit $status
