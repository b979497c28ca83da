/* One function for each kind of record that is used. */
#include "ingest/torch_internal.h"

#define GROW(t, what)                                                                              \
    stet_torch_grow((t), (void **)&(t)->what##s, &(t)->what##_count, &(t)->what##_room,            \
                    sizeof *(t)->what##s)

enum { KEYS = 1 << 14 }; /* of caches that are kept for comparing */

/* Fields of compilation_metrics. One line of it has about 130 fields and 38 KB, nearly all of it
 * three settings strings; only these are read. Old versions have seconds, new ones both. */
enum field {
    F_NONE,
    F_NAME,
    F_FILE,
    F_LINE,
    F_START_US,
    F_ALL_US,
    F_AOT_US,
    F_INDUCTOR_US,
    F_CODEGEN_US,
    F_KERNELS_US,
    F_RESTART_US,
    F_CUDAGRAPH_US,
    F_START_S,
    F_ALL_S,
    F_AOT_S,
    F_INDUCTOR_S,
    F_CODEGEN_S,
    F_FAIL_TYPE,
    F_FAIL_REASON,
    F_CUDAGRAPH_SKIP,
};

/* A view in a table that is made before the program runs. */
#define STATIC_VIEW(literal) {literal, sizeof(literal) - 1}

static enum field field_of(struct stet_view key)
{
    static const struct {
        struct stet_view name;
        enum field field;
    } fields[] = {
        {STATIC_VIEW("co_name"), F_NAME},
        {STATIC_VIEW("co_filename"), F_FILE},
        {STATIC_VIEW("co_firstlineno"), F_LINE},
        {STATIC_VIEW("start_time_us"), F_START_US},
        {STATIC_VIEW("duration_us"), F_ALL_US},
        {STATIC_VIEW("aot_autograd_cumulative_compile_time_us"), F_AOT_US},
        {STATIC_VIEW("inductor_cumulative_compile_time_us"), F_INDUCTOR_US},
        {STATIC_VIEW("inductor_code_gen_cumulative_compile_time_us"), F_CODEGEN_US},
        {STATIC_VIEW("triton_compile_time_us"), F_KERNELS_US},
        {STATIC_VIEW("dynamo_compile_time_before_restart_us"), F_RESTART_US},
        {STATIC_VIEW("runtime_cudagraphify_time_us"), F_CUDAGRAPH_US},
        {STATIC_VIEW("start_time"), F_START_S},
        {STATIC_VIEW("entire_frame_compile_time_s"), F_ALL_S},
        {STATIC_VIEW("backend_compile_time_s"), F_AOT_S},
        {STATIC_VIEW("inductor_compile_time_s"), F_INDUCTOR_S},
        {STATIC_VIEW("code_gen_time_s"), F_CODEGEN_S},
        {STATIC_VIEW("fail_type"), F_FAIL_TYPE},
        {STATIC_VIEW("fail_reason"), F_FAIL_REASON},
        {STATIC_VIEW("cudagraph_skip_reason"), F_CUDAGRAPH_SKIP},
    };

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (stet_view_eq(key, fields[i].name))
            return fields[i].field;
    }
    return F_NONE;
}

static uint64_t *phase_of(struct stet_torch_phases *p, enum field f)
{
    switch (f) {
    case F_ALL_US:
    case F_ALL_S:
        return &p->all;
    case F_AOT_US:
    case F_AOT_S:
        return &p->aot;
    case F_INDUCTOR_US:
    case F_INDUCTOR_S:
        return &p->inductor;
    case F_CODEGEN_US:
    case F_CODEGEN_S:
        return &p->codegen;
    case F_KERNELS_US:
        return &p->kernels;
    case F_RESTART_US:
        return &p->restarts;
    case F_CUDAGRAPH_US:
        return &p->cudagraphs;
    default:
        return NULL;
    }
}

static bool is_seconds(enum field f)
{
    return f >= F_START_S && f <= F_CODEGEN_S;
}

static uint64_t microseconds(struct stet_jscan *j, enum field f)
{
    double v = stet_ingest_jscan_number(j) * (is_seconds(f) ? 1e6 : 1);

    return v > 0 && v < 9e15 ? (uint64_t)(v + 0.5) : 0;
}

