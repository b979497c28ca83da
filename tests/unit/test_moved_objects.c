/* Objects and functions in the values of two compiles: those that are held in several places, were
 * made anew, or were passed to a library's wrapper. */
#include "explain/held_list.h"
#include "explain/moved.h"

#include "test.h"

static struct stet_journal_values before, now;
static struct stet_arena arena;

static void start(void)
{
    stet_arena_init(&arena, (size_t)16 << 20);
    stet_journal_values_init(&before);
    stet_journal_values_init(&now);
}

static struct stet_view bytes_of(const struct stet_journal_values *v)
{
    return stet_view_of(v->bytes, v->used);
}

static void add(struct stet_journal_values *to, enum stet_journal_value_scope scope,
                const char *path, struct stet_journal_value v)
{
    v.scope = scope;
    v.frame = scope == STET_SCOPE_LOCAL || scope == STET_SCOPE_PASSED ? 7 : 3;
    v.path = stet_view_str(path);
    stet_journal_values_add(to, &v);
}

static struct stet_journal_value object(uint64_t address)
{
    return (struct stet_journal_value){
        .kind = STET_VALUE_OBJECT, .type = STET_VIEW("Model"), .address = address};
}

static struct stet_journal_value container(uint64_t address)
{
    return (struct stet_journal_value){
        .kind = STET_VALUE_CONTAINER, .type = STET_VIEW("Transform"), .address = address};
}

static struct stet_journal_value function(const char *file, uint64_t address)
{
    return (struct stet_journal_value){.kind = STET_VALUE_FUNCTION,
                                       .type = STET_VIEW("function"),
                                       .text = STET_VIEW("update_fn"),
                                       .file = stet_view_str(file),
                                       .line = 81,
                                       .address = address};
}

static struct stet_journal_value number(int64_t value)
{
    return (struct stet_journal_value){
        .kind = STET_VALUE_INT, .type = STET_VIEW("int"), .number = value};
}

static uint32_t compared(const struct stet_moved **out)
{
    return stet_explain_moved_make(&arena, bytes_of(&before), bytes_of(&now), true, out);
}

static const struct stet_journal_value *at(const struct stet_held_list *l,
                                           enum stet_journal_value_scope scope, const char *path)
{
    struct stet_journal_value like = {.scope = scope, .path = stet_view_str(path)};

    return stet_held_list_like(l, &like);
}

TEST(an_object_has_its_fields_wherever_it_is_held)
{
    struct stet_held_list l;

    start();
    add(&now, STET_SCOPE_ARGUMENT, "args[0]", container(40));
    add(&now, STET_SCOPE_ARGUMENT, "args[0]['w']", number(5));
    add(&now, STET_SCOPE_LOCAL, "self.model", object(50));
    add(&now, STET_SCOPE_LOCAL, "model", object(50));
    add(&now, STET_SCOPE_LOCAL, "params", container(40));
    add(&now, STET_SCOPE_LOCAL, "other", object(60));
    add(&now, STET_SCOPE_LOCAL, "model.noise", object(51));
    add(&now, STET_SCOPE_LOCAL, "model.noise.strength", number(3));
    add(&now, STET_SCOPE_LOCAL, "modelled", number(4));
    EXPECT(stet_held_list_read(&l, &arena, bytes_of(&now)));
    EXPECT(at(&l, STET_SCOPE_LOCAL, "self.model.noise.strength"));
    EXPECT_INT(3, at(&l, STET_SCOPE_LOCAL, "self.model.noise.strength")->number);
    EXPECT_INT(7, at(&l, STET_SCOPE_LOCAL, "self.model.noise.strength")->frame);
    EXPECT(at(&l, STET_SCOPE_LOCAL, "params['w']"));
    EXPECT(!at(&l, STET_SCOPE_LOCAL, "other.noise.strength"));
    EXPECT(!at(&l, STET_SCOPE_LOCAL, "self.modelled"));
    stet_arena_release(&arena);
}

TEST(objects_that_hold_each_other_end)
{
    struct stet_held_list l;

    start();
    for (int i = 0; i < 40; i++) { /* each holds the other and itself, under many names */
        char path[32];

        snprintf(path, sizeof path, "a.b%d", i);
        add(&now, STET_SCOPE_LOCAL, path, object(1));
        snprintf(path, sizeof path, "c.d%d", i);
        add(&now, STET_SCOPE_LOCAL, path, object(2));
    }
    add(&now, STET_SCOPE_LOCAL, "a", object(2));
    add(&now, STET_SCOPE_LOCAL, "c", object(1));
    EXPECT(stet_held_list_read(&l, &arena, bytes_of(&now)));
    EXPECT(l.count <= STET_HELD_LIST_MOST);
    stet_arena_release(&arena);
}

