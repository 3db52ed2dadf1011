# SPDX-License-Identifier: BSD-3-Clause
# Generates CTestTestfile.cmake from the TEST lines of the test sources and scripts given as arguments.
#
#   /* TEST: backends=openmp,opencl np=1,2 labels=core,kernel smoke=yes */
#
#   backends=  names, `gpus` for the GPU back ends that are built, `others` for opencl and those, `all` for openmp and
#              these, `faults` for the GPU back ends that run on the CPU, where calls of their runtime fail as ordered
#              (tests/fault.h), or `any` (default): one entry each with META_MODE set, or one without it for `any`;
#              `none` where there are others than these
#   np=        numbers of ranks: one entry each, under the MPI launcher; none without MPI
#   mixed=yes  with np= above 1: one more entry each, half the ranks on OpenMP, half on OpenCL; and one with
#              each GPU back end that is built beside one rank of OpenMP and, of three or more, one of OpenCL: mixed-cuda …
#   mpi=yes    omitted without MPI even if np= is not given
#   auto=yes   two more entries, with META_MODE=auto and devices chosen at random: .auto, of openmp and opencl,
#              and .sims, of openmp and simulated devices (tests/plugins/sim.c); for each GPU back end that is
#              built two more: .auto-hip, of openmp and it, and .auto-opencl-hip, of opencl as well …
#   timeout=   seconds after which a test that hangs is ended (default 600): ten times what it takes on an idle core or
#              more, since others may use the machine; more with sanitizers, in a long run, under oclgrind, with META_CHECK=1
#   labels=    for ctest -L; those with np= or mpi=yes are labelled mpi as well
#   alone=yes  not in parallel with other tests: it installs, and libtool then relinks in place the
#              libraries that tests run with
#   setup=NAME run before the tests with needs=NAME, whenever one of those is run
#   needs=NAME see setup=
#   binaries=yes  the cache gets the binaries of OpenCL programs (tests/plugins/no_binaries.c)
#   smoke=yes  also run by make distcheck, on OpenMP or no device and on two ranks, if any
#   long=yes   only run by ./check --long
#   fake=no    not on the fake CUDA: other software's libraries need NVIDIA's driver
#   with=      NAME=VALUE,…: META_NAME of the environment, in entries that are also named after the value
#
# Entries are called FILE.BACKEND.npN, without the parts that are not given. Several lines may stand
# in one file. A # begins the line of a script, a ! that of a Fortran program. Exit status 77 of a test
# means it was skipped.
#
# Variables: builddir, srcdir, mpiexec, mpi (its kind, or none), sanitize (yes, thread or no), gpu (the GPU
# back ends that are built, with commas), faults (those of backends=faults, with blanks), emulator (what runs programs of another machine's kind; scripts,
# which run programs themselves, are left out then).

function fail(text)
{
    printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
    failed = 1
    exit 1
}

function quoted(text) { return "[==[" text "]==]" }

# A prefix of the launcher's command: empty, or without such a GPU, or without OpenCL beside it, a shell that skips the
# test at once; a launcher would take a second each, and META_MODE=auto is an error where one of its devices is missing.
function unless_missing(backend, map,    opencl)
{
    opencl = backend ~ /^auto-opencl-/ || map ~ /opencl/ ? " ${no_opencl}" : ""
    sub(/^(mixed|auto|auto-opencl)-/, "", backend)
    return index("," gpu ",", "," backend ",") ? " ${no_" backend "}" opencl : ""
}

# The devices beside openmp of auto, auto-hip, auto-opencl-hip …
function devices(backend)
{
    if (backend == "auto") return "opencl"
    sub(/^auto-/, "", backend)
    sub(/-/, ",", backend)
    return backend
}

