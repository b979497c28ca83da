/* Training loops as their processes dispatch them, each with its own counter. */
#include "world.h"

/* What a random model and its optimizer look like. */
struct model {
    struct leaves params, opt;
};

static struct model new_model(struct world *w)
{
    size_t leaves = 1 + world_random(w, world_chance(w, 30) ? 3 : 20);
    size_t moments = world_random(w, 3);
    uint64_t init = world_program(w, "jit_init"), adam = 0;
    struct leaves key = world_host(w, 1);
    struct model m = {.opt = {.n = 0}};

    m.params = world_run(w, init, leaves, &key, NULL, NULL, NULL, NULL);
    if (moments) {
        adam = world_program(w, "jit_zeros_like");
        m.opt = world_run(w, adam, leaves * moments + 1, &m.params, NULL, NULL, NULL, NULL);
    }
    world_drop(w, &key);
    return m;
}

/* A jitted step: params, opt, batch, key -> params, opt, loss. Returns the loss. */
static struct leaves run_step(struct world *w, uint64_t program, struct model *m,
                              const struct leaves *batch, const struct leaves *key)
{
    struct leaves out =
        world_run(w, program, m->params.n + m->opt.n + 1, &m->params, &m->opt, batch, key, NULL);
    struct leaves params = world_split(&out, m->params.n), opt = world_split(&out, m->opt.n);

    world_replace(w, &m->params, params);
    world_replace(w, &m->opt, opt);
    return out;
}

/* Small things that run around a step whatever its kind. */
struct habits {
    bool splits_key, splits_twice, sums_loss, converts;
    uint64_t split, unstack, add, convert, mean;
    struct leaves key, total;
    unsigned log_every;
};

static struct habits new_habits(struct world *w)
{
    struct habits h = {.splits_key = world_chance(w, 60),
                       .splits_twice = world_chance(w, 20),
                       .sums_loss = world_chance(w, 40),
                       .converts = world_chance(w, 40),
                       .log_every = world_chance(w, 50) ? 1 + (unsigned)world_random(w, 20) : 0};

    h.key = world_host(w, 1);
    h.total = world_host(w, 1);
    return h;
}

static uint64_t once(struct world *w, uint64_t *program, const char *name)
{
    if (!*program)
        *program = world_program(w, name);
    return *program;
}

/* key, sub = split(key) */
static struct leaves next_key(struct world *w, struct habits *h)
{
    struct leaves both, sub;

    if (!h->splits_key)
        return (struct leaves){.n = 0};
    both =
        world_run(w, once(w, &h->split, "jit__threefry_split"), 1, &h->key, NULL, NULL, NULL, NULL);
    sub = world_run(w, once(w, &h->unstack, "jit__unstack"), 2, &both, NULL, NULL, NULL, NULL);
    world_drop(w, &both);
    world_replace(w, &h->key, world_split(&sub, 1));
    return sub;
}

static void before_step(struct world *w, struct habits *h, struct leaves *key)
{
    *key = next_key(w, h);
    if (h->splits_twice) {
        struct leaves other = next_key(w, h);

        world_drop(w, &other);
    }
}

/* total = total + loss; float(mean(loss)) now and then */
static void after_step(struct world *w, struct habits *h, struct leaves *loss, size_t step)
{
    struct leaves out;

    if (h->converts) {
        out = world_run(w, once(w, &h->convert, "jit_convert_element_type"), 1, loss, NULL, NULL,
                        NULL, NULL);
        world_replace(w, loss, out);
    }
    if (h->sums_loss)
        world_replace(
            w, &h->total,
            world_run(w, once(w, &h->add, "jit_add"), 1, &h->total, loss, NULL, NULL, NULL));
    if (h->log_every && step % h->log_every == 0) {
        out = world_run(w, once(w, &h->mean, "jit__mean"), 1, loss, NULL, NULL, NULL, NULL);
        world_drop(w, &out);
    }
    world_drop(w, loss);
}

static size_t run_length(struct world *w)
{
    return 20 + world_random(w, world_chance(w, 20) ? 3000 : 200);
}

