/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_kernel_list.h
 *  Whether a kernel's list of parameters is one: judged by the preprocessor in the first pass, before any
 *  code is made of the list, since a compiler repeats a mistake in each macro, type and instruction set.
 *  Only meta_kernel.h includes this.
 *
 *  A word is known if META_K_..._##word is a macro whose value has a comma, so that it fills the first two
 *  arguments of META_K_IF() or META_K_SECOND(). Words of these macros' own begin with meta_, as a program may
 *  have a macro of any other name. */
#ifndef META_KERNEL_LIST_H
#define META_KERNEL_LIST_H

/* META_K_IF(probe, then, otherwise, ): `then` if the probe has a comma. META_K_SECOND(probe, otherwise, ):
 * what follows that comma. */
#define META_K_IF(...)                       META_K_IF_(__VA_ARGS__)
#define META_K_IF_(probe, then, chosen, ...) chosen
#define META_K_SECOND(...)                   META_K_SECOND_(__VA_ARGS__)
#define META_K_SECOND_(probe, chosen, ...)   chosen
#define META_K_NOTHING(...)
#define META_K_AGAIN(...) __VA_ARGS__ /* expand what is complete only now */

/* The kinds: how the items behind a parameter's name are judged. */
#define META_K_KIND_OUT    ~, meta_OUT
#define META_K_KIND_INOUT  ~, meta_INOUT
#define META_K_KIND_IN     ~, meta_READ
#define META_K_KIND_ADD    ~, meta_READ
#define META_K_KIND_SCALAR ~, meta_PLAIN
#define META_K_KIND_VALUE  ~, meta_PLAIN
#define META_K_KIND_SUM    ~, meta_PLAIN
#define META_K_KIND_MIN    ~, meta_PLAIN
#define META_K_KIND_MAX    ~, meta_PLAIN
#define META_K_KIND_MIN_AT ~, meta_PLAIN
#define META_K_KIND_MAX_AT ~, meta_PLAIN
#define META_K_KIND_SHARED ~, meta_SHARED

/* The items: what they are, meta_COUNT if they have the wrong number of numbers. */
#define META_K_ITEM_            ~, meta_NONE
#define META_K_ITEM_CELL        ~, meta_CELL
#define META_K_ITEM_WHOLE       ~, meta_WHOLE
#define META_K_ITEM_STAR(...)   ~, META_K_OF_NUMBERS(1, meta_REACH, __VA_ARGS__)
#define META_K_ITEM_BOX(...)    ~, META_K_OF_NUMBERS(1, meta_REACH, __VA_ARGS__)
#define META_K_ITEM_SIDES(...)  ~, META_K_OF_NUMBERS(6, meta_REACH, __VA_ARGS__)
#define META_K_ITEM_SIDES2(...) ~, META_K_OF_NUMBERS(4, meta_REACH, __VA_ARGS__)
#define META_K_ITEM_SIDES1(...) ~, META_K_OF_NUMBERS(2, meta_REACH, __VA_ARGS__)
#define META_K_ITEM_LINE(...)   ~, META_K_OF_NUMBERS(1, meta_LINE, __VA_ARGS__)
#define META_K_ITEM_PLANE(...)  ~, META_K_OF_NUMBERS(1, meta_LINE, __VA_ARGS__)
#define META_K_ITEM_GROWN(...)  ~, META_K_OF_NUMBERS(3, meta_GROWN, __VA_ARGS__)
#define META_K_ITEM_GROWN2(...) ~, META_K_OF_NUMBERS(2, meta_GROWN, __VA_ARGS__)
#define META_K_ITEM_GROWN1(...) ~, META_K_OF_NUMBERS(1, meta_GROWN, __VA_ARGS__)
#define META_K_OF_NUMBERS(n, item, ...)                                                            \
    META_K_OF_COUNT(n, item, META_K_COUNT(__VA_ARGS__, more, more, 6, 5, 4, 3, 2, 1, ))
