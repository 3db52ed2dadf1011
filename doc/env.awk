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

END {
    printf "'\\\" -*- coding: UTF-8 -*-\n.\\\" SPDX-License-Identifier: BSD-3-Clause\n"
    printf ".TH LIBMETA-ENV 7 \"\" \"libmeta %s\" \"libmeta\"\n", version
    printf ".SH NAME\nlibmeta\\-env \\- environment variables of libmeta\n"
    printf ".SH DESCRIPTION\n"
    printf "libmeta reads them in meta_init().\n"
    printf "For a META_ variable that is not listed here it logs a warning with the nearest known name.\n"
    printf "meta\\-info \\-\\-env prints the current values.\n"
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
    printf ".SH SEE ALSO\n.BR meta\\-info (1)\n"
}