/* for step in range(n): state, loss = train_step(state, batch), with `extra` after each */
static void train(struct world *w, struct model *m, struct habits *h, size_t steps,
                  void (*extra)(struct world *w, struct model *m, size_t step, uint64_t *memo))
{
    uint64_t program = world_program(w, "jit_train_step"), variant = 0, memo[8] = {0};
    unsigned short_batch = world_chance(w, 30) ? 5 + (unsigned)world_random(w, 20) : 0;
    bool again = world_chance(w, 30);  /* the second call compiles anew: weak types, layouts */
    bool drifts = world_chance(w, 30); /* shapes change now and then, some come back */
    uint64_t shapes[20] = {program};
    size_t sources = 1 + world_random(w, 2), shape_count = 1;

    for (size_t step = 0; step < steps; step++) {
        struct leaves batch, key, loss;

        world_step(w);
        before_step(w, h, &key);
        batch = world_host(w, sources);
        if (step == 1 && again)
            program = world_program(w, "jit_train_step");
        if (drifts && world_chance(w, 5) && shape_count < 20)
            shapes[shape_count++] = world_program(w, "jit_train_step");
        if (drifts)
            program = shapes[world_random(w, shape_count)];
        if (short_batch && step % short_batch == short_batch - 1)
            loss = run_step(w, once(w, &variant, "jit_train_step"), m, &batch, &key);
        else
            loss = run_step(w, program, m, &batch, &key);
        world_drop(w, &batch);
        world_drop(w, &key);
        after_step(w, h, &loss, step);
        if (extra)
            extra(w, m, step, memo);
    }
}

static void plain(struct world *w)
{
    struct model m = new_model(w);
    struct habits h = new_habits(w);

    train(w, &m, &h, run_length(w), NULL);
}

/* model.init outside jit: each layer runs as single operations, which have a name in common and
 * come in many shapes. What they compute is thrown away, or not even the parameters come from it.
 */
static void run_layers(struct world *w, const struct model *m)
{
    static const char *const names[] = {"jit_dot_general", "jit_add",      "jit__mean",
                                        "jit_subtract",    "jit_multiply", "jit_add"};
    struct leaves x = world_host(w, 1);
    uint64_t programs[6] = {0};

    for (size_t layer = 0; layer + 1 < m->params.n; layer += 2) {
        struct leaves weight = {{m->params.at[layer]}, 1}, in = x;

        for (size_t i = 0; i < 6; i++) {
            struct leaves out;

            if (!programs[i] || world_chance(w, 60))
                programs[i] = world_program(w, names[i]);
            out = world_run(w, programs[i], 1, &x, i % 3 ? &in : &weight, NULL, NULL, NULL);
            if (x.at[0] != in.at[0])
                world_drop(w, &x);
            x = out;
        }
        world_drop(w, &in);
    }
    world_drop(w, &x);
}

static void eager_init(struct world *w)
{
    struct model m = new_model(w);
    struct habits h = new_habits(w);

    run_layers(w, &m);
    train(w, &m, &h, 100 + world_random(w, 200), NULL);
}

/* Gradients over micro-batches, then one update. */
static void accumulate(struct world *w, bool vary)
{
    struct model m = new_model(w);
    struct habits h = new_habits(w);
    bool eager = world_chance(w, 40), reset_inside = world_chance(w, 30);
    size_t steps = run_length(w), micros = 1 + world_random(w, 8), params = m.params.n;
    uint64_t zeros = 0, micro = 0, update = 0, scale = 0, add[3] = {0};
    struct leaves acc = {.n = 0};

    for (size_t step = 0; step < steps; step++) {
        struct leaves out, parts, loss;

        world_step(w);
        if (!acc.n && !eager)
            acc = world_run(w, once(w, &zeros, "jit_zeros_like"), params, &m.params, NULL, NULL,
                            NULL, NULL);
        if (vary)
            micros = 1 + world_random(w, 8);
        for (size_t i = 0; i < micros; i++) {
            struct leaves batch = world_host(w, 2), key;

            before_step(w, &h, &key);
            out = world_run(w, once(w, &micro, "jit_grad_step"), params + 1, &m.params,
                            eager ? NULL : &acc, &batch, &key, NULL);
            parts = world_split(&out, params);
            loss = out;
            for (size_t k = 0; eager && i && k < params; k++) { /* tree.map(add), leaf by leaf */
                struct leaves a = {{acc.at[k]}, 1}, g = {{parts.at[k]}, 1};
                struct leaves sum =
                    world_run(w, once(w, &add[k % 3], "jit_add"), 1, &a, &g, NULL, NULL, NULL);

                world_drop(w, &g);
                parts.at[k] = sum.at[0];
            }
            world_replace(w, &acc, parts);
            world_drop(w, &batch);
            world_drop(w, &key);
            after_step(w, &h, &loss, step);
        }
        if (eager && world_chance(w, 100) && micros > 1) {
            out = world_run(w, once(w, &scale, "jit_true_divide"), params, &acc, NULL, NULL, NULL,
                            NULL);
            world_replace(w, &acc, out);
        }
        out = world_run(w, once(w, &update, "jit_apply_updates"),
                        params + m.opt.n + (reset_inside && !eager ? params : 0), &m.params, &m.opt,
                        &acc, NULL, NULL);
        world_replace(w, &m.params, world_split(&out, params));
        world_replace(w, &m.opt, world_split(&out, m.opt.n));
        world_replace(w, &acc, out); /* zeros from inside, or nothing */
    }
}