# Probes for the device with a test that needs one. META_TEST_REQUIRE_BACKENDS makes the probe fail instead of
# skip, and then all tests are run. Without a GPU of NVIDIA they are run on the fake CUDA (tests/cuda/), where that is
# built: each process interprets its kernels on one thread, and random cases are fewer.
function look_for(backend,    fake, libraries)
{
    printf "set(no_%s)\n", backend
    printf "execute_process(COMMAND env META_MODE=%s %s the_null_event_is_complete\n", backend,
        quoted(builddir "/tests/test_events")
    print "  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET TIMEOUT 60)"
    printf "if(\"${status}\" STREQUAL \"77\")\n  set(no_%s sh -c \"echo no device: %s && exit 77\")\nendif()\n",
        backend, backend
    if (backend != "cuda") return
    fake = builddir "/tests/cuda/.libs"
    # A sanitizer's dlopen() does not look where the back end's own would, so it would find the real NVRTC.
    libraries = sanitize == "no" ? "" : ";LD_LIBRARY_PATH=" builddir "/tests/cuda/lib/.libs"
    print "set(fake_cuda \"\")\nset(no_nvidia ${no_cuda})"
    printf "if(NOT \"${no_cuda}\" STREQUAL \"\" AND EXISTS %s)\n", quoted(fake "/cuda.so")
    printf "  set(no_cuda)\n  set(fake_cuda %s)\n", quoted(";META_BACKEND_PATH=" fake libraries ";FAKE_CUDA_THREADS=1")
    print "  if(NOT \"$ENV{META_TEST_LONG}\" STREQUAL \"1\")\n    string(APPEND fake_cuda \";META_TEST_BRIEF=1\")\n  endif()"
    print "endif()"
}

