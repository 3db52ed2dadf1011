# SPDX-License-Identifier: BSD-3-Clause
# Generates the manual page libmeta-env(7) from the lines META_VARIABLE(NAME, "values", "default",
# "description") in core/base/env.def. A text may consist of several C strings, over several lines.

{ text = text " " $0 }

# Joins the C strings at the start of `text`, and replaces C escapes by roff escapes.
function strings(    all, piece)
{
    all = ""
    sub(/^[ \t,]*/, "", text)
    while (match(text, /^[ \t]*"([^"\\]|\\.)*"/)) {
        piece = substr(text, 1, RLENGTH - 1)
        text = substr(text, RLENGTH + 1)
        sub(/^[ \t]*"/, "", piece)
        all = all piece
    }
    gsub(/\\"/, "\"", all)
    gsub(/\\n/, " ", all)
    gsub(/\\\\/, "\\", all)
    gsub(/\\/, "\\e", all)
    gsub(/-/, "\\-", all)
    sub(/^\./, "\\\\\\&.", all)
    return all
}

# An entry of variables that belong to others.
function other(names, text)
{
    printf ".TP\n.B %s\n%s\n", names, text
}

END {
    printf "'\\\" -*- coding: UTF-8 -*-\n.\\\" SPDX-License-Identifier: BSD-3-Clause\n"
    printf ".TH LIBMETA-ENV 7 \"\" \"libmeta %s\" \"libmeta\"\n", version
    printf ".SH NAME\nlibmeta\\-env \\- environment variables of libmeta\n"
    printf ".SH DESCRIPTION\n"
    printf "libmeta reads them in meta_init().\n"
    printf "For a META_ variable that is not listed here it logs a warning with the nearest known name.\n"
    printf "meta\\-info \\-\\-env prints the current values.\n"
    printf ".PP\nBlanks around a value and around the entries of a list do not count, nor does whether a word listed\n"
    printf "here is in capital letters; names of files, folders and commands are taken as they are. A number of bytes\n"
    printf "may have a unit, 64K, 4\\ MiB or 2G: powers of 1024. Fractions have a point in every locale.\n"
    printf ".SH VARIABLES\n"
    while (match(text, /META_VARIABLE\([ \t]*[A-Z0-9_]+[ \t]*,/)) {
        name = substr(text, RSTART + 14, RLENGTH - 15)
        text = substr(text, RSTART + RLENGTH)
        gsub(/[ \t]/, "", name)
        values = strings()
        initial = strings()
        description = strings()
        if (name !~ /^META/) name = "META_" name
        printf ".TP\n.BR %s = \"%s\"\n%s\n", name, values, description
        if (initial != "") printf "Default: %s.\n", initial
        ++count
    }
    if (!count) {
        print "doc/env.awk: core/base/env.def has no META_VARIABLE lines" > "/dev/stderr"
        exit 1
    }
    printf ".SH OTHER VARIABLES\nlibmeta also reads these, which belong to others.\n"
    other("OMP_NUM_THREADS", "CPU threads, where META_THREADS is not set: the first number of a list. Another value does not count, and the log says so.")
    other("XDG_CACHE_HOME, HOME", "Where the cache of compiled code is, if META_CACHE_DIR does not say.")
    other("TMPDIR", "The folder of temporary files, and of the cache where no other can be written.")
    other("PATH", "Where the C compiler of kernels is looked for.")
    other("CUDA_HOME, CUDA_PATH", "Where NVRTC is looked for, behind the places of the dynamic linker.")
    other("ROCM_PATH, HIP_PATH", "Where hipRTC is looked for, behind the places of the dynamic linker.")
    other("LD_LIBRARY_PATH", "Said in messages about compilers that were not found.")
    other("POCL_MAX_PTHREAD_COUNT, POCL_CPU_MAX_CU_COUNT", "PoCL\\[aq]s threads. Set, unless they are, to the threads of this process.")
    other("POCL_WORK_GROUP_METHOD", "How PoCL forms work-groups. Set to cbs, unless it is set, for PoCL 6 with LLVM 18, which ends the process for some kernels otherwise.")
    other("POCL_CACHE_DIR", "Where PoCL keeps its own files. Set, unless it is, where PoCL\\[aq]s folder in the home cannot be written.")
    other("LD_PRELOAD", "Under valgrind, every buffer is allocated by itself (META_POOL).")
    other("PMI_SIZE, OMPI_COMM_WORLD_SIZE", "Set by launchers: how many processes there are, to notice one of another MPI.")
    other("PMI_RANK, OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_LOCAL_SIZE, MPI_LOCALNRANKS, SLURM_PROCID, SLURM_NTASKS, SLURM_NTASKS_PER_NODE", "Read by meta\\-info alone: where it runs in a job.")
    other("HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_THISSYSTEM", "Followed by hwloc: the topology of another machine. meta\\-info \\-\\-draw says where it cannot be read.")
    printf ".SH SEE ALSO\n.BR meta\\-info (1) ,\n.BR libmeta (7)\n"
}
