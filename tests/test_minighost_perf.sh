#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MiniGhost's performance report, results files and JSON describe the run: the parts sum to the whole,
# operations and messages match a count by hand, and no file is written unless requested.
# TEST: backends=any mpi=yes labels=programs
. "$META_TEST_SRCDIR/tests/programs.sh"
need_opencl

# of FILE KEY: the value of a key in one of the files.
of()
{
    sed -n "s/^[ \"]*$2\"*: *\([^,]*\),*\$/\1/p" "$1" | head -n 1
}
expect()
{
    [ "$(of "$1" "$2")" = "$3" ] || broken "$1: $2 is $(of "$1" "$2"), expected $3"
}
# messages KIND NUMBER CELLS BYTES: a line of the table of messages
messages()
{
    grep -q "^  $1  *$2  *$3  *$4\$" out || broken "no line: $1 $2 $3 $4"
}

small='--scaling 1 --nx 12 --ny 10 --nz 8 --num_vars 3 --num_tsteps 6 --num_spikes 2'
run 0 2 meta-minighost $small --report_perf 0
[ "$(ls)" = "$(printf 'err\nout')" ] || broken 'wrote a file unasked'
grep -q GFLOPS out && broken 'a report unasked'

# Four ranks, two along x and two along y: 8 messages of a field's face, and with a full stencil 4 of
# its edges; each of half the cells along the other axis. 12 time steps, 960 cells, 3 variables.
for method in $(few 10 11); do
    run 0 4 meta-minighost $small --npx 2 --npy 2 --npz 1 --stencil 24 --comm_method $method \
        --report_perf 2 --json report.json
    number=$((method == 10 ? 4 : 12)) edges=$((method == 10 ? 4 : 12))
    messages 'along x' $number 480 3840
    messages 'along y' $number 576 4608
    messages 'edges and corners' $edges 96 768
    messages 'in all' $((2 * number + edges)) 1152 9216
    expect results.yaml Send_messages $((2 * number + edges))
    expect results.yaml Recv_total_bytes 9216
    expect results.yaml Global_Grid_X 12
    expect results.yaml Time_steps 6
    expect results.yaml FLOPS_Total 9.331E+05
    expect results.yaml Number_gridsum 36
    expect report.json operations 933120
    expect report.json pass true
    expect report.json time_steps 12
    [ "$(grep -c '"rank": ' report.json)" = 4 ] || broken 'not a row for each rank'
    for line in $(awk '/^ rank +seconds/ { on = 1; next } on && NF == 3 { print $1 } on && NF == 0 { on = 0 }' out); do
        ranks_seen=$line
    done
    [ "${ranks_seen-}" = 3 ] || broken 'no line about each rank'
    # The steps of the report, printed and in the file.
    [ "$(grep -c '"grid_sum"' report.json)" = $((2 * 3 + 3)) ] || broken 'steps are missing'
    sed -n '/^performance of/,/^ rank/p' out >printed
    sed -n '/^performance of/,/^ rank/p' results.txt | cmp -s - printed ||
        broken 'results.txt is not what was printed'
done

# The parts of a rank's time steps sum to its whole time; a tenth is more than reading the clock takes.
run 0 1 meta-minighost --ndim 40 --num_tsteps 20 --stencil 23 --report_perf 1
awk '/^  (stencil|boundary|global|exchange).*%$/ { sum += $(NF - 4) }
     /^  in all .*\./ { whole = $(NF - 3) }
     END { exit !(whole > 0 && sum > 0.9 * whole && sum < 1.1 * whole) }' out ||
    broken 'the parts are not the whole'
grep -q '^ rank *seconds' out && broken 'a line about each rank unasked'
run 0 2 meta-minighost-mpi $small --npx 2 --report_perf 1 --json twin.json
for part in pack send wait receive unpack; do
    [ "$(grep -c "^      $part  *[0-9]" out)" = 3 ] || broken "no times of $part in three directions"
done
for key in Comm_pack_ave Comm_x_total_max Comm_z_unpack_min Comm_y_wait_ave Comm_recv_ave; do
    [ -n "$(of results.yaml $key)" ] || broken "results.yaml has no $key"
done
run 0 2 meta-minighost $small --npx 2 --stencil 20 --report_perf 1 --json none.json
grep -q 'no computation' out || broken 'computed nothing and does not say so'
run 1 2 meta-minighost $small --npx 2 --error_tol 300 --json wrong.json
expect wrong.json pass false
grep -q above_tolerance wrong.json || broken 'the file does not say what was wrong'
# The library's own summary, of both ranks.
export META_PROFILE=json:summary.json
run 0 2 meta-minighost $small --npx 2
unset META_PROFILE
[ -s summary.json ] || broken 'there is no summary.json'
if command -v python3 >/dev/null; then
    for file in *.json; do
        python3 -c 'import json, sys; json.load(open(sys.argv[1]))' $file || broken "$file is no JSON"
    done
    python3 - <<'END' || broken 'summary.json is not that of both ranks'
import json
summary = json.load(open("summary.json"))
assert [p["rank"] for p in summary["processes"]] == [0, 1], summary["processes"]
steps = [r for r in summary["rows"] if r["section"] == "range" and r["name"] == "time step"]
assert len(steps) == 1 and steps[0]["ranks"] == 2, steps
assert steps[0]["least"]["seconds"] <= steps[0]["seconds"] / 2 <= steps[0]["most"]["seconds"], steps
END
fi

# Forty variables, of both kinds of message, as one run and as many.
forty='--scaling 1 --nx 7 --ny 6 --nz 5 --num_vars 40 --num_tsteps 5 --stencil 24'
run 0 2 meta-minighost $forty --npx 2 --comm_method 10 --grid-out bspma.f64
run 0 1 meta-minighost $forty --npx 1 --comm_method 11 --grid-out svaf.f64
cmp -s bspma.f64 svaf.f64 || broken 'the grid depends on the exchange'
META_RANK_MAP='0:opencl,*:openmp'
export META_RANK_MAP
run 0 3 meta-minighost $forty --npx 1 --npy 3 --report_perf 1 --expect svaf.f64
unset META_RANK_MAP
# One cell; a grid thinner than the stencil.
for stencil in $(few 21 22 23 24); do
    run 0 1 meta-minighost --ndim 1 --num_tsteps 3 --stencil $stencil
    run 0 2 meta-minighost --nx 1 --ny 2 --nz 1 --num_tsteps 3 --stencil $stencil
done

rm -f ./*
refused 1 'num_tsteps' meta-minighost --num_tsteps 0
refused 2 '[0-9]\{13,\} bytes' meta-minighost --ndim 12000 --num_vars 40
refused 2 '[0-9]\{13,\} bytes' meta-minighost-mpi --ndim 12000 --num_vars 40
refused 2 'json' meta-minighost $small --npx 2 --json no/such/folder/report.json
refused 2 'json' meta-minighost $small --npx 2 --json .
mkdir results.txt
refused 2 'results.txt' meta-minighost $small --npx 2 --report_perf 1
rmdir results.txt
[ "$(ls)" = "$(printf 'err\nout')" ] || broken 'left a file behind'

[ $failed = 0 ] && echo 'every report says what was run'
exit $failed