#define META_K_COUNT(a, b, c, d, e, f, g, h, count, ...) count
#define META_K_OF_COUNT(n, item, count)                  META_K_OF_COUNT_(n, item, count)
#define META_K_OF_COUNT_(n, item, count)                 META_K_IF(META_K_SAME_##n##_##count, item, meta_COUNT, )
#define META_K_SAME_1_1                                  ~, ~
#define META_K_SAME_2_2                                  ~, ~
#define META_K_SAME_3_3                                  ~, ~
#define META_K_SAME_4_4                                  ~, ~
#define META_K_SAME_6_6                                  ~, ~

/* What may follow the name of an array first, and what further. */
#define META_K_TAKES_meta_READ_meta_CELL   ~, ~
#define META_K_TAKES_meta_READ_meta_WHOLE  ~, ~
#define META_K_TAKES_meta_READ_meta_REACH  ~, ~
#define META_K_TAKES_meta_READ_meta_LINE   ~, ~
#define META_K_TAKES_meta_OUT_meta_NONE    ~, ~
#define META_K_TAKES_meta_OUT_meta_LINE    ~, ~ /* which a call refuses */
#define META_K_TAKES_meta_OUT_meta_GROWN   ~, ~
#define META_K_TAKES_meta_INOUT_meta_NONE  ~, ~
#define META_K_TAKES_meta_INOUT_meta_CELL  ~, ~
#define META_K_TAKES_meta_INOUT_meta_WHOLE ~, ~
#define META_K_TAKES_meta_INOUT_meta_LINE  ~, ~
#define META_K_TAKES_meta_INOUT_meta_GROWN ~, ~
#define META_K_TAKES_meta_MORE_meta_NONE   ~, ~
#define META_K_TAKES_meta_MORE_meta_CELL   ~, ~
#define META_K_TAKES_meta_MORE_meta_WHOLE  ~, ~
#define META_K_TAKES_meta_MORE_meta_REACH  ~, ~
#define META_K_TAKES_meta_MORE_meta_LINE   ~, ~
#define META_K_TAKES_meta_MORE_meta_GROWN  ~, ~

/* What is found about a parameter of a kernel that META_CELLS or META_TEAMS begins: meta_SOUND, or why not. */
#define META_K_FINDING(by, probe, ...)                                                             \
    META_K_FINDING_OF(META_K_SECOND(probe, meta_UNKNOWN, ), by, __VA_ARGS__, , , , , )
