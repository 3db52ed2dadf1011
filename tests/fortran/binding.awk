# SPDX-License-Identifier: BSD-3-Clause
# Normalizes the C and Fortran declarations of libmeta to a common form, one per line, for
# tests/fortran/test_fortran_binding.sh to compare.
#
#   function NAME RESULT (ARGUMENT KIND, …)     a function
#   enumerator NAME VALUE                       where the value is written down, else the next one
#   struct NAME (MEMBER KIND, …)                a structure; KIND has [N] for an array
#
# A kind is int, int64, size, double, char, event, halo (structures by value), or `pointer` for
# anything passed by address. The C input is preprocessed, with META_API empty.
# Variables: language (c or fortran).

function trim(s) { sub(/^ +/, "", s); sub(/ +$/, "", s); return s }
function append(list, item) { return list == "" ? item : list ", " item }

# ---------------------------------------------------------------- C

function c_kind(type)
{
    if (type ~ /[*]/ || type ~ /meta_policy_function/) return "pointer"
    gsub(/(^| )const /, " ", type)
    type = trim(type)
    if (type == "int" || type ~ /^(meta_mode|meta_type|meta_err|meta_op|meta_slab|meta_path|meta_policy_scope)$/ ||
        type ~ /^meta_(stencil_kind|boundary_kind|native_kind|memory_kind|halo_kind|halo_op|io_format)$/ ||
        type == "MPI_Comm")
        return "int"
    if (type == "int64_t" || type == "uint64_t") return "int64"
    if (type == "uint32_t") return "int32"
    if (type == "size_t") return "size"
    if (type == "double") return "double"
    if (type == "char") return "char"
    sub(/^meta_/, "", type)
    return type
}

# A declarator of base type `type`: its name and kind.
function c_one(type, declarator,    name, kind, array)
{
    array = ""
    if (declarator ~ /\(\*/) {
        sub(/^.*\(\*/, "", declarator)
        sub(/\).*$/, "", declarator)
        return declarator " pointer"
    }
    if (match(declarator, /\[[^]]*\]/)) {
        array = substr(declarator, RSTART, RLENGTH)
        declarator = substr(declarator, 1, RSTART - 1)
    }
    name = declarator
    sub(/^.*[ *]/, "", name)
    kind = c_kind(type substr(declarator, 1, length(declarator) - length(name)))
    return name " " kind array
}

function c_arguments(text,    k, c, depth, one, list, argument)
{
    if (trim(text) == "void") return ""
    depth = 0
    one = list = ""
    text = text ","
    for (k = 1; k <= length(text); ++k) {
        c = substr(text, k, 1)
        if (c == "(") ++depth
        if (c == ")") --depth
        if (c == "," && depth == 0) {
            argument = trim(one)
            sub(/\[[^]]*\]$/, "", argument) != 0 && argument = argument "*"
            if (argument ~ /[*]$/ && argument !~ / [*]+$/) {
                sub(/[*]$/, "", argument)
                one = argument
                sub(/[A-Za-z_0-9]+$/, "", argument)
                list = append(list, substr(one, length(argument) + 1) " pointer")
            } else {
                list = append(list, c_one("", argument))
            }
            one = ""
        } else {
            one = one c
        }
    }
    return list
}

