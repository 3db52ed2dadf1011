# SPDX-License-Identifier: BSD-3-Clause
# What Doxygen reads in place of a guide or a public header (doc/Doxyfile.in): the same text, as many lines, the
# way Doxygen wants it.
#
#  - A guide has a label for links, guide_NAME, and begins with its title; blocks of code say their language only.
#  - `doc/NAME.md`, `NAME.md` and links to NAME.md lead to the guide's page; there is a warning if there is none.
#  - In a header, a declaration that shares the comment of the one before it says so. What macros make of lists
#    is spelled out. What follows the public part, META_K_…, and macros that do not outlive the header are left out.
#  - In metamorph*.h, comments name our functions instead of the macros that MetaMorph's names are, and the macros
#    become a list: several are spelled like functions of other headers.

function label(name)
{
    sub(/\.md$/, "", name)
    sub(/^.*\//, "", name)
    gsub(/-/, "_", name)
    return "guide_" tolower(name)
}

# Links to guides: what `pattern` finds in a line.
function linked(line, pattern,    out, word, name)
{
    out = ""
    while (match(line, pattern)) {
        word = substr(line, RSTART, RLENGTH)
        name = word
        if (word ~ /^\]/) {
            gsub(/[\]()]/, "", name)
            word = "](@ref " label(name) ")"
        } else {
            gsub(/`/, "", name)
            word = "[" name "](@ref " label(name) ")"
        }
        out = out substr(line, 1, RSTART - 1) word
        line = substr(line, RSTART + RLENGTH)
    }
    return out line
}

FNR == 1 {
    is_guide = FILENAME ~ /\.md$/
    is_main = FILENAME ~ /README\.md$/
    is_titled = is_code = is_left_out = is_macro_left_out = names = 0
    documented = before = ""
    delete gone
    if (!is_guide) {
        while ((getline line < FILENAME) > 0)
            if (line ~ /^ *#undef /) {
                sub(/^ *#undef +/, "", line)
                gone[line] = 1
            }
        close(FILENAME)
        if (FILENAME ~ /metamorph[a-z_]*\.h$/) read_names(FILENAME)
    }
}

# What MetaMorph's names stand for, in all of its headers.
function read_names(path,    file, k, folder, headers)
{
    folder = path
    sub(/[^\/]*$/, "", folder)
    split("metamorph.h metamorph_mpi.h metamorph_profiling.h", headers, " ")
    for (k = 1; k <= 3; ++k) {
        file = folder headers[k]
        while ((getline line < file) > 0) keep_name(line)
        close(file)
    }
}

# ---------------------------------------------------------------- guides

is_guide && FNR == 1 { print ""; next } # the licence
is_guide && !is_titled && /^# / {
    is_titled = 1
    print $0 (is_main ? "" : " {#" label(FILENAME) "}")
    next
}
is_guide && /^```/ {
    is_code = !is_code
    if (is_code) sub(/ .*/, "")
    print
    next
}
is_guide {
    if (!is_code) {
        $0 = linked($0, "`(doc/(design/)?)?([a-z-]+|CONTRIBUTING|CHANGELOG)\\.md`")
        $0 = linked($0, "\\]\\([a-z-]+\\.md\\)")
        gsub(/ #if /, " \\#if ")
    }
    print
    next
}

# ---------------------------------------------------------------- headers

/^\/\* (-+ of the parameter list|-+ SHARED in the list|META_K_)/ { is_left_out = 1 }
is_left_out { print ""; next }
# MetaMorph's names, as a further paragraph about the file.
/^#ifndef METAMORPH_NO_NAMES/ {
    names = 1
    print "/** @file"
    next
}
names && /^#define / {
    print (names == 1 ? " *  @details MetaMorph's names, unless METAMORPH_NO_NAMES is defined:" : names)
    names = " *  - `" $2 "` for @ref " $3
    next
}
names && /^#endif/ {
    print names " */"
    names = 0
    next
}
FILENAME ~ /metamorph[a-z_]*\.h$/ && !/^#/ { $0 = by_our_names($0) }
# Macros that are undefined again, here or by the files that are included with them.
/^ *#define / {
    name = $2
    sub(/\(.*/, "", name)
    is_macro_left_out = name in gone || (FILENAME ~ /host_kernels/ && name ~ /^META_(T|W|A|LOWEST|HIGHEST)$/)
}
is_macro_left_out {
    if ($0 !~ /\\$/) is_macro_left_out = 0
    print ""
    next
}

# The members of enumeration meta_type, which a list makes.
/META_ARITHMETIC_TYPES\(META_TYPE_ENUM5\)/ {
    print "META_F64 /**< double */, META_F32 /**< float */, META_I64 /**< int64_t */, META_U64 /**< uint64_t */, " \
        "META_I32 /**< int32_t */, META_U32 /**< uint32_t */, META_I16 /**< int16_t; moved only */, " \
        "META_U16 /**< uint16_t; moved only */, META_I8 /**< int8_t; moved only */, " \
        "META_U8 /**< uint8_t; moved only */,"
    next
}
# Records of extremes, which a macro makes.
/^META_EXTREME_TYPE\(/ {
    split($0, word, /[(), ]+/)
    print "/** A MIN_AT or MAX_AT of " word[2] ". See meta_extreme_f64. */ typedef struct meta_extreme_" word[3] \
        " { " word[2] " value; /**< the extreme */ int64_t index[META_MAX_DIM]; /**< its place */ } meta_extreme_" \
        word[3] ";"
    next
}
{
    $0 = linked($0, "doc/[a-z-]+\\.md")
    if (/^ \*/) gsub(/#if/, "\\#if")
}
/^META_API .*[ *]meta(morph)?_[A-Za-z0-9_]*\(/ || /^static inline .*[ *]meta_[a-z0-9_]*\(/ {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    if (before ~ /\*\/[ \t]*$/) documented = name
    else if (before ~ /;[ \t]*$/ && documented != "") {
        print "/** @copydoc " documented "() */ " $0
        before = $0
        next
    }
}
{
    if ($0 == "") documented = ""
    before = $0
    print
}
