/* A journal has a stack again when two stacks take turns in one place of the writer's memory. */
#include "test.h"

#include "base/mem.h"
#include "ledger/run_load.h"

static struct stet_run_digest d;
static struct stet_process_digest p;
static struct stet_stacks stacks;

static void take(enum stet_rec kind, const void *record)
{
    struct stet_journal_event e = {.kind = kind, .record = record};

    stet_ledger_run_take(&d, &p, &stacks, &e);
}

/* A stack of one line, and a copy that this line asked for. */
static void copied(uint64_t line)
{
    const struct stet_frame frame = {STET_VIEW("/a/train.py"), STET_VIEW("main"), line, 0};
    struct stet_rec_stack stack = {.stack = {line, line}, .frames = {&frame, 1}};
    struct stet_rec_compile_copy copy = {.to_host = 1, .stack = {line, line}, .count = 1};

    take(STET_REC_stack, &stack);
    take(STET_REC_compile_copy, &copy);
}

TEST(a_stack_that_is_written_again_is_the_same_lines)
{
    stet_arena_init(&d.arena, (size_t)1 << 20);
    copied(7);
    copied(8);
    copied(7);
    EXPECT_INT(3, p.copy_count);
    EXPECT_INT(2, stacks.count);
    EXPECT(p.copies[0].lines.count == 1 && p.copies[0].lines.items == p.copies[2].lines.items);
    EXPECT_INT(8, p.copies[1].lines.items[0].line);
    stet_ledger_stacks_release(&stacks);
    stet_mem_free(p.copies);
    stet_arena_release(&d.arena);
}