static void metric(struct stet_torch *t, uint32_t compile, struct stet_jscan *j, enum field f,
                   bool backward)
{
    struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_torch_place *code = &t->frames[c->frame].code;
    uint64_t *phase = phase_of(backward ? &c->backward : &c->forward, f), us;
    struct stet_view text;

    if (phase || f == F_START_US || f == F_START_S) {
        us = microseconds(j, f);
        if (!phase)
            phase = backward ? &us : &c->start_us;
        if (us && (!*phase || !is_seconds(f)))
            *phase = us;
        return;
    }
    switch (f) {
    case F_NAME: /* a resume function has its own name; dynamo_start has the user's */
        text = stet_ingest_jscan_string(j);
        if (text.len)
            code->function = stet_torch_keep_raw(t, text);
        break;
    case F_FILE:
        text = stet_ingest_jscan_string(j);
        if (text.len)
            code->file = stet_torch_keep_raw(t, text);
        break;
    case F_LINE:
        us = (uint64_t)stet_ingest_jscan_int(j);
        if (us)
            code->line = us;
        break;
    case F_FAIL_TYPE:
        c->fail_type = stet_torch_keep_raw(t, stet_ingest_jscan_string(j));
        break;
    case F_FAIL_REASON:
        c->fail_reason = stet_torch_keep_raw(t, stet_ingest_jscan_string(j));
        break;
    case F_CUDAGRAPH_SKIP:
        c->cudagraph_skip = stet_torch_keep_raw(t, stet_ingest_jscan_string(j));
        break;
    default:
        stet_ingest_jscan_skip(j);
    }
}

static bool is_limit(const struct stet_torch_compile *c)
{
    return stet_view_is(c->fail_type, "FailOnRecompileLimitHit") ||
           stet_view_starts(c->fail_reason, "Dynamo recompile limit exceeded") ||
           stet_view_starts(c->fail_type, "CacheLimitExceeded") ||
           stet_view_starts(c->fail_type, "RecompileLimitExceeded");
}

void stet_torch_metrics(struct stet_torch *t, uint32_t compile, struct stet_view body,
                        bool backward)
{
    struct stet_view key;
    struct stet_jscan j;

    stet_ingest_jscan_init(&j, body);
    if (!stet_ingest_jscan_object(&j))
        return;
    while (stet_ingest_jscan_key(&j, &key)) {
        enum field f = field_of(key);

        t->tells_reasons |= f == F_ALL_US; /* both came with torch 2.6 */
        if (f == F_NONE)
            stet_ingest_jscan_skip(&j);
        else
            metric(t, compile, &j, f, backward);
    }
    if (backward)
        return;
    if (is_limit(&t->compiles[compile]))
        stet_torch_hit_limit(t, compile, t->compiles[compile].fail_reason);
    stet_torch_infer(t, compile);
    stet_torch_done(t, compile);
}

/* A bare text when one entry failed, a JSON list when more did. */
void stet_torch_reasons(struct stet_torch *t, uint32_t compile, struct stet_view payload)
{
    struct stet_jscan j;
    bool any = false;

    if (t->compiles[compile].failure_count) /* a restart repeats them */
        return;
    stet_ingest_jscan_init(&j, payload);
    if (stet_view_starts(payload, "[") && stet_ingest_jscan_array(&j)) {
        while (stet_ingest_jscan_element(&j)) {
            struct stet_view raw = stet_ingest_jscan_string(&j);

            if (j.bad) /* cut off: what came before the cut is kept */
                break;
            t->scratch.len = 0;
            stet_ingest_jscan_unescape(&t->scratch, raw);
            stet_torch_add_failure(t, compile, stet_buf_as_view(&t->scratch));
            any = true;
        }
    }
    if (!any)
        stet_torch_add_failure(t, compile, payload);
}

static struct stet_view line_at(struct stet_view v, size_t at)
{
    struct stet_view rest = stet_view_of(v.ptr + at, v.len - at);

    rest.len = stet_view_find(rest, "\n");
    while (rest.len && rest.ptr[0] == ' ') {
        rest.ptr++;
        rest.len--;
    }
    return rest;
}

/* What follows `what` on its line; empty when it is not there. */
static struct stet_view after(struct stet_view v, const char *what)
{
    size_t at = stet_view_find(v, what);

    return at == v.len ? stet_view_of("", 0) : line_at(v, at + strlen(what));
}