static void accumulation(struct world *w)
{
    accumulate(w, false);
}

static void variable_micro_steps(struct world *w)
{
    accumulate(w, true);
}

static void evaluate(struct world *w, struct model *m, size_t step, uint64_t *memo)
{
    struct leaves total, out, batch;

    if (!memo[0])
        memo[0] = 2 + world_random(w, 12), memo[1] = 1 + world_random(w, 8);
    if ((step + 1) % memo[0])
        return;
    total = world_host(w, 1);
    for (uint64_t i = 0; i < memo[1]; i++) {
        batch = world_host(w, 2);
        out = world_run(w, once(w, &memo[2], "jit_eval_step"), 1, &m->params, &batch, NULL, NULL,
                        NULL);
        world_replace(
            w, &total,
            world_run(w, once(w, &memo[3], "jit_add"), 1, &total, &out, NULL, NULL, NULL));
        world_drop(w, &out);
        world_drop(w, &batch);
    }
    world_drop(w, &total);
}

static void eval_every_n(struct world *w)
{
    struct model m = new_model(w);
    struct habits h = new_habits(w);

    train(w, &m, &h, run_length(w), evaluate);
}

/* d, g = d_step(d, g, batch), g_step(d, g) */
static void two_models(struct world *w)
{
    struct model d = new_model(w), g = new_model(w);
    struct habits h = new_habits(w);
    size_t steps = run_length(w);
    bool merged = world_chance(w, 30); /* one TrainState holds both */
    uint64_t d_step = world_program(w, "jit_d_step"), g_step = world_program(w, "jit_g_step");

    for (size_t step = 0; step < steps; step++) {
        struct leaves batch = world_host(w, 1), key, out, loss;

        world_step(w);
        before_step(w, &h, &key);
        if (merged) {
            struct leaves both = d.params;

            memcpy(both.at + both.n, g.params.at, g.params.n * sizeof *both.at);
            both.n += g.params.n;
            out = world_run(w, d_step, both.n + 1, &both, &batch, &key, NULL, NULL);
            world_drop(w, &both);
            both = world_split(&out, d.params.n + g.params.n);
            world_drop(w, &out);
            out = world_run(w, g_step, both.n + 1, &both, &key, NULL, NULL, NULL);
            world_drop(w, &both);
            d.params = world_split(&out, d.params.n);
            g.params = world_split(&out, g.params.n);
            loss = out;
        } else {
            out = world_run(w, d_step, d.params.n + d.opt.n + 1, &d.params, &d.opt, &g.params,
                            &batch, &key);
            world_replace(w, &d.params, world_split(&out, d.params.n));
            world_replace(w, &d.opt, world_split(&out, d.opt.n));
            world_drop(w, &out);
            loss = world_run(w, g_step, g.params.n + g.opt.n + 1, &g.params, &g.opt, &d.params,
                             &key, NULL);
            world_replace(w, &g.params, world_split(&loss, g.params.n));
            world_replace(w, &g.opt, world_split(&loss, g.opt.n));
        }
        world_drop(w, &batch);
        world_drop(w, &key);
        after_step(w, &h, &loss, step);
    }
}

