# SPDX-License-Identifier: BSD-3-Clause
# MetaMorph's names, which are macros for ours in metamorph*.h: for manual.awk and site.awk, which are read behind it.

# Keep the name that a line of a header defines, if it defines one.
function keep_name(line,    word)
{
    if (line !~ /^#define [A-Za-z0-9_]+ +metamorph_[A-Za-z0-9_]+$/) return
    split(line, word, " ")
    ours_for[word[2]] = word[3]
    theirs_for[word[3]] = word[2]
}

# A comment of metamorph*.h, which calls functions as MetaMorph does, but in code.
function by_our_names(text,    out, word)
{
    out = ""
    while (match(text, /`[^`]*`|[A-Za-z_][A-Za-z0-9_]*/)) {
        word = substr(text, RSTART, RLENGTH)
        out = out substr(text, 1, RSTART - 1) (word in ours_for ? ours_for[word] : word)
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}
