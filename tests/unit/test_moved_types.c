/* Which of the differences between two calls change what jit traces. */
#include "explain/moved.h"

#include "test.h"

#include <string.h>

static struct stet_journal_values before, now;
static struct stet_arena arena;

static void add(struct stet_journal_values *to, struct stet_journal_value v)
{
    if (v.scope == STET_SCOPE_LOCAL)
        v.scope = STET_SCOPE_ARGUMENT;
    stet_journal_values_add(to, &v);
}

static struct stet_journal_value array(const char *path, bool weak)
{
    return (struct stet_journal_value){.kind = STET_VALUE_ARRAY,
                                       .path = stet_view_str(path),
                                       .type = STET_VIEW("ArrayImpl"),
                                       .text = STET_VIEW("float32"),
                                       .weak = weak};
}

static struct stet_journal_value number(const char *path, double value)
{
    return (struct stet_journal_value){.kind = STET_VALUE_FLOAT,
                                       .path = stet_view_str(path),
                                       .type = STET_VIEW("float"),
                                       .real = value};
}

static struct stet_journal_value mesh(int64_t axes)
{
    return (struct stet_journal_value){.kind = STET_VALUE_LENGTH,
                                       .scope = STET_SCOPE_CALLED,
                                       .path = STET_VIEW("mesh"),
                                       .type = STET_VIEW("tuple"),
                                       .number = axes};
}

static void start(void)
{
    stet_arena_init(&arena, (size_t)1 << 20);
    stet_journal_values_init(&before);
    stet_journal_values_init(&now);
}

static uint32_t compared(const struct stet_moved **out)
{
    return stet_explain_moved_make(&arena, stet_view_of(before.bytes, before.used),
                                   stet_view_of(now.bytes, now.used), true, out);
}

TEST(a_number_and_an_array_of_weak_type_are_traced_the_same_way)
{
    const struct stet_moved *m;

    start();
    add(&before, number("args[0]", 0.5));
    add(&now, array("args[0]", true));
    EXPECT_INT(1, compared(&m));
    EXPECT(m[0].traced_alike && !m[0].typed && m[0].array);
    stet_arena_release(&arena);
}

TEST(a_number_that_becomes_an_array_of_its_own_type_changes_the_type)
{
    const struct stet_moved *m;

    start();
    add(&before, number("args[0]", 0.5));
    add(&now, array("args[0]", false));
    add(&before, array("args[1]", true));
    add(&now, array("args[1]", false));
    EXPECT_INT(2, compared(&m));
    EXPECT(m[0].typed && !m[0].traced_alike);
    EXPECT(m[1].typed && !m[1].traced_alike);
    stet_arena_release(&arena);
}

TEST(a_mesh_that_is_set_around_one_call_is_the_first_difference)
{
    const struct stet_moved *m;

    start();
    add(&before, mesh(1));
    add(&now, mesh(0));
    add(&before, number("args[0]", 1));
    add(&now, number("args[0]", 2));
    EXPECT_INT(2, compared(&m));
    EXPECT_INT(STET_SCOPE_CALLED, m[0].scope);
    EXPECT(stet_view_is(m[0].from, "a mesh") && stet_view_is(m[0].to, "no mesh"));
    stet_arena_release(&arena);
}