/* Calls before the loop: thrown away, or a compiled init of everything. */
static void warm_up(struct world *w)
{
    struct model m = new_model(w);
    struct habits h = new_habits(w);
    uint64_t create = world_program(w, "jit_create_state"), program;
    size_t discarded = world_random(w, 4);
    struct leaves key = world_host(w, 1), out, batch;

    out = world_run(w, create, m.params.n + m.opt.n, &key, NULL, NULL, NULL, NULL);
    world_replace(w, &m.params, world_split(&out, m.params.n));
    world_replace(w, &m.opt, out);
    program = world_program(w, "jit_train_step");
    for (size_t i = 0; i < discarded; i++) {
        batch = world_host(w, 1);
        out =
            world_run(w, program, m.params.n + m.opt.n + 1, &m.params, &m.opt, &batch, NULL, NULL);
        world_drop(w, &out);
        world_drop(w, &batch);
    }
    for (size_t step = 0, steps = run_length(w); step < steps; step++) {
        world_step(w);
        before_step(w, &h, &key);
        batch = world_host(w, 1);
        if (step == 1 && discarded == 0)
            program = world_program(w, "jit_train_step");
        out = run_step(w, program, &m, &batch, &key);
        world_drop(w, &batch);
        world_drop(w, &key);
        after_step(w, &h, &out, step);
    }
}

/* A summary program, and averaged weights each few steps: as heavy as the model itself. */
static void log_and_average(struct world *w, struct model *m, size_t step, uint64_t *memo)
{
    static struct leaves average; /* of the world at hand: begun anew at step 0 */
    struct leaves out;

    if (step == 0) {
        memo[0] = 1 + world_random(w, 10), memo[1] = 1 + world_random(w, 10);
        average = world_host(w, m->params.n);
    }
    if (step % memo[0] == 0) {
        out = world_run(w, once(w, &memo[2], "jit_summary"), 1 + m->params.n / 2, &m->params, NULL,
                        NULL, NULL, NULL);
        world_drop(w, &out);
    }
    if (step % memo[1] == 0)
        world_replace(w, &average,
                      world_run(w, once(w, &memo[3], "jit_ema"), m->params.n, &average, &m->params,
                                NULL, NULL, NULL));
}

static void logging_every_n(struct world *w)
{
    struct model m = new_model(w);
    struct habits h = new_habits(w);

    train(w, &m, &h, run_length(w), log_and_average);
}

/* Sampling token by token with a cache that feeds itself, and copies for a checkpoint. */
static void sample_or_save(struct world *w, struct model *m, size_t step, uint64_t *memo)
{
    struct leaves cache, out;

    (void)step;
    if (world_chance(w, 10)) {
        uint64_t tokens = 1 + world_random(w, 30);

        cache = world_host(w, 8);
        for (uint64_t i = 0; i < tokens; i++) {
            out = world_run(w, once(w, &memo[0], "jit_decode"), 9, &m->params, &cache, NULL, NULL,
                            NULL);
            world_replace(w, &cache, world_split(&out, 8));
            world_drop(w, &out);
        }
        world_drop(w, &cache);
    }
    if (world_chance(w, 5)) {
        for (size_t i = 0; i < m->params.n; i++) {
            struct leaves leaf = {{m->params.at[i]}, 1};

            out = world_run(w, once(w, &memo[1 + i % 4], "jit_copy"), 1, &leaf, NULL, NULL, NULL,
                            NULL);
            world_drop(w, &out);
        }
    }
}

static void extra_programs(struct world *w)
{
    struct model m = new_model(w);
    struct habits h = new_habits(w);

    train(w, &m, &h, run_length(w), sample_or_save);
}

/* Not asked for, and easy to get wrong: several critic steps a generator step, counted either way;
 * a target network; everything eager; two models in turn, each turn a step. */
static void critics(struct world *w)
{
    struct model d = new_model(w), g = new_model(w);
    size_t steps = run_length(w), n = 2 + world_random(w, 5);
    bool inner = world_chance(w, 50);
    uint64_t d_step = world_program(w, "jit_critic"), g_step = world_program(w, "jit_generator");

    for (size_t step = 0; step < steps; step++) {
        struct leaves batch = world_host(w, 1), out;

        if (inner || step % n == 0)
            world_step(w);
        out = world_run(w, d_step, d.params.n + 1, &d.params, &g.params, &batch, NULL, NULL);
        world_replace(w, &d.params, world_split(&out, d.params.n));
        world_drop(w, &out);
        world_drop(w, &batch);
        if (step % n != n - 1)
            continue;
        out = world_run(w, g_step, g.params.n + 1, &g.params, &d.params, NULL, NULL, NULL);
        world_replace(w, &g.params, world_split(&out, g.params.n));
        world_drop(w, &out);
    }
}

