# SPDX-License-Identifier: BSD-3-Clause
# Expands the overloads of a Fortran template (fortran/*.f90.in).
#
#   !@each KINDS LOW-HIGH     the lines up to !@end once for each kind of KINDS and each rank
#   !@end
#
#   !@mpi LINE                the line, where there is an MPI (-v mpi=yes)
#
# KINDS is `all` (what can be moved) or `arithmetic`. In the lines between them stand
#   {k}      r8 r4 i8 i4 i2 i1
#   {T}      the type, as real(c_double)
#   {E}      its enumerator, as META_F64
#   {r}      the rank
#   {dims}   the shape of a dummy argument, as (:,:); nothing for a scalar
#   {bounds} the shape of a pointer with the lower bounds of `bounds`
#   {section} the section of an array from `first` to `last`
#   {first}  the indices of the first element
#   {gaps}   a section with gaps between its elements, as (::2,:)
# and a line that begins with {steps} becomes one for each dimension, with {d} its number and {next}
# the indices of the next element along it.

BEGIN {
    kinds["all"] = "r8 r4 i8 i4 i2 i1"
    kinds["arithmetic"] = "r8 r4 i8 i4"
    type["r8"] = "real(c_double)"; name["r8"] = "META_F64"
    type["r4"] = "real(c_float)"; name["r4"] = "META_F32"
    type["i8"] = "integer(c_int64_t)"; name["i8"] = "META_I64"
    type["i4"] = "integer(c_int32_t)"; name["i4"] = "META_I32"
    type["i2"] = "integer(c_int16_t)"; name["i2"] = "META_I16"
    type["i1"] = "integer(c_int8_t)"; name["i1"] = "META_I8"
}

# `item` for each dimension with commas between, `special` for dimension `at`; @ is the dimension.
function list(rank, item, at, special,    d, text, one)
{
    for (d = 1; d <= rank; ++d) {
        one = d == at ? special : item
        gsub(/@/, d, one)
        text = text (d > 1 ? ", " : "") one
    }
    return rank ? "(" text ")" : ""
}

function one_line(line, kind, rank)
{
    gsub(/\{k\}/, kind, line)
    gsub(/\{T\}/, type[kind], line)
    gsub(/\{E\}/, name[kind], line)
    gsub(/\{r\}/, rank, line)
    gsub(/\{dims\}/, list(rank, ":"), line)
    gsub(/\{bounds\}/, list(rank, "bounds%lower(@):"), line)
    gsub(/\{section\}/, list(rank, "first(@):last(@)"), line)
    gsub(/\{first\}/, list(rank, "1"), line)
    gsub(/\{gaps\}/, list(rank, ":", 1, "::2"), line)
    return line
}

function write_line(line, kind, rank,    d, copy)
{
    if (sub(/\{steps\}/, "", line)) {
        for (d = 1; d <= rank; ++d) {
            copy = line
            gsub(/\{d\}/, d, copy)
            gsub(/\{next\}/, list(rank, "1", d, "2"), copy)
            print one_line(copy, kind, rank)
        }
    } else {
        print one_line(line, kind, rank)
    }
}

/^ *!@each / {
    count = split(kinds[$2], chosen, " ")
    split($3, ranks, "-")
    if (!count || ranks[2] == "") {
        printf "%s:%d: not understood: %s\n", FILENAME, FNR, $0 > "/dev/stderr"
        exit 1
    }
    lines = 0
    inside = 1
    next
}
/^ *!@end/ {
    for (k = 1; k <= count; ++k)
        for (rank = ranks[1] + 0; rank <= ranks[2] + 0; ++rank)
            for (n = 1; n <= lines; ++n) write_line(line[n], chosen[k], rank)
    inside = 0
    next
}
/^ *!@mpi / { if (mpi != "yes") next; sub(/!@mpi /, "") }
inside { line[++lines] = $0; next }
FNR == 2 { print "! Made by expand.awk from a template." }
{ print }
