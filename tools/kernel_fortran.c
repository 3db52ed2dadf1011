/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_fortran.c
 *  A Fortran module with a typed procedure for each kernel. */
#include "config.h"

#include "kernel_fortran.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "meta_backend.h"

enum { NAME = 63 }; /* letters of a name in Fortran */

/* What a parameter is in Fortran: its declaration and what is passed to meta_kernel_run(). */
typedef enum role { ARRAY, VALUE, RESULT } role;

static bool has_place(const meta_kernel_parameter *p)
{
    return p->kind == META_PARAMETER_MIN_AT || p->kind == META_PARAMETER_MAX_AT;
}

static role role_of(const meta_kernel_parameter *p)
{
    if (p->kind == META_PARAMETER_VALUE) return VALUE;
    return p->kind == META_PARAMETER_SUM || p->kind == META_PARAMETER_MIN ||
                   p->kind == META_PARAMETER_MAX || has_place(p)
               ? RESULT
               : ARRAY;
}

/* Unsigned integers travel in the signed ones of their size. */
static const char *fortran_type(uint32_t type)
{
    static const char *const names[] = {
        [META_F64] = "real(c_double)",     [META_F32] = "real(c_float)",
        [META_I64] = "integer(c_int64_t)", [META_U64] = "integer(c_int64_t)",
        [META_I32] = "integer(c_int32_t)", [META_U32] = "integer(c_int32_t)"};
    return type < sizeof names / sizeof *names ? names[type] : "type(c_ptr)";
}

/* What a variable of the program is to which a result goes. */
static const char *result_type(const meta_kernel_parameter *p)
{
    static const char *const places[] = {
        [META_F64] = "type(meta_extreme_f64)", [META_F32] = "type(meta_extreme_f32)",
        [META_I64] = "type(meta_extreme_i64)", [META_U64] = "type(meta_extreme_i64)",
        [META_I32] = "type(meta_extreme_i32)", [META_U32] = "type(meta_extreme_i32)"};
    return has_place(p) && p->type < sizeof places / sizeof *places ? places[p->type]
                                                                    : fortran_type(p->type);
}

static const char *enumerator_of(meta_type type)
{
    static const char *const names[] = {
#define ELEMENT_NAME(NAME, name, bytes, wide, sum) [META_##NAME] = "META_" #NAME,
        META_ARITHMETIC_TYPES(ELEMENT_NAME)
#undef ELEMENT_NAME
    };
    return names[type];
}

/* ------------------------------------------------------------------ names */

/* Names of the module's own, which a parameter cannot have. */
static const char *const taken[] = {"box", "done", "stat", "kernel", "err"};

static bool is_name(const char *name)
{
    return isalpha((unsigned char)*name) && strlen(name) <= NAME;
}

static const char *problem_of(const meta_kernel *k)
{
    if (!is_name(k->name) || strlen(k->name) > NAME - strlen("_f64_device")) return k->name;
    for (uint32_t n = 0; n < k->parameters; ++n) {
        const char *name = k->parameter[n].name;
        if (!is_name(name)) return name;
        for (size_t t = 0; t < sizeof taken / sizeof *taken; ++t)
            if (strcasecmp(name, taken[t]) == 0) return name;
        for (uint32_t m = 0; m < n; ++m)
            if (strcasecmp(name, k->parameter[m].name) == 0) return name;
    }
    return NULL;
}

/* ------------------------------------------------------------------ text */

/* Items with spaces between them, continued on a new line before it gets too long. */
typedef struct list {
    FILE *to;
    int column;
    const char *indent;
    bool begun;
} list;

static void put_item(list *l, const char *before, const char *name, const char *after)
{
    const int length = (int)(strlen(before) + strlen(name) + strlen(after));
    if (l->column + length > 96) {
        fprintf(l->to, " &\n%s", l->indent);
        l->column = (int)strlen(l->indent);
    } else if (l->begun) {
        fputc(' ', l->to);
        ++l->column;
    }
    fprintf(l->to, "%s%s%s", before, name, after);
    l->column += length;
    l->begun = true;
}

