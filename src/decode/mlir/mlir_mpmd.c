/* The parts in angle brackets of the short forms of Shardy's MPMD operations. Its attributes are
 * kept as the text of the generic form ("#mpmd.user_origin<…>"). */
#include "decode/mlir/mlir_form.h"

#include <stdio.h>

/* `before`, the text from `from` on, `after`. */
static const struct stet_attr *kept(struct mlir *p, struct stet_view before, const char *from,
                                    size_t length, const char *after)
{
    size_t more = strlen(after);
    char *text = mlir_ok(p) ? stet_arena_raw(p->arena, before.len + length + more, 1) : NULL;

    if (!text) {
        stet_mlir_no_memory(p); /* keeps an earlier failure */
        return NULL;
    }
    memcpy(text, before.ptr, before.len);
    memcpy(text + before.len, from, length);
    memcpy(text + before.len + length, after, more);
    return stet_mlir_make(
        p, (struct stet_attr){
               .kind = STET_ATTR_OPAQUE,
               .of.name = stet_build_name(p->arena, STET_VIEW("mpmd"), (struct stet_view){0}),
               .word = stet_view_of(text, before.len + length + more),
           });
}

/* "name" or "name"(1), where the number counts transpositions. */
static const struct stet_attr *user_origin(struct mlir *p)
{
    char count[32] = ">";
    const char *from, *end;
    int64_t times = 0;

    stet_mlir_space(p);
    from = p->at;
    stet_mlir_string(p);
    end = p->at;
    if (mlir_ok(p) && stet_mlir_accept(p, "(")) {
        times = stet_mlir_int(p);
        stet_mlir_expect(p, ")");
    }
    if (times > 0)
        snprintf(count, sizeof count, "(%lld)>", (long long)times);
    return kept(p, STET_VIEW(".user_origin<"), from, (size_t)(end - from), count);
}

static const struct stet_attr *origins(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);
    bool first = true;
    uint32_t n;

    stet_mlir_expect(p, "[");
    while (stet_mlir_more(p, "]", &first))
        stet_mlir_push_pointer(p, &p->scratch, user_origin(p));
    const struct stet_attr *const *items = stet_mlir_pop(p, &p->scratch, mark, sizeof(*items), &n);

    return stet_mlir_make_array(p, items, n);
}

/* <add> */
static const struct stet_attr *reduction(struct mlir *p)
{
    struct stet_view word;

    stet_mlir_expect(p, "<");
    word = stet_mlir_word(p, "a reduction");
    stet_mlir_expect(p, ">");
    return kept(p, STET_VIEW(".reduction<"), word.ptr, word.len, ">");
}

const struct stet_attr *stet_mlir_mpmd_attr(struct mlir *p, struct stet_view mnemonic)
{
    if (stet_view_is(mnemonic, "user_origin"))
        return user_origin(p);
    return stet_view_is(mnemonic, "origins") ? origins(p) : reduction(p);
}

/* , stage=1, in_shardings=[…], out_shardings=[…]: each may be missing. */
void stet_mlir_mpmd_fragment(struct mlir *p, struct mlir_op *o)
{
    (void)o;
    while (mlir_ok(p) && stet_mlir_accept(p, ",")) {
        const char *where = p->at;
        struct stet_view word = stet_mlir_word(p, "a part of the fragment");

        stet_mlir_expect(p, "=");
        if (stet_view_is(word, "stage"))
            stet_mlir_add_attr(p, "stage_id",
                               stet_mlir_make_int(p, stet_type_integer(p->arena, 64, STET_SIGNLESS),
                                                  stet_mlir_int(p)));
        else if (stet_view_is(word, "in_shardings"))
            stet_mlir_add_attr(p, "in_shardings", stet_mlir_sdy_per_value(p));
        else if (stet_view_is(word, "out_shardings"))
            stet_mlir_add_attr(p, "out_shardings", stet_mlir_sdy_per_value(p));
        else
            stet_mlir_fail(p, where, "a fragment has no '%.*s'", STET_FMT(word));
    }
}