static struct stet_view break_reason(struct stet_view v)
{
    size_t at = stet_view_find(v, "Graph Break Reason: "), blank;
    struct stet_view line, rest;

    if (at == v.len) {
        at = stet_view_find(v, "Graph break: ");
        return at == v.len ? line_at(v, 0) : line_at(v, at + 13);
    }
    line = line_at(v, at + 20);
    blank = stet_view_find(v, "\n\n");
    if (!stet_view_starts(line, "Encountered graph break") || blank == v.len)
        return line;
    rest = stet_view_of(v.ptr + blank + 2, v.len - blank - 2);
    return rest.len ? line_at(rest, 0) : line;
}

/* The innermost line of the user's own, and its code. */
static void break_place(struct stet_torch *t, struct stet_torch_break *b, struct stet_view v)
{
    struct stet_view at = after(v, "Graph break in user code at ");
    size_t user = stet_view_find(v, "User code traceback:");
    struct stet_view stack = stet_view_of(v.ptr + user, v.len - user), code;
    struct stet_guard g;
    struct stet_view text;
    size_t place, newline;

    stack.len = stet_view_find(stack, "\n\n");
    /* The guard's own parser can read a stack. */
    t->scratch.len = 0;
    stet_buf_str(&t->scratch, "x\nUser stack trace:");
    stet_buf_view(&t->scratch, stack);
    stet_ingest_guard_parse(&g, stet_buf_as_view(&t->scratch));
    b->place.file = stet_torch_keep(t, g.file);
    b->place.function = stet_torch_keep(t, g.function);
    b->place.line = g.line;
    if (g.function.len) {
        text = stet_buf_as_view(&t->scratch);
        place = (size_t)(g.function.ptr + g.function.len - text.ptr);
        code = stet_view_of(text.ptr + place, text.len - place);
        newline = stet_view_find(code, "\n");
        if (newline < code.len)
            b->code = stet_torch_keep(t, line_at(code, newline + 1));
    }
    if (at.len) {
        struct stet_view file, function;
        uint64_t line;

        if (stet_ingest_guard_place(at, &file, &line, &function)) {
            b->place.file = stet_torch_keep(t, file);
            b->place.line = line;
        }
    }
}

uint32_t stet_torch_add_break(struct stet_torch *t, uint32_t compile, struct stet_view payload)
{
    uint32_t frame = t->compiles[compile].frame, process = t->frames[frame].process, at = 0, i;
    size_t site = stet_view_find(payload, "/gb/gb");
    uint64_t hash;
    struct stet_torch_break b = {
        .frame = frame,
        .compile = compile,
        .process = process,
        .count = 1,
        .reason = stet_torch_keep(t, break_reason(payload)),
        .why = stet_torch_keep(t, after(payload, "Explanation: ")),
        .hint = stet_torch_keep(t, after(payload, "Hint: ")),
        .code = {"", 0},
        .id = {"", 0},
    };

    break_place(t, &b, payload);
    if (site < payload.len) {
        struct stet_view id = line_at(payload, site + 4);

        id.len = stet_view_find(id, ".");
        b.id = stet_torch_keep(t, id);
    }
    hash = stet_torch_hash(stet_torch_hash(frame, b.place.line), (uintptr_t)b.reason.ptr);
    while ((i = stet_map_next(&t->by_break, hash, &at)) != STET_MAP_NONE) {
        struct stet_torch_break *o = &t->breaks[i];

        if (o->frame == frame && o->place.line == b.place.line &&
            o->place.file.ptr == b.place.file.ptr && o->reason.ptr == b.reason.ptr) {
            o->count++;
            return i;
        }
    }
    i = GROW(t, break);
    if (i == STET_TORCH_NONE)
        return i;
    t->failed |= !stet_map_add(&t->by_break, hash, i);
    t->breaks[i] = b;
    t->frames[frame].breaks++;
    return i;
}

/* The name comes first; nearly all events are skipped by it. */
struct stet_view stet_torch_event_name(struct stet_view payload)
{
    struct stet_view key, name = {"", 0};
    struct stet_jscan j;

    stet_ingest_jscan_init(&j, payload);
    if (!stet_ingest_jscan_object(&j))
        return name;
    while (!name.len && stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "name"))
            name = stet_ingest_jscan_string(&j);
        else
            stet_ingest_jscan_skip(&j);
    }
    return name;
}