/* The procedure for results that are variables of the program, or elements of buffers. */
static void put_procedure(FILE *to, const meta_kernel *k, const char *place)
{
    const char *suffix = meta_element_name((uint32_t)k->type);
    const bool on_device = strcmp(place, "_device") == 0;
    char head[2 * NAME];
    snprintf(head, sizeof head, "    subroutine %s_%s%s(box,", k->name, suffix, place);
    list l = {to, (int)strlen(head), "        ", true};
    fprintf(to, "\n%s", head);
    for (uint32_t n = 0; n < k->parameters; ++n) put_item(&l, "", k->parameter[n].name, ",");
    put_item(&l, "", "done,", "");
    put_item(&l, "", "stat)", "\n");
    fprintf(to, "        type(meta_box), intent(in) :: box\n");
    for (uint32_t n = 0; n < k->parameters; ++n) {
        const meta_kernel_parameter *p = &k->parameter[n];
        const role r = role_of(p);
        if (r == ARRAY || (r == RESULT && on_device))
            fprintf(to, "        type(meta_buffer), intent(in) :: %s\n", p->name);
        else if (r == VALUE)
            fprintf(to, "        %s, intent(in) :: %s%s%s\n", fortran_type(p->type), p->name,
                    p->type < META_TYPE_COUNT ? "" : " ! c_loc() of a ",
                    p->type < META_TYPE_COUNT ? "" : p->type_name);
        else fprintf(to, "        %s, intent(inout), target :: %s\n", result_type(p), p->name);
    }
    fprintf(to, "        type(meta_event), intent(inout), optional, target :: done\n"
                "        integer, intent(out), optional :: stat\n"
                "        type(meta_kernel) :: kernel\n");
    fprintf(to,
            "        call meta_kernel_find(kernel, '%s', %s, stat)\n"
            "        if (present(stat)) then\n"
            "            if (stat /= META_OK) return\n"
            "        end if\n",
            k->name, enumerator_of(k->type));
    l = (list){to, 8, "            ", false};
    fprintf(to, "        ");
    put_item(&l, "", "call meta_kernel_run(kernel, box, [", "");
    for (uint32_t n = 0; n < k->parameters; ++n) {
        static const char *const makers[] = {
            [ARRAY] = "meta_array(", [VALUE] = "meta_value(", [RESULT] = "meta_result("};
        put_item(&l, makers[role_of(&k->parameter[n])], k->parameter[n].name,
                 n + 1 < k->parameters ? ")," : ")");
    }
    put_item(&l, "", "], done, stat)", "\n");
    fprintf(to, "    end subroutine\n");
}

static bool has_results(const meta_kernel *k)
{
    for (uint32_t n = 0; n < k->parameters; ++n)
        if (role_of(&k->parameter[n]) == RESULT) return true;
    return false;
}

const char *kernel_fortran(FILE *to, const char *file, const char *module,
                           meta_kernel *const *kernels, int count)
{
    for (int k = 0; k < count; ++k) {
        const char *problem = problem_of(kernels[k]);
        for (int other = 0; !problem && other < k; ++other)
            if (kernels[other]->type == kernels[k]->type &&
                strcasecmp(kernels[other]->name, kernels[k]->name) == 0)
                problem = kernels[k]->name;
        if (problem) return problem;
    }
    fprintf(to,
            "! Written by meta-kernel from %s: the kernels of that file as procedures.\n"
            "module %s\n"
            "    use, intrinsic :: iso_c_binding\n"
            "    use meta\n"
            "    implicit none\n"
            "    private\n",
            file, module);
    for (int k = 0; k < count; ++k) {
        const meta_kernel *one = kernels[k];
        const char *suffix = meta_element_name((uint32_t)one->type);
        fprintf(to, "    public :: %s_%s\n", one->name, suffix);
        if (!has_results(one)) continue;
        fprintf(to,
                "    interface %s_%s\n"
                "        module procedure %s_%s_host, %s_%s_device\n"
                "    end interface\n",
                one->name, suffix, one->name, suffix, one->name, suffix);
    }
    fprintf(to, "\ncontains\n");
    for (int k = 0; k < count; ++k) {
        const bool twice = has_results(kernels[k]);
        put_procedure(to, kernels[k], twice ? "_host" : "");
        if (twice) put_procedure(to, kernels[k], "_device");
    }
    fprintf(to, "end module %s\n", module);
    return NULL;
}
