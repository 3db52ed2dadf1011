# SPDX-License-Identifier: BSD-3-Clause
# Compares two outputs of programs that layouts.awk writes, of older and of newer headers: prints what a program that
# was compiled with the older ones would get wrong, and fails if there is anything.
# Limits that the library holds against what a program or back end was made with.
BEGIN { may_rise = "^META_KERNEL_VALUE$" }
FNR == 1 { ++files }
$1 == "number" && files == 1 { number[$2] = $3 }
$1 == "number" && files == 2 { new_number[$2] = $3 }
$1 == "structure" && files == 1 { bytes[$2] = $3; kind[$2] = $4 }
$1 == "structure" && files == 2 { new_bytes[$2] = $3 }
$1 == "member" && files == 1 { member[$2 "." $3] = $4 " " $5 }
$1 == "member" && files == 2 {
    new_member[$2 "." $3] = $4 " " $5
    if (!($2 in bytes) || $2 "." $3 in member) next
    if (kind[$2] == "fixed") wrong($2 " has no size, so it cannot have a new member: " $3)
    else if ($4 < bytes[$2])
        wrong($2 "." $3 " begins at byte " $4 ", where older programs may have anything: they have " bytes[$2] " bytes")
}
function wrong(text) { print text; ++count }
END {
    for (n in number)
        if (n !~ /_COUNT$/ && n != "META_PLUGIN_ABI_MINOR" && number[n] "" != new_number[n] "" &&
            !(n ~ may_rise && new_number[n] + 0 > number[n] + 0))
            wrong(n " was " number[n] " and is " (n in new_number ? new_number[n] : "gone"))
    for (s in bytes) {
        if (!(s in new_bytes)) wrong(s " is gone")
        else if (kind[s] == "fixed" && bytes[s] != new_bytes[s]) wrong(s " had " bytes[s] " bytes and has " new_bytes[s])
    }
    for (m in member)
        if (m in new_member && member[m] != new_member[m])
            wrong(m " was at byte " member[m] " bytes long and is at " new_member[m])
        else if (!(m in new_member)) wrong(m " is gone")
    exit count > 0
}