void stet_torch_began(struct stet_torch *t, uint32_t compile, struct stet_view payload)
{
    struct stet_torch_compile *c = &t->compiles[compile];
    struct stet_view key;
    struct stet_jscan j;

    stet_ingest_jscan_init(&j, payload);
    if (c->start_us || !stet_ingest_jscan_object(&j))
        return;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "ts"))
            c->start_us = microseconds(&j, F_START_US);
        else
            stet_ingest_jscan_skip(&j);
    }
}

static void drift_args(struct stet_torch *t, struct stet_torch_drift *d, struct stet_jscan *j)
{
    struct stet_view key;

    if (!stet_ingest_jscan_object(j))
        return;
    while (stet_ingest_jscan_key(j, &key)) {
        if (stet_view_is(key, "name")) {
            d->source = stet_torch_keep_raw(t, stet_ingest_jscan_string(j));
        } else if (stet_view_is(key, "cached")) {
            d->from = stet_torch_keep_raw(t, stet_ingest_jscan_string(j));
        } else if (stet_view_is(key, "new")) {
            d->to = stet_torch_keep_raw(t, stet_ingest_jscan_string(j));
        } else if (stet_view_is(key, "dim_changed") && stet_ingest_jscan_kind(j) == STET_J_NUMBER) {
            d->dim = (int)stet_ingest_jscan_int(j);
        } else if (stet_view_is(key, "dim_changed")) {
            d->scalar = stet_view_is(stet_ingest_jscan_string(j), "scalar");
        } else {
            stet_ingest_jscan_skip(j);
        }
    }
}

void stet_torch_drifted(struct stet_torch *t, uint32_t compile, struct stet_view payload)
{
    struct stet_torch_drift d = {.dim = -1, .source = {"", 0}, .from = {"", 0}, .to = {"", 0}};
    struct stet_view key;
    struct stet_jscan j;
    uint32_t i;

    stet_ingest_jscan_init(&j, payload);
    if (!stet_ingest_jscan_object(&j))
        return;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "args"))
            drift_args(t, &d, &j);
        else
            stet_ingest_jscan_skip(&j);
    }
    if (!d.source.len)
        return;
    /* One for sizes and one for strides of the same dimension; and again after each restart. */
    for (i = t->compiles[compile].drifts; i != STET_TORCH_NONE; i = t->drifts[i].next) {
        if (t->drifts[i].source.ptr == d.source.ptr && t->drifts[i].dim == d.dim)
            return;
    }
    i = GROW(t, drift);
    if (i == STET_TORCH_NONE)
        return;
    d.next = t->compiles[compile].drifts;
    t->drifts[i] = d;
    t->compiles[compile].drifts = i;
}

/* A hit alone is not enough: this run may load again what it wrote itself, which saves nothing at
 * the next launch. So keys of misses are kept. */
void stet_torch_cache_event(struct stet_torch *t, uint32_t compile, struct stet_view name,
                            struct stet_view payload)
{
    bool aot = !stet_view_starts(name, "fx_graph_");
    enum stet_torch_cache *slot =
        aot ? &t->compiles[compile].aot_cache : &t->compiles[compile].fx_cache;
    enum stet_torch_cache got = STET_CACHE_UNSEEN;
    struct stet_view key, id = {"", 0}, why = {"", 0};
    struct stet_jscan j;
    size_t known = t->keys.count;
    uint32_t at = t->torch_key_count < KEYS ? GROW(t, torch_key) : STET_TORCH_NONE;

    if (at != STET_TORCH_NONE)
        t->torch_keys[at].settings = STET_TORCH_NONE;
    else
        t->keys_lost = true;
    stet_ingest_jscan_init(&j, payload);
    if (stet_ingest_jscan_object(&j)) {
        while (stet_ingest_jscan_key(&j, &key)) {
            if (stet_view_is(key, "key"))
                id = stet_ingest_jscan_string(&j);
            else if (stet_view_is(key, "cache_bypass_reason"))
                why = stet_ingest_jscan_string(&j);
            else if (stet_view_is(key, "components"))
                stet_torch_key_components(t, at, &j);
            else
                stet_ingest_jscan_skip(&j);
        }
    }
    if (stet_view_ends(name, "_miss")) {
        stet_intern_view(&t->keys, id);
        got = STET_CACHE_MISS;
    } else if (stet_view_ends(name, "_bypass")) {
        t->compiles[compile].bypass = stet_torch_keep_raw(t, why);
        got = STET_CACHE_BYPASS;
    } else if (stet_view_ends(name, "_hit")) {
        stet_intern_view(&t->keys, id);
        got = id.len && t->keys.count == known ? STET_CACHE_SAME : STET_CACHE_EARLIER;
    }
    if (at != STET_TORCH_NONE) {
        struct stet_torch_key *k = &t->torch_keys[at];

        k->id = stet_torch_keep(t, id);
        k->run = stet_view_of("", 0);
        k->bypass = got == STET_CACHE_BYPASS ? t->compiles[compile].bypass : stet_view_of("", 0);
        k->compile = compile;
        k->aot = aot;
        k->got = got;
    }
    /* Forward and backward are two entries: the worse of them counts. */
    if (got != STET_CACHE_UNSEEN && (*slot == STET_CACHE_UNSEEN || got < *slot))
        *slot = got;
}

