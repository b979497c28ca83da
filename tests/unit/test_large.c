/* Facts about explanations of programs of 10^5 operations, with one change and with several at
 * once. What each took is printed. */
#include "program_help.h"

#include "base/buf.h"
#include "explain/history.h"
#include "explain/side.h"

#include <time.h>

enum { OPERATIONS = 100000 };

struct wish {
    int batch;
    const char *value;
    bool branch, more; /* operations of a line never seen; an argument more */
};

struct made {
    struct stet_buf text;
    struct stet_program program;
    struct stet_fingerprint fingerprint;
    struct stet_side tables;
};

static struct made made[2];

static void write_program(struct stet_buf *out, const struct wish *w)
{
    const char *extra = w->more ? ", %m: tensor<4xf32> loc(\"mask\")" : "";

    stet_buf_printf(
        out,
        "module @jit_step {\nfunc.func public @main(%%x: tensor<%dx4xf32> loc(\"x\")%s) "
        "-> tensor<%dx4xf32> {\n"
        "%%c = stablehlo.constant dense<%s> : tensor<%dx4xf32>\n"
        "%%v0 = stablehlo.multiply %%x, %%c : tensor<%dx4xf32> "
        "loc(\"f\"(\"/nowhere/train.py\":7:5 to :9))\n",
        w->batch, extra, w->batch, w->value, w->batch, w->batch);
    for (int i = 0; i < OPERATIONS; i++) {
        bool branch = w->branch && i == OPERATIONS / 2, more = w->more && i == OPERATIONS / 3;

        if (branch)
            stet_buf_printf(out,
                            "%%n = stablehlo.cosine %%v%d : tensor<%dx4xf32> "
                            "loc(\"g\"(\"/nowhere/train.py\":90:5 to :9))\n",
                            i, w->batch);
        if (more)
            stet_buf_printf(out,
                            "%%b = stablehlo.broadcast_in_dim %%m, dims = [1] : (tensor<4xf32>) -> "
                            "tensor<%dx4xf32> loc(\"f\"(\"/nowhere/train.py\":60:5 to :9))\n"
                            "%%w = stablehlo.add %%v%d, %%b : tensor<%dx4xf32> "
                            "loc(\"f\"(\"/nowhere/train.py\":60:5 to :9))\n",
                            w->batch, i, w->batch);
        stet_buf_printf(out, "%%v%d = stablehlo.%s ", i + 1, i % 3 ? "add" : "multiply");
        if (branch || more)
            stet_buf_str(out, branch ? "%n" : "%w");
        else
            stet_buf_printf(out, "%%v%d", i);
        stet_buf_printf(out,
                        ", %%x : tensor<%dx4xf32> loc(\"f\"(\"/nowhere/train.py\":%d:%d to :9))\n",
                        w->batch, 10 + i % 40, 1 + i % 7);
    }
    stet_buf_printf(out, "return %%v%d : tensor<%dx4xf32>\n}\n}\n", OPERATIONS, w->batch);
}

static bool make(struct made *m, const struct wish *w)
{
    struct stet_err err = STET_ERR_INIT;

    *m = (struct made){0};
    write_program(&m->text, w);
    if (m->text.failed || !read_program(&m->program, stet_buf_as_view(&m->text)))
        return false;
    EXPECT_INT(STET_OK, stet_side_prepare(&m->tables, &m->program, (struct stet_view){0},
                                          &m->fingerprint, &err));
    return true;
}

static enum stet_rc open_made(void *context, uint32_t number, struct stet_history_side *out,
                              struct stet_err *err)
{
    struct made *m = &((struct made *)context)[number];

    (void)err;
    *out = (struct stet_history_side){{&m->program, &m->fingerprint, &m->tables}, NULL};
    return STET_OK;
}

static bool has(const struct stet_finding *f, const char *class)
{
    bool found = f->cause != STET_CAUSE_NONE && !strcmp(stet_cause_id(f->cause), class);

    for (uint32_t i = 0; i < f->also_count; i++)
        found |= !strcmp(stet_cause_id(f->also[i]), class);
    return found;
}

/* Two compiles; every class of `classes` must be said of the second, and no other. */
static void explain(const char *what, const struct wish *from, const struct wish *to,
                    const char *const *classes)
{
    struct stet_err err = STET_ERR_INIT;
    const struct stet_finding *f;
    struct stet_order order = {0};
    struct stet_history h;
    uint32_t number, wanted = 0;
    clock_t begin;

    EXPECT(make(&made[0], from) && make(&made[1], to));
    EXPECT_INT(STET_OK, stet_history_init(&h, &err));
    h.open = open_made;
    h.context = made;
    h.orders = &order;
    h.order_count = 1;
    begin = clock();
    for (uint32_t i = 0; i < 2; i++) {
        struct stet_sighting s = {
            .rank = -1,
            .index = i,
            .executions = 1,
            .executable = i + 1,
            .program = stet_hash_bytes(stet_buf_as_view(&made[i].text)),
            .trigger = {STET_VIEW("/nowhere/train.py"), STET_VIEW("main"), 200}};
        struct stet_history_side side;

        open_made(made, i, &side, &err);
        EXPECT_INT(STET_OK, stet_history_add(&h, &s, &side, NULL, &number, &err));
    }
    EXPECT_INT(STET_OK, stet_history_judge(&h, &err));
    f = &h.findings[h.finding_count - 1];
    printf("%d operations, %s: %s", OPERATIONS, what,
           f->cause != STET_CAUSE_NONE ? stet_cause_id(f->cause) : "nothing");
    for (uint32_t i = 0; i < f->also_count; i++)
        printf(" + %s", stet_cause_id(f->also[i]));
    printf(", line %u, %.0f ms\n", f->origin.line,
           (double)(clock() - begin) * 1000 / CLOCKS_PER_SEC);
    for (; classes[wanted]; wanted++)
        EXPECT(has(f, classes[wanted]));
    EXPECT_INT(wanted, 1 + f->also_count);
    stet_history_release(&h);
    for (int i = 0; i < 2; i++) {
        stet_side_release(&made[i].tables);
        stet_program_release(&made[i].program);
        stet_buf_release(&made[i].text);
    }
}

static const struct wish plain = {4, "1.5", false, false};

TEST(one_change_among_many_operations_is_found)
{
    explain("a constant", &plain, &(struct wish){4, "2.5", false, false},
            (const char *const[]){"baked-constant", NULL});
    explain("a size", &plain, &(struct wish){6, "1.5", false, false},
            (const char *const[]){"shape-drift", NULL});
    explain("a branch", &plain, &(struct wish){4, "1.5", true, false},
            (const char *const[]){"hidden-branch", NULL});
}

TEST(several_changes_among_many_operations_are_all_found)
{
    explain("a size and a constant", &plain, &(struct wish){6, "2.5", false, false},
            (const char *const[]){"shape-drift", "baked-constant", NULL});
    explain("a constant and a branch", &plain, &(struct wish){4, "2.5", true, false},
            (const char *const[]){"hidden-branch", "baked-constant", NULL});
    explain("an argument, a constant and a size", &plain, &(struct wish){6, "2.5", false, true},
            (const char *const[]){"shape-drift", "optional-key", "baked-constant", NULL});
}
