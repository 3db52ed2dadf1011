# SPDX-License-Identifier: BSD-3-Clause
# Generates the manual pages of section 3 from the comments of the public headers: one for each function, type and
# macro, and one for each header. Names that share a comment share a page; the others of them, and the values of
# enumerations, are pages that refer to it. A public name without a comment is an error.
#
#     awk -v version=V -v folder=DIR -f manual.awk HEADER… EXAMPLES…
#
# Comments have @p NAME, @param NAME TEXT, @return TEXT, `code`, lists that begin with - and code that is indented.
# Headings /* ----- TITLE */ divide a header into groups. A page's example is in one of the C files behind the
# headers, between a line with "EXAMPLE: NAME…" and one with "END OF EXAMPLE", in code that the tests run.
# Left out: names that begin with META_K_ or meta_k_, and macros that the header undefines.
# A macro of metamorph*.h that is MetaMorph's name for a function or type of ours is on the page of that: it refers
# to it, unless a name of libmeta's own headers is spelled alike, whose page then says so.

function fail(text)
{
    print "doc/manual.awk: " text > "/dev/stderr"
    failed = 1
}

function trim(text)
{
    sub(/^[ \t\n]+/, "", text)
    sub(/[ \t\n]+$/, "", text)
    return text
}

# ---------------------------------------------------------------- reading

BEGIN { for (k = 128; k < 256; ++k) byte[sprintf("%c", k)] = k }

