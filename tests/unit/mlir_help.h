/* MLIR texts and what the reader makes of them. */
#ifndef STET_TESTS_MLIR_HELP_H
#define STET_TESTS_MLIR_HELP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "decode/decode.h"
#include "decode/mlir/mlir.h"
#include "program/compare.h"
#include "program/ops.h"
#include "program/print.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>

static struct stet_program last;
static struct stet_err err;

/* The program of a text that must be readable; released by the next call. */
static inline const struct stet_program *read_text(const char *text)
{
    stet_program_release(&last);
    err = (struct stet_err)STET_ERR_INIT;
    enum stet_rc rc = stet_decode_mlir_text(&last, stet_view_str(text), &err);

    EXPECT_STR("", err.text);
    EXPECT_INT(STET_OK, rc);
    return rc == STET_OK ? &last : NULL;
}

/* The body of @main around some operations on %a: tensor<4xf32>, %b: tensor<2x3xf32>, %p and %i. */
static inline const char *in_main(const char *body)
{
    static char text[8192];

    snprintf(text, sizeof(text),
             "module {\n func.func @main(%%a: tensor<4xf32>, %%b: tensor<2x3xf32>, "
             "%%p: tensor<i1>, %%i: tensor<i32>) {\n%s\n return\n }\n}\n",
             body);
    return text;
}

static inline const struct stet_op *op_at(const struct stet_program *p, uint32_t index)
{
    return stet_op_region(p->entry, 0)->blocks[0]->ops[index];
}

/* Do two bodies mean the same? */
static inline bool same(const char *a, const char *b)
{
    struct stet_program x, y;
    struct stet_err why = STET_ERR_INIT, error = STET_ERR_INIT;
    char *copy = stet_mem_strdup(in_main(a));
    bool equal = false;

    if (stet_decode_mlir_text(&x, stet_view_str(copy), &error) == STET_OK) {
        if (stet_decode_mlir_text(&y, stet_view_str(in_main(b)), &error) == STET_OK) {
            equal = stet_program_same(&x, &y, STET_COMPARE_PLAIN, &why);
            stet_program_release(&y);
        }
        stet_program_release(&x);
    }
    if (!equal)
        fprintf(stderr, "%s%s\n", error.text, why.text);
    stet_mem_free(copy);
    return equal;
}

/* Where and why a text is refused. */
static inline bool refused(const char *text, const char *message)
{
    struct stet_program p;

    err = (struct stet_err)STET_ERR_INIT;
    if (stet_decode_mlir_text(&p, stet_view_str(text), &err) == STET_OK) {
        stet_program_release(&p);
        return false;
    }
    if (strstr(err.text, message))
        return true;
    fprintf(stderr, "refused with: %s\n", err.text);
    return false;
}

static inline const struct stet_attr *attr(struct stet_arena *arena, const char *text)
{
    const struct stet_attr *a = NULL;

    err = (struct stet_err)STET_ERR_INIT;
    stet_mlir_parse_attr(arena, stet_view_str(text), &a, &err);
    EXPECT_STR("", err.text);
    return a;
}

#endif
