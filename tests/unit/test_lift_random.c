/* Random programs with random values, for one device and for two: a lifted program gives the plain
 * program's results, bit by bit. STET_LIFT_PROGRAMS sets how many, STET_LIFT_SEED which ones; the
 * long form is part of `make soak`. */
#include "backend_help.h"

#include "lift/lift.h"
#include "lift_random.h"

enum { THREE = 3 };

/* ---- running ---- */

/* `in` and `outs` are those of all devices. */
static bool run_program(struct stet_view text, enum kind kind, const void *const *in, void **outs)
{
    struct stet_program p;
    struct stet_plan *plan;
    struct stet_pool *pool;
    void *scratch;
    bool ok;

    last = (struct stet_err)STET_ERR_INIT;
    if (stet_decode(&p, text, &last) != STET_OK)
        return false;
    ok = stet_plan_new_on(&plan, &p, &devices_of[kind], &last) == STET_OK;
    if (ok) {
        pool = stet_pool_new(1);
        scratch = aligned_alloc(64, (size_t)(stet_plan_info(plan)->scratch_bytes + 64) / 64 * 64);
        ok = stet_plan_run(plan, in, outs, scratch, pool, &last) == STET_OK;
        free(scratch);
        stet_pool_free(pool);
        stet_plan_free(plan);
    }
    stet_program_release(&p);
    return ok;
}

struct family {
    enum kind kind;
    struct stet_buf text[THREE], lifted;
    struct stet_program program[THREE];
    struct stet_lift_plan plan;
    bool planned;
};

/* Runs program `i` and the lifted one with its values. False if they differ. */
static bool agree(struct family *f, int i, const struct stet_lift_value *values)
{
    static float input[LANES][ROWS * COLUMNS], want[LANES][ROWS * COLUMNS],
        got[LANES][ROWS * COLUMNS];
    const void *plain[LANES], *lifted[LANES * (1 + STET_LIFT_ARGUMENTS)];
    void *wants[LANES] = {want[0], want[1]}, *gots[LANES] = {got[0], got[1]};
    uint32_t lanes = devices_of[f->kind].replicas * devices_of[f->kind].partitions, n = 0;
    bool ok;

    memset(want, 0, sizeof want);
    memset(got, 0, sizeof got);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        for (int k = 0; k < ROWS * COLUMNS; k++)
            input[lane][k] = (float)pick(-3000, 3000) / 1000;
        plain[lane] = lifted[n++] = input[lane];
        for (uint32_t a = 0; a < f->plan.argument_count; a++)
            lifted[n++] = values[a].bytes.ptr;
    }
    ok = run_program(stet_buf_as_view(&f->text[i]), f->kind, plain, wants) &&
         run_program(stet_buf_as_view(&f->lifted), f->kind, lifted, gots);
    EXPECT(ok);
    if (!ok)
        fprintf(stderr, "%s\n", last.text);
    return ok && memcmp(want, got, sizeof want) == 0;
}

/* Lifts for program `i`, if the plan does not cover it yet, and compares. */
static bool follow(struct family *f, int i, unsigned *lifts)
{
    struct stet_lift_value *values = NULL;
    struct stet_err err = STET_ERR_INIT;
    struct stet_lift_match match;
    struct stet_lift_plan plan;
    struct stet_arena arena;
    bool same = true;

    EXPECT_INT(STET_OK, stet_lift_match(&match, &f->program[0], &f->program[i], &err));
    stet_arena_init(&arena, 1 << 24);
    if (match.different && (!f->planned || stet_lift_values(&f->plan, &match, STET_LIFT_OTHER,
                                                            &arena, &values, NULL) != STET_OK)) {
        EXPECT_INT(STET_OK, stet_lift_plan_make(&plan, &match, f->planned ? &f->plan : NULL, &err));
        if (f->planned)
            stet_lift_plan_release(&f->plan);
        f->plan = plan;
        f->planned = true;
        stet_buf_release(&f->lifted);
        f->lifted = (struct stet_buf)STET_BUF_INIT;
        EXPECT_INT(STET_OK, stet_lift_write(&f->lifted, &f->program[0], &f->program[i], &match,
                                            &f->plan, &err));
        EXPECT_INT(STET_OK,
                   stet_lift_values(&f->plan, &match, STET_LIFT_OTHER, &arena, &values, &err));
        ++*lifts;
    }
    if (err.text[0])
        fprintf(stderr, "%s\n%s\n%s\n", err.text, f->text[0].ptr, f->text[i].ptr);
    if (values)
        same = agree(f, i, values);
    stet_arena_release(&arena);
    stet_lift_match_release(&match);
    return same;
}

static bool try_structure(enum kind kind, uint64_t structure, unsigned *lifts)
{
    struct stet_err why = STET_ERR_INIT;
    struct family f = {.kind = kind};
    bool same = true;

    for (int i = 0; i < THREE; i++) {
        write_program(&f.text[i], kind, structure, next() | 1);
        EXPECT_INT(STET_OK, stet_decode(&f.program[i], stet_buf_as_view(&f.text[i]), &why));
    }
    if (why.text[0])
        fprintf(stderr, "%s\n%s\n", why.text, f.text[0].ptr);
    EXPECT_INT(STET_OK, stet_lift_refuses(&f.program[0], &why));
    for (int i = 1; i < THREE && !stet_test_failures; i++)
        same = same && follow(&f, i, lifts);
    if (!same)
        fprintf(stderr, "%s\n%s\n", f.text[0].ptr, f.lifted.ptr);
    if (f.planned)
        stet_lift_plan_release(&f.plan);
    for (int i = 0; i < THREE; i++) {
        stet_program_release(&f.program[i]);
        stet_buf_release(&f.text[i]);
    }
    stet_buf_release(&f.lifted);
    return same;
}

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : otherwise;
}

TEST(lifted_programs_give_the_plain_results)
{
    unsigned long programs = setting("STET_LIFT_PROGRAMS", 300);
    unsigned lifts[KINDS] = {0};

    seed ^= (uint64_t)setting("STET_LIFT_SEED", 0) << 20;

    /* Half of them are for one device. */
    for (unsigned long i = 0; i < programs && !stet_test_failures; i++) {
        enum kind kind = i % 2 ? (enum kind)(i / 2 % KINDS) : ONE;

        EXPECT(try_structure(kind, next() | 1, &lifts[kind]));
    }
    for (int k = 0; k < KINDS; k++)
        EXPECT(lifts[k] > programs / 2 / KINDS / 2);
    printf("%lu structures; lifted programs: %u of one device, %u Shardy, %u XLA's shardings, "
           "%u shard_map, %u shard_map by custom calls, %u replicas\n",
           programs, lifts[ONE], lifts[SHARDY], lifts[HLO], lifts[MANUAL], lifts[HLO_MANUAL],
           lifts[REPLICAS]);
}