FNR == 1 {
    is_header = FILENAME ~ /\.h$/ && FILENAME !~ /\.kernel\.h$/
    header = FILENAME
    sub(/.*\//, "", header)
    of_header = header
    if (is_header) {
        headers[++header_count] = header
        group = ""
        is_left_out = in_comment = in_code = 0
        own = ""
        last = 0
        delete gone
        while ((getline line < FILENAME) > 0)
            if (line ~ /^ *#undef /) {
                sub(/^ *#undef +/, "", line)
                gone[line] = 1
            } else keep_name(line)
        close(FILENAME)
    }
    in_example = ""
}

# Examples.
!is_header && (/EXAMPLE: / || is_naming) {
    if (!is_naming) in_example = ""
    is_naming = !/\*\//
    sub(/^.*EXAMPLE: */, "")
    sub(/^ *\* */, "")
    sub(/ *\*\/ *$/, "")
    in_example = in_example " " $0
    example_count = split(in_example, names, " ")
    next
}
!is_header && /END OF EXAMPLE/ { in_example = ""; next }
!is_header && in_example != "" {
    for (k = 1; k <= example_count; ++k) example[names[k]] = example[names[k]] $0 "\n"
    next
}
!is_header { next }

# Headers.
is_left_out { next }
in_comment {
    comment = comment "\n" $0
    if (/\*\//) end_comment()
    next
}
in_code {
    code = code "\n" $0
    if (ends_code()) end_code()
    next
}
/^\/\* (-+ of the parameter list|-+ SHARED in the list|META_K_)/ { is_left_out = 1; next }
/^\/\* ---+ / {
    group = $0
    sub(/^\/\* -+ /, "", group)
    sub(/ *\*\/ *$/, "", group)
    own = ""
    last = 0
    next
}
/^\/\*\*/ {
    comment = $0
    in_comment = 1
    if (/\*\//) end_comment()
    next
}
/^[ \t]*$/ { own = ""; last = 0; next }
/^META_EXTREME_TYPE\(/ { # a macro that makes a type
    split($0, word, /[(), ]+/)
    code = "typedef struct meta_extreme_" word[3] " {\n    " word[2] " value; /**< the extreme */\n" \
        "    int64_t index[META_MAX_DIM]; /**< of its cell */\n} meta_extreme_" word[3] ";"
    kind = "struct"
    if (!extremes) own = extreme_comment
    extremes = 1
    end_code()
    next
}
/^#define / && $2 in ours_for && $3 == ours_for[$2] { next }
/^#define / {
    kind = "macro"
    start_code()
    next
}
/^(META_API|static inline|META_INLINE|typedef|enum)[ \t]/ {
    kind = /^typedef (struct|enum).*\{/ || /^enum / ? "struct" : /^typedef/ ? "typedef" : \
        /^META_API/ ? "function" : "inline"
    if (/^META_API const meta_plugin /) next # declared twice
    if (/^META_API extern /) kind = "variable"
    start_code()
    next
}
/^(#|extern|\})/ { next } # what surrounds declarations

function end_comment()
{
    in_comment = 0
    if (comment ~ /^\/\*\* @file/) about[header] = comment
    else own = comment
    if (comment ~ /An extreme and its place/) extreme_comment = comment
}

function start_code()
{
    code = $0
    in_code = 1
    if (ends_code()) end_code()
}

function ends_code()
{
    if (kind == "macro") return code !~ /\\$/
    if (kind == "struct") return code ~ /(^|\n)\} *[a-z0-9_]*;[^\n]*$/ || code ~ /\{[^\n]*\} *[a-z0-9_]+;$/
    if (kind == "inline") return code ~ /\n\}$/
    return code ~ /;[ \t]*(\/\*.*\*\/)?$/
}

function end_code(    n, name, trailing, joins)
{
    in_code = 0
    trailing = ""
    if (kind != "struct" && kind != "inline" && match(code, /\/\*\*< [^\n]*\*\/[ \t]*$/)) {
        trailing = "/** " substr(code, RSTART + 5)
        code = trim(substr(code, 1, RSTART - 1))
    }
    name = name_of(code)
    if (name ~ /^(META_K_|meta_k_|META(MORPH)?_([A-Z_]+_)?H$)/ || name in gone || name == "") {
        if (name in gone) own = ""
        return
    }
    if (header == "meta_host_kernels.h" && kind == "macro") return
    if (name in number) return
    n = ++count
    number[name] = n
    title[n] = name
    what[n] = kind
    text[n] = code
    from[n] = header
    section[n] = group
    # What a name without a comment of its own shares, and what belongs to the type above it.
    joins = last && (own == "" && trailing == "" || \
        kind == "macro" && (what[last] == "struct" || what[last] == "typedef" || what[last] == "macro") || \
        kind == "struct" && code ~ /^enum/ || kind == "typedef" && trailing != "" && what[last] == "typedef")
    comments[n] = own != "" ? own : trailing
    page[n] = joins ? page[last] : n
    if (comments[n] == "" && !joins) fail(header ": " name " has no comment")
    if (comments[n] == "" && joins && kind != what[last]) fail(header ": " name " has no comment")
    if (kind == "struct") read_members(n)
    own = ""
    last = n
}

function name_of(code,    name)
{
    name = code
    if (kind == "macro") {
        sub(/^#define +/, "", name)
        sub(/[^A-Za-z0-9_].*/, "", name)
        return name
    }
    if (kind == "variable") {
        sub(/;.*/, "", name)
        sub(/.*[ *]/, "", name)
        return name
    }
    if (kind == "struct") {
        if (code ~ /^enum/) {
            match(code, /META_[A-Z0-9_]+/)
            return substr(code, RSTART, RLENGTH)
        }
        sub(/;[^;}]*$/, "", name)
        sub(/.*\} */, "", name)
        return name
    }
    if (kind == "typedef" && code !~ /\(/) {
        sub(/[;[].*/, "", name)
        sub(/.*[ *]/, "", name)
        return name
    }
    sub(/ *\(.*/, "", name)
    sub(/.*[ *\n]/, "", name)
    return name
}

# The members of a structure or the values of an enumeration.
function read_members(n,    body, is_enum, before, piece, at, k, stop)
{
    body = text[n]
    is_enum = body ~ /^(typedef )?enum/
    sub(/^[^{]*\{/, "", body)
    sub(/\}[^}]*$/, "", body)
    if (body ~ /META_TYPE_ENUM5/) {
        sub(/META_ARITHMETIC_TYPES\(META_TYPE_ENUM5\) META_SMALL_TYPES\(META_TYPE_ENUM3\)/, \
            "META_F64, /**< double */ META_F32, /**< float */ META_I64, /**< int64_t */ META_U64, /**< uint64_t */ " \
            "META_I32, /**< int32_t */ META_U32, /**< uint32_t */ META_I16, /**< int16_t; moved only */ " \
            "META_U16, /**< uint16_t; moved only */ META_I8, /**< int8_t; moved only */ " \
            "META_U8, /**< uint8_t; moved only */ ", body)
    }
    while (match(body, /(^|\n)[ \t]*#[^\n]*/)) body = substr(body, 1, RSTART - 1) substr(body, RSTART + RLENGTH)
    before = ""
    while ((body = trim(body)) != "") {
        if (substr(body, 1, 2) == "/*") {
            at = index(body, "*/")
            piece = substr(body, 1, at + 1)
            body = substr(body, at + 2)
            if (piece ~ /^\/\*\*</) member_text[n, members[n]] = plain("/** " substr(piece, 5))
            else if (piece ~ /^\/\*\*/) before = plain(piece)
            continue
        }
        stop = 0
        for (k = 1; k <= length(body) && !stop; ++k) {
            if (substr(body, k, 2) == "/*") stop = k
            else if (substr(body, k, 1) == (is_enum ? "," : ";")) stop = k + 1
        }
        if (!stop) stop = length(body) + 1
        piece = trim(substr(body, 1, stop - 1))
        body = substr(body, stop)
        gsub(/\n[ \t]*/, " ", piece)
        member[n, ++members[n]] = piece
        member_text[n, members[n]] = before
        before = ""
        if (is_enum && piece !~ /\(/) {
            sub(/[ ,=].*/, "", piece)
            value_of[piece] = n
            value_text[piece] = ""
            value_place[piece] = members[n]
        }
    }
}

# The text of a comment, without its marks; lines stay, but for code that goes on in the next one.
function plain(comment,    lines, k, line, out, end)
{
    sub(/^\/\*\*<? ?/, "", comment)
    sub(/[ \t]*\*\/[ \t]*$/, "", comment)
    lines = split(comment, comment_line, "\n")
    out = comment_line[1]
    for (k = 2; k <= lines; ++k) {
        line = comment_line[k]
        sub(/^[ \t]*\*/, "", line)
        sub(/^ /, "", line)
        sub(/^ /, "", line)
        end = out
        out = out (gsub(/`/, "", end) % 2 ? " " : "\n") line
    }
    return of_header ~ /^metamorph/ ? by_our_names(out) : out
}

# ---------------------------------------------------------------- words

function escaped(text)
{
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    return text
}

function bold(text) { return "\\fB" escaped(text) "\\fP" }

# A line of text with fonts. Mentions of other pages are collected in `mentioned`.
function inline_text(line,    out, word, name)
{
    out = ""
    while (match(line, /`[^`]*`|@p [A-Za-z0-9_]+|meta_[a-z0-9_]+(\(\))?|metamorph_[A-Za-z0-9_]+(\(\))?|META(MORPH)?_[A-Z0-9_]+|metaMode[A-Za-z]+|doc\/[a-z\-]+\.md/)) {
        out = out escaped(substr(line, 1, RSTART - 1))
        word = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (word ~ /^`/) out = out bold(substr(word, 2, length(word) - 2))
        else if (word ~ /^@p /) out = out "\\fI" escaped(substr(word, 4)) "\\fP"
        else if (word ~ /^doc/) out = out "\\fI" escaped(word) "\\fP"
        else {
            name = word
            sub(/\(\)$/, "", name)
            mention(name)
            if (line ~ /^\.(h|ke)/ && !(name in number)) out = out escaped(word) # a part of a file's name
            else if (name in number && name != at_name && word ~ /\)$/) out = out bold(name) "(3)"
            else out = out bold(word)
        }
    }
    return out escaped(line)
}

function mention(name)
{
    if (name in value_of) name = title[value_of[name]]
    if (!(name in number)) return
    name = title[page[number[name]]]
    if (name != at_name && !(name in is_mentioned)) {
        is_mentioned[name] = 1
        mentioned[++mentions] = name
    }
}

function put(line)
{
    if (line ~ /^[.']/) line = "\\&" line
    out_text = out_text line "\n"
}

function request(line) { out_text = out_text line "\n" }

# Text of several lines: paragraphs, lists, code.
function put_text(text,    lines, line, k, is_code, is_list, was_blank)
{
    lines = split(text, text_line, "\n")
    is_code = is_list = 0
    was_blank = 1
    for (k = 1; k <= lines; ++k) {
        line = text_line[k]
        if (line ~ /^[ \t]*$/) {
            if (is_code) {
                if (text_line[k + 1] ~ /^    / || k < lines && text_line[k + 1] ~ /^[ \t]*$/) request("")
            }
            was_blank = 1
            continue
        }
        if (line ~ /^    / && (is_code || was_blank)) {
            if (!is_code) {
                request(is_list ? ".IP" : ".PP")
                request(".in +4n")
                request(".EX")
            }
            is_code = 1
            was_blank = 0
            put(escaped(substr(line, 5)))
            continue
        }
        if (is_code) {
            request(".EE")
            request(".in")
            is_code = 0
            was_blank = 1
        }
        if (line ~ /^ *- /) {
            sub(/^ *- /, "", line)
            request(".IP \\(bu 2")
            is_list = 1
        } else if (was_blank && k > 1 || is_list && line !~ /^ /) {
            if (line !~ /^ /) is_list = 0
            request(is_list ? ".IP" : ".PP")
        }
        was_blank = 0
        sub(/^ +/, "", line)
        put(inline_text(line))
    }
    if (is_code) {
        request(".EE")
        request(".in")
    }
}

# ---------------------------------------------------------------- pages

# Divides a comment into said[""], said["return"] and said[PARAMETER].
function divide(comment,    lines, k, line, part, at, rest, name)
{
    for (k in said) delete said[k]
    said[""] = said["return"] = ""
    lines = split(plain(comment), divided, "\n")
    part = ""
    for (k = 1; k <= lines; ++k) {
        line = divided[k]
        if (line ~ /^[ \t]*$/ && part != "") part = ""
        while (match(line, /@(return|param)[ ,]/)) {
            at = RSTART
            rest = substr(line, at)
            add_part(part, substr(line, 1, at - 1))
            if (rest ~ /^@return/) {
                part = "return"
                sub(/^@return[ ,]*/, "", rest)
            } else {
                sub(/^@param +/, "", rest)
                match(rest, /^[a-z0-9_]+(, *[a-z0-9_]+)*/)
                part = substr(rest, 1, RLENGTH)
                rest = trim(substr(rest, RLENGTH + 1))
            }
            line = rest
        }
        add_part(part, line)
    }
    said[""] = trim_lines(said[""])
}

function add_part(part, line)
{
    if (part != "") line = trim(line)
    if (part != "" && line == "") return
    said[part] = part in said && (said[part] != "" || part == "") ? said[part] "\n" line : line
}

function trim_lines(text)
{
    sub(/^[ \t\n]+/, "", text)
    sub(/[ \t\n]+$/, "", text)
    return text
}

# The first sentence, for the section NAME.
function brief_of(text,    line, at, first)
{
    gsub(/\n[ \t]*/, " ", text)
    gsub(/@p /, "", text)
    gsub(/`/, "", text)
    gsub(/ \([^()]*( [^()]*|\([^()]*\))*\)/, "", text)
    at = match(text, /[.;:] |[.:] *$|, such as /)
    if (at) text = substr(text, 1, at - 1)
    if (length(text) > 100 && (at = match(text, /, /)) > 24) text = substr(text, 1, at - 1)
    first = substr(text, 1, 1)
    if (substr(text, 2, 1) ~ /[a-z ]/ && text !~ /^(GPU|MPI|MetaMorph)/) text = tolower(first) substr(text, 2)
    return text
}

function start_page(name, names, brief)
{
    out_text = ""
    mentions = 0
    for (name_k in is_mentioned) delete is_mentioned[name_k]
    at_name = name
    request(".\\\" SPDX-License-Identifier: BSD-3-Clause")
    request(".TH " escaped(toupper(name)) " 3 \"\" \"libmeta " version "\" \"libmeta\"")
    request(".SH NAME")
    put(escaped(names) " \\- " escaped(brief))
}

# Characters beyond ASCII by their numbers, which troff understands whatever the encoding.
function in_ascii(text,    out, first, size, code, k)
{
    out = ""
    while (match(text, /[\200-\377]/)) {
        out = out substr(text, 1, RSTART - 1)
        text = substr(text, RSTART)
        first = byte[substr(text, 1, 1)]
        size = first >= 240 ? 4 : first >= 224 ? 3 : 2
        code = first - (size == 4 ? 240 : size == 3 ? 224 : 192)
        for (k = 2; k <= size; ++k) code = code * 64 + byte[substr(text, k, 1)] - 128
        out = out sprintf("\\[u%04X]", code)
        text = substr(text, size + 1)
    }
    return out text
}

function end_page(name,    path)
{
    path = folder "/" name ".3"
    printf "%s", in_ascii(out_text) > path
    close(path)
    ++pages
}

# A prototype in bold, with its parameters in italics, in lines of at most 78 characters.
function put_prototype(code,    head, body, pieces, k, one, line, width, shown, stop)
{
    sub(/^META_API +/, "", code)
    sub(/^META_INLINE +/, "static inline ", code)
    if (match(code, /\n\{/)) code = substr(code, 1, RSTART - 1)
    gsub(/\n[ \t]*/, " ", code)
    sub(/;$/, "", code)
    at = index(code, "(")
    if (code ~ /^typedef [a-z_]+ \(/ || code ~ /\) __attribute__/ || !at || code ~ /\(\*/) {
        put("\\fB" escaped(code) ";\\fP")
        request(".br")
        return
    }
    head = substr(code, 1, at)
    body = substr(code, at + 1)
    sub(/\)$/, "", body)
    pieces = split(body, piece_list, /, */)
    line = "\\fB" escaped(head) "\\fP"
    width = length(head)
    for (k = 1; k <= pieces; ++k) {
        one = piece_list[k]
        stop = k < pieces ? "," : ");"
        if (match(one, /[a-z0-9_]+(\[[^]]*\])?$/) && RSTART > 1)
            shown = "\\fB" escaped(substr(one, 1, RSTART - 1)) "\\fI" escaped(substr(one, RSTART)) "\\fB" stop "\\fP"
        else shown = "\\fB" escaped(one) stop "\\fP"
        if (width + length(one) + 2 > 74 && k > 1) {
            put(line)
            line = "        " shown
            width = 8 + length(one) + 2
        } else {
            line = line (k > 1 ? " " : "") shown
            width += length(one) + 2
        }
    }
    put(line)
}

# A structure or enumeration without its comments.
function put_type(n,    k, head, tail, is_enum)
{
    is_enum = text[n] ~ /^(typedef )?enum/
    head = text[n]
    sub(/\{.*/, "{", head)
    tail = text[n]
    sub(/;[^;}]*$/, ";", tail)
    sub(/^.*\}/, "}", tail)
    put("\\fB" escaped(head) "\\fP")
    for (k = 1; k <= members[n]; ++k) put("\\fB    " escaped(member[n, k]) "\\fP")
    put("\\fB" escaped(tail) "\\fP")
}

function put_macro(n,    line)
{
    line = text[n]
    if (line ~ /\n/ || length(line) > 78) {
        if (match(line, /^#define [A-Za-z0-9_]+(\([^)]*\))?/)) line = substr(line, 1, RLENGTH)
    }
    gsub(/  +/, " ", line)
    put("\\fB" escaped(line) "\\fP")
}

function package_of(header)
{
    return header == "meta_comm.h" ? "libmeta_comm" : header == "meta_io.h" ? "libmeta_io" : \
        header ~ /^metamorph/ ? "libmeta_metamorph" : "libmeta"
}

function put_synopsis(p,    n)
{
    request(".SH SYNOPSIS")
    request(".nf")
    put("\\fB#include <" (from[p] ~ /^meta_(kernel_team|kernel_extremes)\.h$/ ? "meta_kernel.h" : \
        from[p] == "meta_types.h" ? "meta.h" : from[p] == "meta_space.h" ? "meta_backend.h" : from[p]) ">\\fP")
    for (n = 1; n <= count; ++n)
        if (page[n] == p) {
            request(".PP")
            if (what[n] == "struct") put_type(n)
            else if (what[n] == "macro") put_macro(n)
            else put_prototype(text[n])
        }
    for (n = 1; n <= count; ++n)
        if (page[n] == p && title[n] in theirs_for) {
            request(".PP")
            put("\\fB#define " theirs_for[title[n]] " " title[n] "\\fP")
        }
    request(".fi")
    if (what[p] == "function") {
        request(".PP")
        put("Compile and link with \\fB$(pkg\\-config \\-\\-cflags \\-\\-libs " package_of(from[p]) ")\\fP.")
    }
}

function is_error_function(p) { return what[p] == "function" && text[p] ~ /^META_API meta_err / }

# A parameter of MetaMorph's that is the same everywhere.
function said_of_metamorph(one)
{
    if (one ~ /^meta_dim3 \*(grid_size|block_size)$/) return "ignored, may be NULL: libmeta chooses the threads"
    if (one == "meta_bool async")
        return "false: the function returns when the work is complete. true: the work is queued, and " \
            "metamorph_flush() waits for it."
    if (one == "meta_callback *call")
        return "NULL, or what is called when the work is complete, see meta_callback(). It must stay valid until then."
    if (one == "metamorph_event *ret_event")
        return "NULL, or an event of metamorph_init_event(), which becomes that of the work"
    if (one == "meta_type_id type") return "the type of the elements, see meta_type_id()"
    return ""
}

# The parameters that a comment says something about, and those that are the same everywhere.
function put_parameters(p,    any, pieces, k, one, name, part, n, line, done_parts)
{
    any = 0
    for (n = 1; n <= count; ++n) {
        if (page[n] != p || what[n] != "function" && what[n] != "inline" && what[n] != "typedef") continue
        line = text[n]
        gsub(/\n[ \t]*/, " ", line)
        if (line !~ /\(/ || line ~ /\(\*/ && what[n] == "typedef") continue
        sub(/^[^(]*\(/, "", line)
        sub(/\)[^)]*$/, "", line)
        pieces = split(line, piece_list, /, */)
        for (k = 1; k <= pieces; ++k) {
            one = piece_list[k]
            if (!match(one, /[a-z0-9_]+(\[[^]]*\])?$/)) continue
            name = substr(one, RSTART)
            sub(/\[.*/, "", name)
            for (part in said)
                if (part != "" && part != "return" && (", " part ",") ~ (", *" name ",") && !(part in has_put)) {
                    if (!any++) request(".SH PARAMETERS")
                    request(".TP")
                    request(".I " escaped(part))
                    has_put[part] = 1
                    put_lines(said[part])
                    done_parts = done_parts " " name " "
                }
            if (index(done_parts, " " name " ")) continue
            if (one == "meta_event *done" && what[n] == "function") {
                if (!any++) request(".SH PARAMETERS")
                request(".TP")
                request(".I done")
                put_lines("NULL: the call blocks. META_ASYNC: the work is queued, and meta_flush() waits for it. " \
                    "Otherwise it is queued, and *done becomes an event for meta_event_wait().")
                done_parts = done_parts " done "
            } else if (one ~ /^meta_type (type|to_type|from_type)$/ && what[n] == "function") {
                if (!any++) request(".SH PARAMETERS")
                request(".TP")
                request(".I " escaped(name))
                put_lines("the type of the elements" (name == "to_type" ? " afterwards" : name == "from_type" ? " before" : "") \
                    ", see meta_type()")
                done_parts = done_parts " " name " "
            } else if (from[n] ~ /^metamorph/ && said_of_metamorph(one) != "") {
                if (!any++) request(".SH PARAMETERS")
                request(".TP")
                request(".I " escaped(name))
                put_lines(said_of_metamorph(one))
                done_parts = done_parts " " name " "
            }
        }
    }
    for (part in said)
        if (part != "" && part != "return" && !(part in has_put))
            fail(from[p] ": " title[p] " has no parameter " part)
    for (part in has_put) delete has_put[part]
}

function put_lines(text,    lines, k)
{
    lines = split(text, put_line, "\n")
    for (k = 1; k <= lines; ++k) put(inline_text(trim(put_line[k])))
}

# The errors that a comment names, each with what it says about it, else with what meta_err says.
function put_errors(p,    rest, intro, code, at, clause, any)
{
    rest = said["return"]
    gsub(/\n[ \t]*/, " ", rest)
    intro = rest
    if (match(rest, /META_ERR_[A-Z_]+/)) intro = trim(substr(rest, 1, RSTART - 1))
    request(".SH RETURN VALUE")
    if (intro != "" && intro !~ /^(or|and)$/) {
        sub(/[,;]$/, "", intro)
        if (intro !~ /\.$/) intro = intro "."
        put_lines("Returns " intro)
        if (rest !~ /META_ERR/) {
            request(".br")
            put_lines("Otherwise, on an error: its code, and meta_last_error() has the message.")
            return
        }
        rest = substr(rest, index(rest, "META_ERR_"))
    } else if (rest != "" && match(rest, /META_ERR_/)) rest = substr(rest, RSTART)
    put_lines("META_OK, or the code of an error. Then nothing is written, unless this page says so, and")
    put_lines("meta_last_error() names the call, the argument, the cause and the remedy.")
    request(".SH ERRORS")
    any = 0
    while (match(rest, /^META_ERR_[A-Z_]+/)) {
        code = substr(rest, 1, RLENGTH)
        rest = substr(rest, RLENGTH + 1)
        # Up to the next code that begins a clause.
        at = match(rest, /([;,.] +(or +|and +)?| or | and )META_ERR_[A-Z_]+/)
        if (at) {
            clause = trim(substr(rest, 1, at - 1))
            rest = substr(rest, at)
            rest = substr(rest, index(rest, "META_ERR_"))
        } else {
            clause = trim(rest)
            rest = ""
        }
        sub(/^[,:] */, "", clause)
        sub(/[,;] *(or|and)?$/, "", clause)
        request(".TP")
        request(".B " code)
        if (clause == "" && code in value_of) clause = member_text[value_of[code], value_place[code]]
        sub(/[.]$/, "", clause)
        put_lines(clause)
        ++any
    }
    if (any) request(".PP")
    put_lines((any ? "Besides, as" : "As") " from all functions: META_ERR_INIT where the library has to be initialized and")
    put_lines("is not,")
    put_lines("META_ERR_ARGUMENT for a NULL or an unknown value, and whatever else in meta_err() fits the arguments.")
}

# What the functions of metamorph*.h return.
function put_metamorph_errors(p)
{
    request(".SH RETURN VALUE")
    if (said["return"] != "") {
        put_lines(said["return"] (said["return"] ~ /\.$/ ? "" : "."))
        return
    }
    if (text[p] ~ /^META_API metamorph_err /)
        put_lines("0, or an error: a code of libmeta, see meta_err(), or -1 for an argument that is refused here.")
    else if (from[p] == "metamorph_mpi.h") {
        put_lines("None. An error ends the job by MPI_Abort(), after a line on the standard error stream.")
        return
    } else put_lines("None.")
    put_lines("An error is also a line on the standard error stream, with the function, the argument and the remedy.")
}

# The names that MetaMorph has for what is on a page, and those of another header that are spelled alike.
function put_other_names(p,    n, name, names, alike, where, of_ours, see_ours)
{
    names = alike = of_ours = see_ours = ""
    for (n = 1; n <= count; ++n) {
        if (page[n] != p) continue
        if (title[n] in ours_for && ours_for[title[n]] in number) {
            name = ours_for[title[n]]
            of_ours = of_ours (of_ours == "" ? "" : ", ") bold(title[n])
            see_ours = see_ours (see_ours == "" ? "" : ", ") bold(name) "(3)"
            mention(name)
        }
        if (!(title[n] in theirs_for)) continue
        name = theirs_for[title[n]]
        names = names (names == "" ? "" : ", ") bold(name)
        if (!(name in number)) continue
        alike = alike (alike == "" ? "" : ", ") bold(name) "(3)"
        where = from[number[name]]
        mention(name)
    }
    if (of_ours != "") {
        request(".SH NOTES")
        put("In programs that include " bold("metamorph.h") "(3) something else has the name " of_ours ": see " \
            see_ours ".")
    }
    if (names == "") return
    request(".PP")
    put(escaped("MetaMorph's name is a macro, unless METAMORPH_NO_NAMES is defined: ") names ".")
    if (alike != "") put("Something else has that name where " bold(where) "(3) is included: see " alike ".")
}

function put_members(p,    n, k, any, label)
{
    any = 0
    for (n = 1; n <= count; ++n) {
        if (page[n] != p || what[n] != "struct" || !members[n]) continue
        if (!any++) request(".SH " (text[n] ~ /^(typedef )?enum/ ? "VALUES" : "MEMBERS"))
        for (k = 1; k <= members[n]; ++k) {
            if (member_text[n, k] == "") continue
            label = member[n, k]
            sub(/[;,]$/, "", label)
            request(".TP")
            put("\\fB" escaped(label) "\\fP")
            put_lines(member_text[n, k])
        }
    }
}

function put_example(p,    n, lines, k, body, least)
{
    body = ""
    for (n = 1; n <= count; ++n)
        if (page[n] == p && title[n] in example && !index(body, example[title[n]]))
            body = body (body == "" ? "" : "\n") example[title[n]]
    if (body == "") {
        if (what[p] == "function") fail(from[p] ": " title[p] " has no example")
        return
    }
    request(".SH EXAMPLE")
    if (body ~ /TRY\(/) {
        if (from[p] ~ /^metamorph/)
            put("TRY() leaves the function where a call has not returned 0; the error is printed then.")
        else put("TRY() is the check of errors that \\fBlibmeta\\fP(7) shows.")
        request(".PP")
    }
    request(".in +4n")
    request(".EX")
    lines = split(body, example_line, "\n")
    least = 99
    for (k = 1; k < lines; ++k)
        if (match(example_line[k], /[^ ]/) && RSTART - 1 < least) least = RSTART - 1
    for (k = 1; k < lines; ++k) put(escaped(substr(example_line[k], least + 1)))
    request(".EE")
    request(".in")
}

# Where the guide for a page is.
function guide_of(p)
{
    if (from[p] == "meta_library.h") return "library"
    if (from[p] ~ /^metamorph/) return "from-metamorph"
    if (from[p] == "meta_kernel_team.h") return "kernel-teams"
    if (from[p] == "meta_kernel_extremes.h") return "kernel-results"
    if (from[p] ~ /^meta_kernel/) return "kernels"
    if (from[p] ~ /^meta_(backend|space|host_kernels)/) return "plugins"
    if (title[p] ~ /reproducible/) return "reproducible"
    if (section[p] == "profiling") return "profiling"
    if (section[p] == "policies") return "scheduling"
    if (section[p] == "sharing") return "native-code"
    return "tutorial"
}

function see(name, in_section)
{
    if (name in is_seen || name == at_name) return
    is_seen[name] = 1
    ++seen
    see_list = see_list (see_list == "" ? "" : ",\n") ".BR " escaped(name) " (" in_section ")"
}

# What the comment mentions, the types of the prototypes, the neighbours in the group, the header.
function put_see_also(p,    k, n, line, word, distance, most)
{
    see_list = ""
    seen = 0
    for (k in is_seen) delete is_seen[k]
    for (n = 1; n <= count; ++n)
        if (page[n] == p) {
            is_seen[title[n]] = 1
            line = text[n]
            if (what[n] == "inline" || what[n] == "macro") sub(/\n.*/, "", line)
            gsub(/\/\*[^*]*\*\//, "", line)
            while (match(line, /meta(morph)?_[A-Za-z0-9_]+/)) {
                word = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                if (word !~ /^meta(morph)?_err$/) mention(word)
            }
        }
    for (k = 1; k <= mentions; ++k) see(mentioned[k], 3)
    most = seen + 8
    for (distance = 1; distance < count && seen < most; ++distance) {
        near(p, p - distance, most)
        near(p, p + distance, most)
    }
    see(from[p], 3)
    see("libmeta", 7)
    put_see_list()
    request(".PP")
    put("The guide \\fIdoc/" escaped(guide_of(p)) ".md\\fP, which \\fBmeta\\-info \\-\\-documents\\fP finds.")
}

function near(p, n, most)
{
    if (n < 1 || n > count || seen >= most) return
    if (from[n] != from[p] || section[n] != section[p] || page[n] != n) return
    see(title[n], 3)
}

function put_see_list(    lines, k)
{
    request(".SH SEE ALSO")
    lines = split(see_list, see_line, ",\n")
    for (k = 1; k <= lines; ++k) request(see_line[k] (k < lines ? " ," : ""))
}

function write_page(p,    n, names, brief, any, own_name)
{
    of_header = from[p]
    divide(comments[p])
    names = title[p]
    for (n = 1; n <= count; ++n) if (page[n] == p && n != p) names = names ", " title[n]
    for (n = 1; n <= count; ++n)
        if (page[n] == p && title[n] in theirs_for && !(theirs_for[title[n]] in number))
            names = names ", " theirs_for[title[n]]
    briefs[p] = brief_of(said[""])
    start_page(title[p], names, briefs[p])
    put_synopsis(p)
    request(".SH DESCRIPTION")
    put_text(said[""])
    # What macros and types that belong to it say.
    for (n = 1; n <= count; ++n)
        if (page[n] == p && n != p && comments[n] != "") {
            request(".TP")
            request(".B " escaped(title[n]))
            put_lines(plain(comments[n]))
        }
    if (of_header ~ /^metamorph/) put_other_names(p)
    put_members(p)
    put_parameters(p)
    if (is_error_function(p)) put_errors(p)
    else if (of_header ~ /^metamorph/ && what[p] == "function") put_metamorph_errors(p)
    else if (said["return"] != "") {
        request(".SH RETURN VALUE")
        put_lines(said["return"])
    }
    if (of_header !~ /^metamorph/) put_other_names(p)
    put_example(p)
    put_see_also(p)
    end_page(title[p])
    for (n = 1; n <= count; ++n) {
        if (page[n] != p) continue
        if (n != p) write_alias(title[n], title[p])
        if (title[n] in theirs_for && !(theirs_for[title[n]] in number)) write_alias(theirs_for[title[n]], title[p])
    }
}

function write_alias(name, to)
{
    # Of two names that differ in capitals only, man finds the other.
    if (tolower(name) in lower) return
    lower[tolower(name)] = 1
    out_text = ".so man3/" to ".3\n"
    end_page(name)
}

function write_header(header,    n, group, shown, k, comment)
{
    if (!(header in about)) {
        fail(header " has no comment that begins with @file")
        return
    }
    of_header = header
    comment = about[header]
    sub(/@file [a-z_.]+[ \t]*\n/, "\n", comment)
    divide(comment)
    start_page(header, header, brief_of(said[""]))
    request(".SH SYNOPSIS")
    put("\\fB#include <" header ">\\fP")
    request(".PP")
    put("Compile and link with \\fB$(pkg\\-config \\-\\-cflags \\-\\-libs " package_of(header) ")\\fP.")
    request(".SH DESCRIPTION")
    put_text(said[""])
    group = "none"
    for (n = 1; n <= count; ++n) {
        if (from[n] != header || page[n] != n) continue
        if (section[n] != group) {
            group = section[n]
            request(group == "" ? ".SH NAMES" : ".SH " escaped(toupper(group)))
        }
        request(".TP")
        request(".BR " escaped(title[n]) " (3)")
        put(escaped(briefs[n]))
    }
    see_list = ""
    seen = 0
    for (k in is_seen) delete is_seen[k]
    for (k = 1; k <= header_count; ++k) see(headers[k], 3)
    see("libmeta", 7)
    see("libmeta-env", 7)
    put_see_list()
    end_page(header)
}

END {
    if (failed) exit 1
    # Words of the language of kernels, which the header's comment describes.
    words["meta_kernel.h"] = "META_CELLS META_AGAIN META_FUNCTION META_KERNELS_HERE META_KERNEL_TYPES " \
        "META_KERNEL_FILE META_NATIVE_OPENCL META_NATIVE_GPU"
    words["meta_kernel_team.h"] = "META_TEAMS META_TEAM_BARRIER"
    for (n = 1; n <= count; ++n) lower[tolower(title[n])] = page[n] == n
    for (n = 1; n <= count; ++n) if (page[n] != n && !(lower[tolower(title[n])])) delete lower[tolower(title[n])]
    for (n = 1; n <= count; ++n) if (page[n] == n) write_page(n)
    for (name in value_of) if (!(name in number)) write_alias(name, title[page[value_of[name]]])
    for (k = 1; k <= header_count; ++k) write_header(headers[k])
    for (header in words) {
        if (!(header in about)) continue
        size = split(words[header], word, " ")
        for (k = 1; k <= size; ++k) write_alias(word[k], header)
    }
    if (failed) exit 1
    if (!count) fail("the headers have no names")
    exit failed
}
