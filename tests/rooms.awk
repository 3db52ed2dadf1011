# SPDX-License-Identifier: BSD-3-Clause
# Judges the dependences of files by a list of rooms; see tests/rooms.list and tests/test_rooms.sh.
#
# The first file is the list. The second one has a line for each fact; paths are relative to the
# source tree:
#   file PATH                      a source or header
#   include PATH LINE NAME         its #include directive
#   symbol PATH NAME TYPE          a symbol of its object, as `nm -P` shows it
# Exit status 0: no dependence leads upwards and each circle is in the list, 1: otherwise.

function broken(text)
{
    print "BROKEN: " text
    failed = 1
}

function folder(path)
{
    sub(/\/[^\/]*$/, "", path)
    return path
}

function library(path)
{
    sub(/\/.*/, "", path)
    return path
}

# A file's folder must be a room of the list.
function level_of(path,    room)
{
    room = folder(path)
    if (room in level) return level[room]
    if (!(room in missing)) broken(room "/ is not in the list of rooms")
    missing[room] = 1
    return 0
}

# a/b/../c becomes a/c.
function normal(path)
{
    while (sub(/[^\/]+\/\.\.\//, "", path)) continue
    gsub(/\.\//, "", path)
    return path
}

# The file that NAME means in an #include of PATH, or nothing where it is none of the libraries'.
function included(path, name,    k, found)
{
    found = normal(folder(path) "/" name)
    if (found in file) return found
    found = normal(library(path) "/" name)
    if (found in file) return found
    for (k = 1; k <= libraries; ++k) {
        found = normal(libs[k] "/" name)
        if (found in file) return found
    }
    return normal(name) in file ? normal(name) : ""
}

# Whether FROM must not know TO.
function is_upward(from, to)
{
    if (to in interface) return 0
    if (from in interface) return 1
    if (library(from) != library(to)) return !(to in exported)
    return folder(from) != folder(to) && level_of(from) <= level_of(to)
}

function depend(from, to, how)
{
    if (from == to || (from, to) in edge) return
    edge[from, to] = how
    next_of[from] = next_of[from] " " to
}

# Marks in reached[start, …] what FROM depends on, however indirectly.
function reach(start, from,    to, k, count)
{
    count = split(next_of[from], to, " ")
    for (k = 1; k <= count; ++k)
        if (!((start, to[k]) in reached)) {
            reached[start, to[k]] = 1
            reach(start, to[k])
        }
}

function sorted(words,    word, count, j, k, swap, text)
{
    count = split(words, word, " ")
    for (j = 2; j <= count; ++j)
        for (k = j; k > 1 && word[k - 1] > word[k]; --k) {
            swap = word[k]
            word[k] = word[k - 1]
            word[k - 1] = swap
        }
    for (k = 1; k <= count; ++k) text = text (k > 1 ? " " : "") word[k]
    return text
}

function show_edges(circle,    member, count, j, k, shown)
{
    count = split(circle, member, " ")
    for (j = 1; j <= count; ++j)
        for (k = 1; k <= count; ++k)
            if ((member[j], member[k]) in edge && ++shown <= most_shown)
                print "    " member[j] " -> " member[k] ": " edge[member[j], member[k]]
    if (shown > most_shown) print "    and " shown - most_shown " more"
}

function judge_circles(    j, k, circle, size, seen)
{
    for (j = 1; j <= files; ++j) reach(name_of[j], name_of[j])
    for (j = 1; j <= files; ++j) {
        if (name_of[j] in seen || !((name_of[j], name_of[j]) in reached)) continue
        circle = ""
        size = 0
        for (k = 1; k <= files; ++k)
            if ((name_of[j], name_of[k]) in reached && (name_of[k], name_of[j]) in reached) {
                circle = circle " " name_of[k]
                seen[name_of[k]] = 1
                ++size
            }
        circle = sorted(circle)
        if (circle in listed) {
            found_circle[circle] = 1
            continue
        }
        ++circles
        in_circles += size
        broken("a circle of " size " files that the list does not have: " circle)
        show_edges(circle)
    }
    for (circle in listed)
        if (!(circle in found_circle)) broken("the list has a circle that is none: " circle)
}

BEGIN { most_shown = 40 }

/^#/ || NF == 0 { if (NR == FNR) next }

NR == FNR && $1 == "interface" {
    for (k = 2; k <= NF; ++k) interface[$k] = 1
    next
}

NR == FNR && $1 == "export" {
    for (k = 2; k <= NF; ++k) exported[$k] = 1
    next
}

NR == FNR && $1 == "circle" {
    at = index($0, ":")
    if (!at || substr($0, at + 1) !~ /[a-z]/) broken("no reason is given in the line: " $0)
    circle = substr($0, 1, at ? at - 1 : length($0))
    sub(/^circle */, "", circle)
    listed[sorted(circle)] = 1
    next
}

NR == FNR {
    if (!($1 in top)) libs[++libraries] = $1
    ++top[$1]
    for (k = 2; k <= NF; ++k) level[$k == "." ? $1 : $1 "/" $k] = top[$1]
    next
}

$1 == "file" {
    if (!($2 in interface)) inhabited[folder($2)] = 1
    file[$2] = 1
    name_of[++files] = $2
}

$1 == "include" {
    ++includes
    include_from[includes] = $2
    include_line[includes] = $3
    include_name[includes] = $4
}

# An object whose source is gone is a leftover of an earlier build.
$1 == "symbol" && !($2 in file) { next }

# Lower case is local to the object, but for w and v (weak and undefined) and u (unique).
$1 == "symbol" && $4 ~ /^[A-TV-Zu]$/ { definer[library($2), $3] = $2 }
$1 == "symbol" && $4 ~ /^[Uwv]$/ {
    ++uses
    use_from[uses] = $2
    use_name[uses] = $3
}

END {
    for (k = 1; k <= files; ++k)
        if (!(name_of[k] in interface)) level_of(name_of[k])
    for (room in level)
        if (!(room in inhabited)) broken("the list has a room " room "/ that has no file")
    for (k = 1; k <= includes; ++k) {
        from = include_from[k]
        to = included(from, include_name[k])
        if (to == "") continue
        depend(from, to, "line " include_line[k])
        if (is_upward(from, to)) {
            ++upward_includes
            broken(from ":" include_line[k] " includes " to)
        }
    }
    for (k = 1; k <= uses; ++k) {
        from = use_from[k]
        if (!((library(from), use_name[k]) in definer)) continue
        to = definer[library(from), use_name[k]]
        depend(from, to, use_name[k])
        if (is_upward(from, to) && !((from, use_name[k]) in counted)) {
            counted[from, use_name[k]] = 1
            ++upward_uses
            broken(from " uses " use_name[k] " of " to)
        }
    }
    judge_circles()
    printf "%d files, %d includes, %d uses of symbols: ", files, includes, uses
    printf "%d includes and %d uses of rooms above, ", upward_includes, upward_uses
    printf "%d unlisted circles of %d files\n", circles, in_circles
    exit failed
}
