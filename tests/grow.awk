# SPDX-License-Identifier: BSD-3-Clause
# Appends a member to each structure of a header that says its size, as a later version may.
/^typedef struct meta[a-z0-9_]* \{$/ { within = 1; text = ""; sized = 0 }
!within { print; next }
/^ *(size_t|uint32_t) size; / { sized = 1 }
/^\} / {
    printf "%s", text
    if (sized) print "    uint64_t grown[3];"
    print
    within = 0
    next
}
{ text = text $0 "\n" }
