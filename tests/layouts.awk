# SPDX-License-Identifier: BSD-3-Clause
# Writes a C program that prints the layouts of the structures in the headers that it reads, with their enumerators
# and the numbers that they define:
#   structure NAME BYTES sized|fixed     sized: a member says how long its author knew it
#   member NAME MEMBER OFFSET BYTES
#   number NAME VALUE
# -v include='#include <meta.h>…': the program's first lines.
BEGIN { print include "\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{" }
END { print "    return 0;\n}" }

{ line = $0 }
line ~ /^#define META_[A-Z0-9_]+ +\(?-?(0x)?[0-9a-f]+u?\)? *(\/\*.*)?$/ {
    print "    printf(\"number " $2 " %lld\\n\", (long long)" $2 ");"
    next
}
/^ *#/ { next }
# Comments are left out, also those of several lines.
{
    out = ""
    while (line != "") {
        if (within) {
            if (!(end = index(line, "*/"))) break
            line = substr(line, end + 2)
            within = 0
        } else if ((begin = index(line, "/*"))) {
            out = out substr(line, 1, begin - 1)
            line = substr(line, begin + 2)
            within = 1
        } else {
            out = out line
            break
        }
    }
    line = out
}
line ~ /^typedef (struct|enum) meta[a-z0-9_]* \{$/ {
    split(line, word, " ")
    kind = word[2]
    name = word[3]
    text = ""
    next
}
name == "" { next }
line ~ /^\} / {
    if (kind == "enum") numbers(text)
    else structure(text)
    name = ""
    next
}
{ text = text " " line }

function numbers(text,   n, k, item) {
    n = split(text, item, ",")
    for (k = 1; k <= n; ++k) {
        sub(/=.*/, "", item[k])
        gsub(/ /, "", item[k])
        if (item[k] ~ /^META_[A-Za-z0-9_]+$/)
            print "    printf(\"number " item[k] " %lld\\n\", (long long)" item[k] ");"
    }
}

function structure(text,   n, k, m, j, item, part, member, sized) {
    sized = text ~ /(size_t|uint32_t) size;/ ? "sized" : "fixed"
    print "    printf(\"structure " name " %zu " sized "\\n\", sizeof(" name "));"
    n = split(text, item, ";")
    for (k = 1; k <= n; ++k) {
        if (item[k] ~ /^ *$/) continue
        if (match(item[k], /\(\*[a-z_0-9]+\)/)) {
            part[1] = substr(item[k], RSTART + 2, RLENGTH - 3)
            m = 1
        } else m = split(item[k], part, ",")
        for (j = 1; j <= m; ++j) {
            member = part[j]
            gsub(/\[[^]]*\]/, "", member)
            sub(/ +$/, "", member)
            sub(/.*[ *]/, "", member)
            print "    printf(\"member " name " " member " %zu %zu\\n\", offsetof(" name ", " member \
                "), sizeof(((" name " *)0)->" member "));"
        }
    }
}
