/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_kernel_end.h
 *  After the last pass over a kernel file: the program's macros and options are in force again. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif
#pragma GCC diagnostic pop
#ifdef __clang__
#if META_K_VARIANT == 1 || META_K_VARIANT == 2
#pragma clang attribute pop
#endif
#else
#pragma GCC pop_options
#endif
#undef META_K_TYPE
#undef META_K_VARIANT
#undef META_K_VARIANTS
#undef META_K_LAST
#undef META_K_FIRST
#undef META_K_AT
#undef META_K_SHARED_AT
#undef META_K_GET
#undef META_K_NAME
#undef META_K_ENUM
#undef META_K_FLAGS
#undef META_K_JUDGE_FIRST
#undef META_K_TELLS
#undef META_CELLS
#undef META_TEAMS
#undef META_AGAIN
#undef META_FUNCTION
#undef META_KERNEL_TYPES
#undef META_KERNEL_FILE
#pragma pop_macro("T")
#pragma pop_macro("FN")
#pragma pop_macro("AT")
#pragma pop_macro("AT1")
#pragma pop_macro("AT2")
#pragma pop_macro("AT4")
#pragma pop_macro("ON")
#pragma pop_macro("GET")
#pragma pop_macro("INDEX")
#pragma pop_macro("ADD")
#pragma pop_macro("ADD_TO")
#pragma pop_macro("LOWER")
#pragma pop_macro("RAISE")
#pragma pop_macro("ABS")
#pragma pop_macro("LEAST")
#pragma pop_macro("MOST")
#pragma pop_macro("SQRT")
#pragma pop_macro("MEMBERS")
#pragma pop_macro("SHARED")
#pragma pop_macro("MY")
#pragma pop_macro("EXTENT")
#pragma pop_macro("START")
#pragma pop_macro("TEAM")
#pragma pop_macro("TEAMS")
