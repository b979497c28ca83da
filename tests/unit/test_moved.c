/* Which values of two compiles differ. */
#include "explain/moved.h"
#include "test.h"

#include <stdlib.h>

static void add(struct stet_journal_values *out, const char *path,
                enum stet_journal_value_kind kind, int64_t number)
{
    struct stet_journal_value v = {.kind = kind,
                                   .scope = STET_SCOPE_ARGUMENT,
                                   .path = stet_view_str(path),
                                   .type = STET_VIEW("int"),
                                   .number = number};

    stet_journal_values_add(out, &v);
}

static uint32_t compare(struct stet_arena *arena, const struct stet_journal_values *before,
                        const struct stet_journal_values *now, const struct stet_moved **moved)
{
    return stet_explain_moved_make(arena, stet_view_of(before->bytes, before->used),
                                   stet_view_of(now->bytes, now->used), true, moved);
}

TEST(an_argument_that_was_not_read_is_not_absent)
{
    struct stet_journal_values *all = calloc(1, sizeof *all), *cut = calloc(1, sizeof *cut);
    const struct stet_moved *moved;
    struct stet_arena arena;

    stet_arena_init(&arena, 1 << 20);
    add(all, "args[0]['a']", STET_VALUE_INT, 1);
    add(all, "args[0]['b']", STET_VALUE_INT, 2);
    add(all, "args[1]", STET_VALUE_INT, 3);
    add(cut, "args[0]['a']", STET_VALUE_INT, 1);
    EXPECT_INT(2, compare(&arena, all, cut, &moved));
    EXPECT_INT(2, compare(&arena, cut, all, &moved));
    add(cut, "args[0]" STET_VALUES_CUT, STET_VALUE_LENGTH, 2);
    EXPECT_INT(1, compare(&arena, all, cut, &moved));
    EXPECT_INT(1, compare(&arena, cut, all, &moved));
    EXPECT(stet_view_is(moved[0].path, "args[1]") && moved[0].one_sided);
    stet_arena_release(&arena);
    free(all);
    free(cut);
}

/* A library's function around the user's, which took a model apart and was not read to its end. */
static struct stet_journal_values *taken_apart(const char *const *keys)
{
    struct stet_journal_values *out = calloc(1, sizeof *out);
    struct stet_journal_value fun = {.kind = STET_VALUE_OBJECT,
                                     .scope = STET_SCOPE_CALLED,
                                     .path = STET_VIEW("fun"),
                                     .type = STET_VIEW("JitFn")};
    struct stet_journal_value own = {.kind = STET_VALUE_FUNCTION,
                                     .scope = STET_SCOPE_CLOSURE,
                                     .path = STET_VIEW("fun"),
                                     .text = STET_VIEW("step"),
                                     .file = STET_VIEW("/home/u/nets.py"),
                                     .line = 3};

    stet_journal_values_add(out, &fun);
    stet_journal_values_add(out, &own);
    add(out, "args[0]" STET_VALUES_CUT, STET_VALUE_LENGTH, 9);
    add(out, "args[0].states[0][1]", STET_VALUE_ARRAY, 0);
    for (; *keys; keys++)
        add(out, *keys, STET_VALUE_ARRAY, 0);
    return out;
}

TEST(a_key_that_came_is_seen_beside_arguments_that_were_cut)
{
    static const char *const less[] = {"args[1]['x']", "args[2][0]", NULL};
    static const char *const more[] = {"args[1]['weight']", "args[1]['x']", "args[2][0]",
                                       "args[2][1]",        "args[0]['y']", NULL};
    struct stet_journal_values *a = taken_apart(less), *b = taken_apart(more);
    const struct stet_moved *moved;
    struct stet_arena arena;

    stet_arena_init(&arena, 1 << 20);
    EXPECT_INT(1, compare(&arena, a, b, &moved));
    EXPECT(stet_view_is(moved[0].path, "args[1]['weight']") && moved[0].one_sided &&
           moved[0].wrapped && stet_view_is(moved[0].from, "absent"));
    EXPECT_INT(1, compare(&arena, b, a, &moved));
    EXPECT(moved[0].one_sided && stet_view_is(moved[0].to, "absent"));
    stet_arena_release(&arena);
    free(a);
    free(b);
}

TEST(a_constant_may_be_what_a_number_leaves_of_one)
{
    const struct stet_moved moved[] = {{.numeric = true, .from_number = 4, .to_number = 5},
                                       {.numeric = true, .from_number = 0.3, .to_number = 0.2}};
    const double kept[] = {0.7, 0.8}, taken[] = {-0.3, -0.2}, other[] = {0.7, 0.9};

    EXPECT(stet_explain_moved_holder(moved, 2, kept) == &moved[1]);
    EXPECT(stet_explain_moved_holder(moved, 2, taken) == &moved[1]);
    EXPECT(stet_explain_moved_holder(moved, 2, other) == NULL);
}