static void add_nested(struct stet_torch *t, uint32_t frame, const struct stet_torch_place *place)
{
    enum { MOST = 16 };
    uint32_t i, n = 0;

    for (i = t->frames[frame].nested; i != STET_TORCH_NONE; i = t->nesteds[i].next, n++) {
        if (stet_view_eq(t->nesteds[i].place.function, place->function) &&
            stet_view_eq(t->nesteds[i].place.file, place->file))
            return;
    }
    if (n >= MOST || (i = GROW(t, nested)) == STET_TORCH_NONE)
        return;
    t->nesteds[i] = (struct stet_torch_nested){
        {stet_torch_keep(t, place->file), stet_torch_keep(t, place->function), place->line},
        t->frames[frame].nested};
    t->frames[frame].nested = i;
}

/* "# File: /a.py:4 in f, code: return x + 1", before the operations of each line. */
void stet_torch_take_nested(struct stet_torch *t, uint32_t compile, struct stet_view graph)
{
    uint32_t frame = t->compiles[compile].frame;
    static const char mark[] = "# File: ";

    for (;;) {
        size_t at = stet_view_find(graph, mark);
        struct stet_torch_place place;
        struct stet_view line;

        if (at == graph.len)
            return;
        line = line_at(graph, at + sizeof mark - 1);
        graph = stet_view_of(line.ptr + line.len,
                             (size_t)(graph.ptr + graph.len - line.ptr) - line.len);
        line.len = stet_view_find(line, ", code: ");
        if (stet_ingest_guard_place(line, &place.file, &place.line, &place.function) &&
            place.function.len && !stet_ingest_guard_is_library(place.file) &&
            !stet_view_eq(place.function, t->frames[frame].code.function))
            add_nested(t, frame, &place);
    }
}

void stet_torch_specialised(struct stet_torch_log *log, uint32_t compile, struct stet_view body)
{
    struct stet_torch_special s = {.source = {"", 0}, .value = {"", 0}, .reason = {"", 0}};
    struct stet_torch *t = log->t;
    struct stet_torch_caller caller;
    struct stet_torch_place last;
    struct stet_view key;
    struct stet_jscan j;
    uint32_t i;

    stet_ingest_jscan_init(&j, body);
    if (!stet_ingest_jscan_object(&j))
        return;
    while (stet_ingest_jscan_key(&j, &key)) {
        if (stet_view_is(key, "sources") && stet_ingest_jscan_array(&j)) {
            while (stet_ingest_jscan_element(&j)) {
                struct stet_view source = stet_ingest_jscan_string(&j);

                if (!s.source.len)
                    s.source = stet_torch_keep_raw(t, source);
            }
        } else if (stet_view_is(key, "value")) {
            s.value = stet_torch_keep_raw(t, stet_ingest_jscan_string(&j));
        } else if (stet_view_is(key, "reason")) {
            s.reason = stet_torch_keep_raw(t, stet_ingest_jscan_string(&j));
        } else if (stet_view_is(key, "user_stack")) {
            stet_torch_stack(log, &j, &last, &caller);
            s.place = last.line ? last : caller.call;
        } else if (!stet_view_is(key, "sources")) {
            stet_ingest_jscan_skip(&j);
        }
    }
    i = GROW(t, special);
    if (i == STET_TORCH_NONE)
        return;
    s.next = t->compiles[compile].specials;
    t->specials[i] = s;
    t->compiles[compile].specials = i;
}