function entry(backend, map, np,    name, environment, labels, processors, cost, settings, setting, real, k)
{
    name = file (backend == "any" ? "" : "." backend)
    environment = common
    settings = split(field["with"], setting, ",")
    for (k = 1; k <= settings; ++k) {
        environment = environment ";META_" setting[k]
        name = name "." substr(setting[k], index(setting[k], "=") + 1)
    }
    name = name (np ? ".np" np : "")
    if (field["binaries"] == "yes") environment = environment ";META_TEST_BINARIES=1"
    if (name in seen) fail("there are two tests called " name)
    sub(/\/tests\/sanitizer\/report/, "/tests/sanitizer/" name, environment)
    seen[name] = 1
    ++made
    if (map != "") environment = environment ";META_RANK_MAP=" map
    else if (backend ~ /^auto/) environment = environment automatic ";META_AUTO_DEVICES=openmp," devices(backend)
    else if (backend == "sims") environment = environment automatic simulated
    else if (backend != "any") environment = environment ";META_MODE=" backend
    labels = field["labels"]
    gsub(/,/, ";", labels)
    if (backend != "any") labels = labels ";" backend
    if (np || field["mpi"] == "yes") labels = labels ";mpi"
    if (field["smoke"] == "yes" && backend ~ /^(any|openmp)$/ && (!np || np == 2)) labels = labels ";smoke"
    if (field["long"] == "yes") labels = labels ";long"
    sub(/^;/, "", labels)
    # Ranks wait for each other nearly half of their time.
    processors = np > 2 ? int((np + 1) / 2) : 1
    # Scripts first, some of which take a minute; those that need all slots last, together, since slots stand empty
    # before and after each.
    cost = command ~ /\.sh$/ ? 4 : np > 2 ? 1 : np ? 2 : 3
    real = backend == "cuda" && field["fake"] == "no"
    printf "add_test(%s%s", quoted(name),
        real ? " ${no_nvidia}" : np || backend ~ /^auto-/ ? unless_missing(backend, map) : ""
    if (np) printf " %s -n %d", quoted(mpiexec), np
    printf "%s %s)\n", emulator == "" ? "" : " " emulator, quoted(command)
    printf "math(EXPR timeout \"%d * ${scale}\")\n", field["timeout"] * (sanitize == "no" ? 1 : 2)
    printf "set_tests_properties(%s PROPERTIES\n", quoted(name)
    printf "  TIMEOUT ${timeout} PROCESSORS %d COST %d SKIP_RETURN_CODE 77\n", processors, cost
    if (field["alone"] == "yes") print "  RUN_SERIAL TRUE"
    # Beside each other they would compile the same OpenCL programs; one after the other finds them in PoCL's cache.
    if ((map != "" ? map : backend ~ /^auto/ ? devices(backend) : backend) ~ /opencl/) {
        if (before[FILENAME] != "") printf "  DEPENDS %s\n", quoted(before[FILENAME])
        before[FILENAME] = name
    }
    if (field["setup"] != "") print "  FIXTURES_SETUP " field["setup"]
    if (field["needs"] != "") print "  FIXTURES_REQUIRED " field["needs"]
    if (labels != "") printf "  LABELS %s\n", quoted(labels)
    gsub(/[\\"$]/, "\\\\&", environment)
    if (backend ~ /cuda/ && !real) environment = environment "${fake_cuda}"
    # On the fake, work of plain entries waits until it is needed, and races on shared memory are errors, but where
    # META_CHECK=1 lets kernels stray, and in the largest ones; beside other back ends work begins late by chance.
    # Hundreds of processes whose calls fail would take minutes so.
    if (backend == "cuda" && file !~ /faults$/)
        environment = environment ";FAKE_CUDA_LAZY=1" (name ~ /\.cuda$/ && file != "large" ? ";FAKE_CUDA_RACES=1" : "")
    if (backend == "mixed-cuda") environment = environment ";FAKE_CUDA_DELAY=200"
    # MPI takes the memory of two ranks, and is refused that of one.
    if (file == "comm_gpu_mpi" && backend == "cuda" && np == 2) environment = environment ";FAKE_CUDA_OPEN=1"
    if (backend ~ /^auto.*cuda/) environment = environment ";FAKE_CUDA_DEVICES=" (backend ~ /opencl/ ? 4 : 2)
    printf "  ENVIRONMENT \"%s;POCL_CACHE_DIR=${pocl}${preload}\")\n", environment
}

function entries(np,    count, name, openmp, k)
{
    sub(/^all/, "openmp,others", field["backends"])
    sub(/others/, "opencl,gpus", field["backends"])
    sub(/gpus/, gpu, field["backends"])
    gsub(/ +/, ",", faults)
    sub(/faults/, faults, field["backends"])
    count = split(field["backends"], name, ",")
    for (k = 1; k <= count; ++k) if (name[k] != "none" && name[k] != "") entry(name[k], "", np)
    if (field["auto"] == "yes") {
        entry("auto", "", np)
        entry("sims", "", np)
        count = split(gpu, name, ",")
        for (k = 1; k <= count; ++k) {
            entry("auto-" name[k], "", np)
            entry("auto-opencl-" name[k], "", np)
        }
    }
    if (field["mixed"] != "yes" || np < 2) return
    openmp = (np > 2 ? "0-" int(np / 2) - 1 : "0") ":openmp"
    entry("mixed", openmp ",*:opencl", np)
    count = split(gpu, name, ",")
    if (np > 2) openmp = "0:openmp,1:opencl"
    for (k = 1; k <= count; ++k) entry("mixed-" name[k], openmp ",*:" name[k], np)
}

BEGIN {
    print "# Made by tests/ctest.awk from the TEST lines of the tests."
    print "set(scale 1)"
    print "if(\"$ENV{META_TEST_LONG}\" STREQUAL \"1\")\n  set(scale 12)"
    print "elseif(\"$ENV{META_TEST_BRIEF}\" STREQUAL \"1\")\n  set(scale 2)"
    print "elseif(\"$ENV{META_CHECK}\" STREQUAL \"1\")\n  set(scale 2)\nendif()"
    print "set(pocl \"$ENV{META_TEST_POCL_CACHE}\")"
    print "if(NOT pocl)\n  set(pocl " quoted(builddir "/tests/cache/pocl") ")\nendif()"
    # Tests beside each other have more threads than there are cores: those that wait should sleep.
    common = "OMP_WAIT_POLICY=passive;META_TEST_SRCDIR=" srcdir ";META_TEST_BUILDDIR=" builddir \
        ";META_TEST_MPI=" mpi ";META_TEST_MPIEXEC=" mpiexec ";META_TEST_SANITIZE=" sanitize \
        ";META_LEARN=off;META_BOARD=off;META_CACHE_DIR=" builddir "/tests/cache/libmeta;XDG_CACHE_HOME=" \
        builddir "/tests/cache"
    # The tests put more ranks on a machine than it has cores, and run as root in containers. After a
    # rank that failed the launcher would sleep a second, twice, for others to die of SIGTERM. Ranks of one
    # node need no TCP, which warns where a container has no network.
    if (mpi == "openmpi")
        common = common ";OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1" \
            ";OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_btl=^tcp" \
            ";PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe" \
            ";OMPI_MCA_odls_base_sigkill_timeout=0;PRTE_MCA_odls_base_sigkill_timeout=0"
    automatic = ";META_MODE=auto;META_POLICY=random:20151013"
    simulated = ";META_AUTO_DEVICES=openmp,sim;META_BACKEND_PATH=" builddir "/tests/plugins/.libs" \
        ";META_TEST_SIM=near memory=8G | far latency=20us bandwidth=5G memory=8G peer=2G | twin memory=8G peer=2G"
    count = split(gpu, name, ",")
    for (k = 1; k <= count; ++k) look_for(name[k])
    if (gpu != "") look_for("opencl")
    # Where the tests' own layer is built: waits in MPI yield, and OpenCL programs have no binaries. AddressSanitizer
    # wants to be the first library, lest another stand before its functions; this one does not.
    layer = builddir "/tests/plugins/.libs/preload.so"
    print "set(preload \"\")"
    printf "if(EXISTS %s)\n  set(preload %s)\nendif()\n", quoted(layer), quoted(";LD_PRELOAD=" layer)
    # An error ends the process; leaks are written down, and tests/run.sh picks those that are ours.
    # What hwloc's component for PCI leaves behind, each block seen from an unloaded library, costs
    # LeakSanitizer ten seconds at the end of a program that uses MPI. A thread that starts OpenCL gets LLVM's
    # alternate signal stack, which AddressSanitizer would unmap as its own when the thread ends.
    # META_TEST_LEAKS=0 is for those that LeakSanitizer cannot look at (tests/run.sh).
    if (sanitize == "yes") {
        common = common ";ASAN_OPTIONS=abort_on_error=1:exitcode=0:allocator_may_return_null=1" \
            ":detect_stack_use_after_return=1:verify_asan_link_order=0:use_sigaltstack=0" \
            ":log_path=" builddir "/tests/sanitizer/report" \
            ";UBSAN_OPTIONS=print_stacktrace=1;HWLOC_COMPONENTS=-pci"
        printf "string(APPEND preload %s)\n",
            quoted(";LSAN_OPTIONS=print_suppressions=0:suppressions=" srcdir "/tests/lsan.supp")
        print "if(\"$ENV{META_TEST_LEAKS}\" STREQUAL \"0\")\n  string(APPEND preload :detect_leaks=0)\nendif()"
    }
    # Compute on one thread: ThreadSanitizer does not see libgomp's barriers. UCX and it hook the same calls.
    if (sanitize == "thread")
        common = common ";TSAN_OPTIONS=log_path=" builddir "/tests/sanitizer/report" \
            ";META_THREADS=1;META_PROGRESS=thread;UCX_MEM_EVENTS=n;HWLOC_COMPONENTS=-pci"
}

FNR == 1 {
    file = FILENAME
    sub(/.*\//, "", file)
    program = FILENAME
    sub(/^.*\/tests\//, "", program)
    sub(/\.c$/, "", program)
    if (sub(/\.c$/, "", file)) command = builddir "/tests/" program
    else if (sub(/\.f90(\.in)?$/, "", file)) command = builddir "/tests/fortran/" file
    else command = substr(FILENAME, 1, 1) == "/" ? FILENAME : builddir "/" FILENAME
    sub(/\.[a-z]+$/, "", file)
    sub(/^test_/, "", file)
}

/^(#|!|\/\*) TEST:/ {
    delete field
    field["backends"] = "any"
    field["timeout"] = 600
    field["np"] = field["mixed"] = field["mpi"] = ""
    field["labels"] = field["alone"] = field["setup"] = field["needs"] = field["smoke"] = field["binaries"] = field["long"] = field["with"] = field["auto"] = field["fake"] = ""
    sub(/^.*TEST:/, "")
    sub(/\*\/ *$/, "")
    for (k = 1; k <= NF; ++k) {
        at = index($k, "=")
        if (!at || !(substr($k, 1, at - 1) in field)) fail("unknown word in the TEST line: " $k)
        field[substr($k, 1, at - 1)] = substr($k, at + 1)
    }
    tested[FILENAME] = 1
    made = 0
    if (mpi == "none" && (field["np"] != "" || field["mpi"] == "yes")) next
    if (emulator != "" && FILENAME ~ /\.sh$/) next
    if (field["np"] == "") entries(0)
    count = split(field["np"], number, ",")
    for (n = 1; n <= count; ++n) entries(number[n] + 0)
    # "none,": only GPU back ends, of which none is built
    if (!made && field["backends"] != "none,") fail("the TEST line asks for no test at all")
}

END {
    if (failed) exit 1
    for (k = 1; k < ARGC; ++k)
        if (ARGV[k] !~ /^[a-z]+=/ && !(ARGV[k] in tested)) {
            printf "%s: there is no TEST line\n", ARGV[k] > "/dev/stderr"
            exit 1
        }
}