/* state.tx = make(rate): its functions are others, and close over another rate. */
static void optimizer(struct stet_journal_values *to, uint64_t address, int64_t rate)
{
    add(to, STET_SCOPE_ARGUMENT, "args[0]", object(address));
    add(to, STET_SCOPE_ARGUMENT, "args[0].tx", container(address + 1));
    add(to, STET_SCOPE_ARGUMENT, "args[0].tx.init", function("/x/site-packages/o.py", address + 2));
    add(to, STET_SCOPE_ARGUMENT, "args[0].tx.update",
        function("/x/site-packages/o.py", address + 3));
    add(to, STET_SCOPE_ARGUMENT, "args[0].tx.update.step_size", number(rate));
    add(to, STET_SCOPE_ARGUMENT, "args[0].apply", function("/x/site-packages/a.py", 77));
}

TEST(functions_that_were_made_again_are_named_once_with_what_they_close_over)
{
    const struct stet_moved *m;

    start();
    optimizer(&before, 100, 3);
    optimizer(&now, 200, 2);
    EXPECT_INT(2, compared(&m));
    EXPECT(stet_view_is(m[0].path, "args[0].tx") && m[0].anew && !m[0].numeric);
    EXPECT(stet_view_is(m[0].to, "Transform object"));
    EXPECT(stet_view_is(m[1].path, "args[0].tx.update.step_size") && m[1].numeric && !m[1].anew);
    EXPECT(stet_view_is(m[1].maker, "args[0].tx"));
    /* In another process addresses mean nothing. */
    EXPECT_INT(1, stet_explain_moved_make(&arena, bytes_of(&before), bytes_of(&now), false, &m));
    EXPECT(m[0].numeric && !m[0].maker.len);
    stet_arena_release(&arena);
}

TEST(an_object_that_each_call_makes_again_is_not_a_difference)
{
    const struct stet_moved *m;

    start();
    add(&before, STET_SCOPE_ARGUMENT, "args[0]", object(1));
    add(&now, STET_SCOPE_ARGUMENT, "args[0]", object(2));
    add(&before, STET_SCOPE_ARGUMENT, "args[0].step", container(3));
    add(&now, STET_SCOPE_ARGUMENT, "args[0].step", container(4));
    EXPECT_INT(0, compared(&m));
    stet_arena_release(&arena);
}

TEST(what_a_library_was_passed_has_the_name_of_the_users_variable)
{
    const struct stet_moved *m;

    start();
    for (int i = 0; i < 2; i++) {
        struct stet_journal_values *to = i ? &now : &before;

        add(to, STET_SCOPE_PASSED, "args[0]", object(9));
        add(to, STET_SCOPE_PASSED, "args[0].blocks.0.calls", number(4 + i));
        add(to, STET_SCOPE_PASSED, "args[1].calls", number(14 + i));
        add(to, STET_SCOPE_LOCAL, "line", number(4 + i));
        add(to, STET_SCOPE_LOCAL, "self.net", object(9));
    }
    EXPECT_INT(3, compared(&m));
    EXPECT(stet_view_is(m[0].path, "self.net.blocks.0.calls") && m[0].passed);
    EXPECT(m[0].scope == STET_SCOPE_LOCAL && m[0].frame == 7 && m[0].from_number == 4);
    EXPECT(stet_view_is(m[1].path, "args[1].calls") && m[1].scope == STET_SCOPE_PASSED);
    EXPECT(stet_view_is(m[2].path, "line") && !m[2].passed);
    stet_arena_release(&arena);
}

static uint64_t identity(void)
{
    return stet_journal_values_function(bytes_of(&now)).identity;
}

static void called(void)
{
    start();
    add(&now, STET_SCOPE_CALLED, "fun", function("/u/train.py", 5));
}

/* What an optimizer's functions close over may be replaced as the program runs, so it does not make
 * another function of the called one. What the function itself closes over does. */
TEST(functions_inside_arguments_do_not_make_another_function)
{
    uint64_t plain;

    called();
    plain = identity();
    add(&now, STET_SCOPE_ARGUMENT, "args[0].tx.update", function("/x/site-packages/o.py", 6));
    add(&now, STET_SCOPE_ARGUMENT, "args[0].tx.update.schedule", function("/u/schedule.py", 7));
    EXPECT(identity() == plain);
    add(&now, STET_SCOPE_ARGUMENT, "args[1]", function("/u/loss.py", 8));
    EXPECT(identity() != plain);
    stet_arena_release(&arena);
    called();
    add(&now, STET_SCOPE_CLOSURE, "inner", function("/u/loss.py", 8));
    EXPECT(identity() != plain);
    plain = identity();
    add(&now, STET_SCOPE_CLOSURE, "inner.a.b", function("/u/other.py", 8)); /* not only functions */
    EXPECT(identity() == plain);
    add(&now, STET_SCOPE_CLOSURE, "inner.apply", function("/u/other.py", 8));
    EXPECT(identity() != plain);
    stet_arena_release(&arena);
}
