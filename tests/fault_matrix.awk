# SPDX-License-Identifier: BSD-3-Clause
# Judges a run of tests/fault_matrix.c, given the files that it left, as one line of figures.
#
# Variables: timeout, ranks, victim, fault, noise (seconds that a call may take longer for want of a core).
#   hang     ranks that had not ended by themselves, though only asleep or no victims
#   crash    survivors that ended by a signal or a status that is not 0 or 1, or without a trace
#   ucx      the same where UCX says so (MPICH): it ends a process that cannot read the victim's memory
#   told     survivors that were told of an error; named: those whose first one names the victim
#   other    survivors whose first error is not META_ERR_PEER
#   late     calls that took longer than 1.5 timeouts and the noise; strict: without the noise
#   again    calls in which a survivor waited for more than half a timeout though it had been told
#   worst    seconds of the longest call
#   unnamed  one of the errors that do not name the victim
function rank_of(file) { sub(/.*\./, "", file); return file + 0 }

function take_first(rank, code, text)
{
    if (rank in first) return
    first[rank] = code
    if (text ~ "rank " victim "([^0-9]|$)") names[rank] = 1
    else if (unnamed == "") unnamed = text
}

FNR == 1 { rank = rank_of(FILENAME); kind = FILENAME; sub(/.*\//, "", kind); sub(/\..*/, "", kind); slept = 0 }

kind == "calls" && $1 == "fault" { done = 1; slept = fault == "sleep" ? 3 * timeout : 0 }
kind == "calls" && $1 == "end" {
    # Where a progress thread is asleep, the program's calls go on until one needs it.
    own = $3 < slept ? $3 : slept
    seconds = $3 - own
    slept -= own
    if (seconds > worst) { worst = seconds; worst_in = $2 }
    if (seconds > 1.5 * timeout) ++strict
    if (seconds > 1.5 * timeout + noise) ++late
    if (rank != victim && rank in first && seconds > 0.5 * timeout) ++again
    sub(/:$/, "", $4)
    if ($4 != "META_OK" && rank != victim) take_first(rank, $4, $0)
}
kind ~ /^(err|out)$/ && /process_vm_readv|UCX  ERROR|ucx function returned with failed status/ { ucx_said = 1 }
# The watchdog speaks where no call can return.
kind == "err" && /META_TIMEOUT_ABORT/ && rank != victim { take_first(rank, "META_ERR_PEER", $0) }
kind == "end" { ended[rank] = 1 }
kind == "end" && $1 == "hang" { ++hang }
kind == "end" && (rank != victim || fault == "sleep") && ($1 == "signal" || $1 == "exit" && $2 > 1) { ++broken }
END {
    # A rank that was too slow to start: the others did not wait for it.
    if (!done) exit 1
    # The launcher ends all where MPI has ended one.
    for (r = 0; r < ranks; ++r) broken += !(r in ended) && r != victim
    if (ucx_said) ucx = broken
    else crash = broken
    for (r in first) { ++told; named += (r in names); other += (first[r] != "META_ERR_PEER") }
    printf "hang=%d crash=%d ucx=%d told=%d named=%d other=%d late=%d strict=%d again=%d worst=%.2f in=%s unnamed=%s\n",
        hang, crash, ucx, told, named, other, late, strict, again, worst, worst_in,
        substr(unnamed, 1, 400)
}