static void target_network(struct world *w)
{
    struct model m = new_model(w), target = {.params = m.params};
    size_t steps = run_length(w), every = 2 + world_random(w, 20);
    uint64_t program = world_program(w, "jit_q_step"), copy = 0;

    target.params = world_host(w, m.params.n);
    for (size_t step = 0; step < steps; step++) {
        struct leaves batch = world_host(w, 4), out;

        world_step(w);
        out = world_run(w, program, m.params.n + m.opt.n + 1, &m.params, &m.opt, &target.params,
                        &batch, NULL);
        world_replace(w, &m.params, world_split(&out, m.params.n));
        world_replace(w, &m.opt, world_split(&out, m.opt.n));
        world_drop(w, &out);
        world_drop(w, &batch);
        if (step % every == every - 1)
            world_replace(w, &target.params,
                          world_run(w, once(w, &copy, "jit_copy_tree"), m.params.n, &m.params, NULL,
                                    NULL, NULL, NULL));
    }
}

static void all_eager(struct world *w)
{
    size_t leaves = 2 + world_random(w, 6), micros = 1 + world_random(w, 4), steps = run_length(w);
    uint64_t grad = world_program(w, "jit_grad"), mul = 0, sub = 0, add = 0;
    struct leaves params = world_host(w, leaves);

    for (size_t step = 0; step < steps; step++) {
        struct leaves acc = {.n = 0};

        world_step(w);
        for (size_t m = 0; m < micros; m++) {
            struct leaves batch = world_host(w, 1);
            struct leaves g = world_run(w, grad, leaves, &params, &batch, NULL, NULL, NULL);

            for (size_t k = 0; m && k < leaves; k++) {
                struct leaves a = {{acc.at[k]}, 1}, b = {{g.at[k]}, 1};

                g.at[k] = world_run(w, once(w, &add, "jit_add"), 1, &a, &b, NULL, NULL, NULL).at[0];
                world_drop(w, &b);
            }
            world_replace(w, &acc, g);
            world_drop(w, &batch);
        }
        for (size_t k = 0; k < leaves; k++) {
            struct leaves a = {{acc.at[k]}, 1}, p = {{params.at[k]}, 1}, scaled;

            scaled = world_run(w, once(w, &mul, "jit_multiply"), 1, &a, NULL, NULL, NULL, NULL);
            params.at[k] =
                world_run(w, once(w, &sub, "jit_subtract"), 1, &p, &scaled, NULL, NULL, NULL).at[0];
            world_drop(w, &p);
            world_drop(w, &scaled);
        }
        world_drop(w, &acc);
    }
}

/* One loop's state goes on in another loop, which may count on or anew. */
static void two_phases(struct world *w)
{
    struct model m = new_model(w);
    uint64_t programs[2] = {world_program(w, "jit_pretrain"), world_program(w, "jit_finetune")};
    size_t steps = run_length(w), turn = steps / 2;
    bool anew = world_chance(w, 50);

    for (size_t step = 0; step < steps; step++) {
        struct leaves batch = world_host(w, 1), loss;

        if (!anew || step < turn)
            world_step(w);
        loss = run_step(w, programs[step >= turn], &m, &batch, NULL);
        world_drop(w, &batch);
        world_drop(w, &loss);
    }
}

static void models_in_turn(struct world *w)
{
    struct model m[2] = {new_model(w), new_model(w)};
    uint64_t programs[2] = {world_program(w, "jit_step_a"), world_program(w, "jit_step_b")};
    struct habits h = new_habits(w);

    for (size_t step = 0, steps = run_length(w); step < steps; step++) {
        struct leaves batch = world_host(w, 1), key, loss;

        world_step(w);
        before_step(w, &h, &key);
        loss = run_step(w, programs[step % 2], &m[step % 2], &batch, &key);
        world_drop(w, &batch);
        world_drop(w, &key);
        h.log_every = 0;
        after_step(w, &h, &loss, step);
    }
}

const struct loop_kind loop_kinds[] = {
    {"plain", plain, true},
    {"accumulation", accumulation, true},
    {"eval every N", eval_every_n, true},
    {"two models alternating", two_models, true},
    {"warm-up, then steady", warm_up, true},
    {"variable micro-steps", variable_micro_steps, true},
    {"logging every N", logging_every_n, true},
    {"sampling, checkpoints", extra_programs, true},
    {"eager initialisation", eager_init, true},
    {"N critics a generator", critics, false},
    {"target network", target_network, false},
    {"all eager", all_eager, false},
    {"models in turn", models_in_turn, false},
    {"two phases", two_phases, false},
};
const size_t loop_kind_count = sizeof loop_kinds / sizeof *loop_kinds;