#define META_K_FINDING_OF(...) META_K_FINDING_OF_(__VA_ARGS__)
#define META_K_FINDING_OF_(kind, by, type, name, ...)                                              \
    META_K_FIND(name, META_K_FIND_##kind, by, __VA_ARGS__)
#define META_K_FIND(name, judge, ...)                                                              \
    META_K_IF(META_K_EMPTY_##name, META_K_FIND_meta_NAME, judge, )(__VA_ARGS__)
#define META_K_EMPTY_                            ~, ~
#define META_K_FIND_meta_NAME(...)               meta_NAME
#define META_K_FIND_meta_UNKNOWN(...)            meta_KIND
#define META_K_FIND_meta_READ(by, a, b, c, ...)  META_K_FIND_ITEMS(meta_READ, a, b, c)
#define META_K_FIND_meta_OUT(by, a, b, c, ...)   META_K_FIND_ITEMS(meta_OUT, a, b, c)
#define META_K_FIND_meta_INOUT(by, a, b, c, ...) META_K_FIND_ITEMS(meta_INOUT, a, b, c)
#define META_K_FIND_meta_PLAIN(by, a, ...)       META_K_IF(META_K_EMPTY_##a, meta_SOUND, meta_PLAIN, )
#define META_K_FIND_meta_SHARED(by, ...)         META_K_FIND_SHARED_##by(__VA_ARGS__)
#define META_K_FIND_SHARED_meta_CELLS(...)       meta_SHARED
#define META_K_FIND_SHARED_meta_TEAMS(count, ...)                                                  \
    META_K_IF(META_K_IF_EMPTY count (), meta_ELEMENTS, meta_SOUND, )
#define META_K_IF_EMPTY(x) META_K_EMPTY_##x
#define META_K_FIND_ITEMS(kind, a, b, c)                                                           \
    META_K_WORSE(META_K_FIND_ITEM(kind, a),                                                        \
                 META_K_WORSE(META_K_FIND_ITEM(meta_MORE, b), META_K_FIND_ITEM(meta_MORE, c)))
#define META_K_WORSE(a, b)            META_K_WORSE_(a, b)
#define META_K_WORSE_(a, b)           META_K_IF(META_K_IS_##a, b, a, )
#define META_K_IS_meta_SOUND          ~, ~
#define META_K_FIND_ITEM(kind, a)     META_K_FIND_ITEM_(kind, META_K_SECOND(META_K_ITEM_##a, meta_WORD, ))
#define META_K_FIND_ITEM_(kind, item) META_K_FIND_ITEM__(kind, item)
#define META_K_FIND_ITEM__(kind, item)                                                             \
    META_K_IF(META_K_TAKES_##kind##_##item, meta_SOUND, item, )

/* The findings in words, which have no commas and no apostrophes. */
#define META_K_WHY_meta_KIND                                                                       \
    ~, is of no kind that parameters have: OUT INOUT IN ADD VALUE SCALAR SUM MIN MAX MIN_AT MAX_AT or SHARED
#define META_K_WHY_meta_NAME ~, has no name: a parameter has a kind and a type and a name with commas between them
#define META_K_WHY_meta_NONE ~, has no reach behind its name: CELL or STAR(r) or BOX(r) or SIDES(...) or WHOLE
#define META_K_WHY_meta_WORD ~, has an item that is neither a reach nor a shape
#define META_K_WHY_meta_COUNT                                                                      \
    ~, has an item with the wrong number of numbers: SIDES takes 6 and SIDES2 4 and SIDES1 2
#define META_K_WHY_meta_REACH    ~, has a reach: a cell accesses arrays that are OUT or INOUT at itself
#define META_K_WHY_meta_CELL     ~, has a reach that OUT arrays do not have
#define META_K_WHY_meta_WHOLE    ~, has a reach that OUT arrays do not have: INOUT has
#define META_K_WHY_meta_GROWN    ~, has a shape but no reach before it
#define META_K_WHY_meta_PLAIN    ~, has an item behind its name: only arrays have a reach
#define META_K_WHY_meta_ELEMENTS ~, has no number of elements
#define META_K_WHY_meta_SHARED   ~, is for kernels that META_TEAMS begins

/* A sound parameter is a step, which META_K_LISTED takes; what else is in a list stops it. */
#define META_K_JUDGED_meta_CELLS(kind, ...)                                                        \
    META_K_STEP_IF(META_K_FINDING(meta_CELLS, META_K_KIND_##kind, __VA_ARGS__))
#define META_K_JUDGED_meta_TEAMS(kind, ...)                                                        \
    META_K_STEP_IF(META_K_FINDING(meta_TEAMS, META_K_KIND_##kind, __VA_ARGS__))
#define META_K_STEP_IF(finding)       META_K_STEP_IF_(finding)
#define META_K_STEP_IF_(finding)      META_K_IF(META_K_IS_##finding, (meta_sound), (meta_mistake), )
#define META_K_LISTED(parameter)      META_K_LISTED_##parameter
#define META_K_LISTED_meta_sound      META_K_LISTED_TOO
#define META_K_LISTED_TOO(parameter)  META_K_LISTED_TOO_##parameter
#define META_K_LISTED_TOO_meta_sound  META_K_LISTED
#define META_K_LISTED_meta_end        meta_DONE
#define META_K_LISTED_TOO_meta_end    meta_DONE
#define META_K_LIST_IS_meta_DONE      ~, ~
#define META_K_ACCUSED_meta_CELLS(kind, ...)                                                       \
    META_K_ACCUSE(META_K_FINDING(meta_CELLS, META_K_KIND_##kind, __VA_ARGS__), kind, __VA_ARGS__)
#define META_K_ACCUSED_meta_TEAMS(kind, ...)                                                       \
    META_K_ACCUSE(META_K_FINDING(meta_TEAMS, META_K_KIND_##kind, __VA_ARGS__), kind, __VA_ARGS__)
#define META_K_ACCUSE(...) META_K_ACCUSE_(__VA_ARGS__)
#define META_K_ACCUSE_(finding, ...)                                                               \
    META_K_IF(META_K_IS_##finding, META_K_NOTHING, META_K_ERROR, )                                 \
    (parameter A(__VA_ARGS__) META_K_SECOND(META_K_WHY_##finding, is none: is a comma missing, ))

/* An error, and one that ends the compilation: a header that is not there. */
#define META_K_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define META_K_ERROR(...)  META_K_ERROR_(__VA_ARGS__)
#define META_K_ERROR_(...) META_K_PRAGMA(GCC error #__VA_ARGS__)
#define META_K_STOP(...)   META_K_PRAGMA(GCC dependency <mistake in a kernel: __VA_ARGS__>)
#define META_K_FAIL(...)   META_K_ERROR(__VA_ARGS__) META_K_STOP(see above)

/* META_K_JUDGE: what compilers are to assure of a sound list. Else the errors, in the words of the file as
 * far as T goes. */
#define META_K_JUDGE(name, by)                                                                     \
    META_K_CONCLUDE(META_K_AGAIN(META_K_LISTED name##_ARGS(META_K_JUDGED_##by)(meta_end)), )(name, by)
#define META_K_CONCLUDE(...) META_K_CONCLUDE_(__VA_ARGS__)
#define META_K_CONCLUDE_(first, ...)                                                               \
    META_K_IF(META_K_LIST_IS_##first, META_K_ACCEPT, META_K_REFUSE, )
#define META_K_ACCEPT(name, by) name##_ARGS(META_K_ASSURE)
#define META_K_REFUSE(name, by)                                                                    \
    _Pragma("pop_macro(\"T\")") name##_ARGS(META_K_ACCUSED_##by)                                   \
        META_K_STOP(name##_ARGS: this list of parameters is missing or has a mistake)
/* The extents in META_TEAMS. */
#define META_K_JUDGE_EXTENTS(...)                                                                  \
    META_K_IF(META_K_OF_EXTENTS(META_K_COUNT(__VA_ARGS__, more, more, 6, 5, 4, 3, 2, 1, )),        \
              META_K_NOTHING, META_K_FAIL, )                                                       \
    (META_TEAMS(name, x, y, z) has three extents)
#define META_K_OF_EXTENTS(count)  META_K_OF_EXTENTS_(count)
#define META_K_OF_EXTENTS_(count) META_K_SAME_3_##count

/* That no type is a pointer, which __builtin_classify_type() has as 5, and that a reach fits its bytes. */
#ifdef __cplusplus
#define META_K_ASSERT(condition, text) static_assert(condition, text)
#else
#define META_K_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define META_K_ASSURE(kind, type, ...)                                                             \
    META_K_ASSURE_OF(META_K_SECOND(META_K_KIND_##kind, meta_UNKNOWN, ), type, __VA_ARGS__, , )
#define META_K_ASSURE_OF(...) META_K_ASSURE_OF_(__VA_ARGS__)
#define META_K_ASSURE_OF_(kind, type, name, item, ...)                                             \
    META_K_ASSERT(__builtin_classify_type(*(__typeof__(type) *)0) != 5,                            \
                  "the type of " #name " is a pointer, which devices cannot follow");              \
    META_K_IF(META_K_IS_##kind, META_K_ASSURE_REACH, META_K_NOTHING, )(name, META_K_FAR_##item)
#define META_K_IS_meta_READ      ~, ~
#define META_K_ASSURE_REACH(...) META_K_ASSURE_REACH_(__VA_ARGS__)
#define META_K_ASSURE_REACH_(name, x0, x1, y0, y1, z0, z1, w0, w1, star)                           \
    META_K_ASSERT((META_K_FITS(x0) && META_K_FITS(x1) && META_K_FITS(y0) && META_K_FITS(y1) &&     \
                   META_K_FITS(z0) && META_K_FITS(z1) && META_K_FITS(w0) && META_K_FITS(w1)) ||    \
                      (x0) + (x1) + (y0) + (y1) + (z0) + (z1) + (w0) + (w1) == -8 /* WHOLE */,     \
                  "the reach of " #name " has a number that is not one of 0 to 255");
#define META_K_FITS(r) ((r) >= 0 && (r) <= 255)

#endif
