# SPDX-License-Identifier: BSD-3-Clause
# Writes a C file with one call of every public function that the headers given as arguments declare, for
# tests/each_argument.c: each function's name, the names and types of its parameters, and a function that calls it
# with values taken from memory. Public functions that return no meta_err are listed by name.
#
# A declaration begins with META_API at the beginning of a line and ends with a semicolon.

function trim(s) { gsub(/[ \t]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }

# Splits `type name`, `type (*name)(…)` and `type name[n]` into name and type, an array into a pointer.
function split_parameter(text)
{
    text = trim(text)
    if (match(text, /\(\*[a-z_0-9]+\)/)) {
        name = substr(text, RSTART + 2, RLENGTH - 3)
        declared = text
        type = substr(text, 1, RSTART + 1) substr(text, RSTART + RLENGTH - 1)
        return
    }
    declared = text
    if (match(text, /\[[^]]*\]$/)) {
        text = substr(text, 1, RSTART - 1)
        match(text, /[A-Za-z_0-9]+$/)
        declared = substr(text, 1, RSTART - 1) "*" substr(text, RSTART)
        text = declared
    }
    match(text, /[A-Za-z_0-9]+$/)
    name = substr(text, RSTART)
    type = trim(substr(text, 1, RSTART - 1))
}

# At commas outside of parentheses.
function split_parameters(text,    k, c, depth, one)
{
    parameters = 0
    depth = 0
    one = ""
    if (trim(text) == "void") return
    for (k = 1; k <= length(text); ++k) {
        c = substr(text, k, 1)
        if (c == "(") ++depth
        if (c == ")") --depth
        if (c == "," && depth == 0) {
            parameter[++parameters] = one
            one = ""
        } else one = one c
    }
    parameter[++parameters] = one
}

function declare(text,    at, result, function_name, k, names, table)
{
    text = trim(text)
    at = index(text, "(")
    function_name = substr(text, 1, at - 1)
    match(function_name, /[A-Za-z_0-9]+$/)
    result = trim(substr(function_name, 1, RSTART - 1))
    function_name = substr(function_name, RSTART)
    if (result != "meta_err") {
        others = others "    \"" function_name "\",\n"
        return
    }
    text = substr(text, at + 1)
    sub(/\)$/, "", text)
    split_parameters(text)
    print "static meta_err call_" function_name "(const argument_value *given)\n{"
    names = table = ""
    for (k = 1; k <= parameters; ++k) {
        split_parameter(parameter[k])
        print "    " declared ";\n    memcpy(&" name ", given[" k - 1 "].bytes, sizeof " name ");"
        names = names (k > 1 ? ", " : "") name
        table = table (k > 1 ? ", " : "") "{\"" name "\", \"" type "\"}"
    }
    if (!parameters) print "    (void)given;"
    print "    return (" function_name ")(" names ");\n}"
    functions = functions "    {\"" function_name "\", call_" function_name ", " parameters ", {" \
        (parameters ? table : "{NULL, NULL}") "}},\n"
}

BEGIN { print "/* Made by tests/each_argument.awk from the public headers. */" }

/^META_API / { reading = 1; text = "" }
reading {
    line = $0
    sub(/^META_API /, "", line)
    sub(/\/\*.*\*\//, "", line)
    text = text " " line
    if (text ~ /;[ \t]*$/) {
        sub(/;[ \t]*$/, "", text)
        declare(text)
        reading = 0
    }
}

END {
    print "static const argument_function argument_functions[] = {\n" functions "};"
    print "static const char *const argument_others[] = {\n" others "    NULL,\n};"
}