function c_function(text,    result, name)
{
    name = text
    sub(/\(.*$/, "", name)
    result = name
    sub(/[A-Za-z_0-9]+$/, "", result)
    name = trim(substr(name, length(result) + 1))
    sub(/^[^(]*\(/, "", text)
    sub(/\)[^)]*$/, "", text)
    sub(/^metaf_/, "meta_", name)
    print "function " name " " c_kind(result) " (" c_arguments(text) ")"
}

function c_enum(text,    count, part, k, value, pair)
{
    sub(/^[^{]*[{]/, "", text)
    sub(/[}].*$/, "", text)
    count = split(text, part, ",")
    value = 0
    for (k = 1; k <= count; ++k) {
        if (trim(part[k]) == "") continue
        if (split(part[k], pair, "=") == 2) value = pair[2] + 0
        if (pair[1] ~ /META_/) print "enumerator " trim(pair[1]) " " value
        ++value
    }
}

function c_struct(text,    name, count, part, k, n, names, type, list, j)
{
    name = text
    sub(/^.*[}] */, "", name)
    sub(/^meta_/, "", name)
    sub(/^[^{]*[{]/, "", text)
    sub(/[}].*$/, "", text)
    count = split(text, part, ";")
    list = ""
    for (k = 1; k <= count; ++k) {
        if (trim(part[k]) == "") continue
        if (part[k] ~ /\(\*/) {
            list = append(list, c_one("", part[k]))
            continue
        }
        n = split(trim(part[k]), names, ",")
        type = names[1]
        sub(/\[.*$/, "", type)
        sub(/[*]*[A-Za-z_0-9]+$/, "", type)
        names[1] = substr(trim(names[1]), length(type) + 1)
        for (j = 1; j <= n; ++j) list = append(list, c_one(type, trim(names[j])))
    }
    print "struct " trim(name) " (" list ")"
}

function c_statement(text)
{
    gsub(/[ \t\n]+/, " ", text)
    text = trim(text)
    if (text ~ /^(typedef )?enum [a-z_]*[ ]*[{]/) c_enum(text)
    else if (text ~ /^typedef struct meta_[a-z_]* [{]/) c_struct(text)
    else if (text ~ /^(meta_err|const char [*]) ?metaf?_[a-z0-9_]* ?\(.*\)$/) c_function(text)
}

function c_file(text,    k, c, depth, statement)
{
    depth = 0
    statement = ""
    for (k = 1; k <= length(text); ++k) {
        c = substr(text, k, 1)
        if (c == "{") ++depth
        if (c == "}") --depth
        if (c == ";" && depth == 0) {
            c_statement(statement)
            statement = ""
        } else {
            statement = statement c
        }
    }
}

# ---------------------------------------------------------------- Fortran

function f_kind(type)
{
    if (type ~ /c_funptr|c_ptr/) return "pointer"
    if (type ~ /c_int64_t/) return "int64"
    if (type ~ /c_int32_t/) return "int32"
    if (type ~ /c_size_t/) return "size"
    if (type ~ /c_double/) return "double"
    if (type ~ /c_char/) return "char"
    if (type ~ /c_int\)/) return "int"
    sub(/^type\(meta_c_/, "", type)
    sub(/\).*$/, "", type)
    return type
}

# A declaration TYPE :: NAME, NAME…: the kinds of its names.
function f_declaration(line, in_function,    type, names, count, name, k, kind, array, size)
{
    type = line
    sub(/ *::.*$/, "", type)
    type = trim(type)
    names = line
    sub(/^.*:: */, "", names)
    gsub(/ = [^,]*/, "", names)
    count = split(names, name, ",")
    for (k = 1; k <= count; ++k) {
        name[k] = trim(name[k])
        kind = f_kind(type)
        array = ""
        if (match(name[k], /\(.*\)$/)) {
            array = substr(name[k], RSTART + 1, RLENGTH - 2)
            name[k] = substr(name[k], 1, RSTART - 1)
            sub(/^0:META_PATH_COUNT-1$/, "META_PATH_COUNT", array)
            sub(/^META_MAX_DIM$/, "10", array)
            sub(/^META_LABEL_BYTES$/, "64", array)
            array = "[" array "]"
        }
        if (in_function && type !~ /, value/ && name[k] != "res") {
            kind = "pointer"
            array = ""
        }
        f_of[name[k]] = kind array
        f_names = append(f_names, name[k] " " kind array)
    }
}

function f_line(line,    count, part, k, pair, list, text)
{
    if (line ~ /^enumerator/) {
        sub(/^enumerator *:: */, "", line)
        count = split(line, part, ",")
        for (k = 1; k <= count; ++k) {
            if (split(part[k], pair, "=") == 2) f_value = pair[2] + 0
            print "enumerator " trim(pair[1]) " " f_value++
        }
    } else if (line ~ /^enum,/) {
        f_value = 0
    } else if (line ~ /^type, bind/) {
        f_name = line
        sub(/^.*:: *meta_c_/, "", f_name)
        f_struct = 1
        f_names = ""
    } else if (f_struct && line ~ /^end type/) {
        print "struct " f_name " (" f_names ")"
        f_struct = 0
    } else if (line ~ /^function /) {
        f_name = line
        sub(/^.*name="metaf?_/, "", f_name)
        sub(/".*$/, "", f_name)
        f_called = line
        sub(/^function c_/, "", f_called)
        sub(/\(.*$/, "", f_called)
        if (f_called != f_name) print "misnamed " f_called " " f_name
        f_arguments = line
        sub(/^[^(]*\(/, "", f_arguments)
        sub(/\).*$/, "", f_arguments)
        f_function = 1
        split("", f_of)
    } else if (f_function && line ~ /^end function/) {
        count = split(f_arguments, part, ",")
        list = ""
        for (k = 1; k <= count; ++k) list = append(list, trim(part[k]) " " f_of[trim(part[k])])
        print "function meta_" f_name " " f_of["res"] " (" list ")"
        f_function = 0
    } else if ((f_function || f_struct) && line ~ /::/) {
        f_declaration(line, f_function)
    }
}

# ---------------------------------------------------------------- both

language == "c" {
    all = all $0 "\n"
    next
}
{
    sub(/!.*$/, "")
    line = trim($0)
    if (continued != "") line = continued line
    if (line ~ /&$/) {
        sub(/&$/, "", line)
        continued = line
        next
    }
    continued = ""
    if (line != "") f_line(line)
}
END {
    if (language == "c") c_file(all)
}
