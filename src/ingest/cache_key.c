/* A key has some 640 components, of which 600 are settings that rarely change: equal sets of
 * settings are kept once, the rest for each key. */
#include "ingest/cache_key.h"

#include "base/hash.h"
#include "ingest/torch_internal.h"

#include <stdlib.h>

#define GROW(t, what)                                                                              \
    stet_torch_grow((t), (void **)&(t)->what##s, &(t)->what##_count, &(t)->what##_room,            \
                    sizeof *(t)->what##s)

/* Limits of memory. What exceeds them is not compared, and where that matters it is reported. */
enum { COMPONENTS = 1 << 17, VALUE = 400 };

static const char settings_name[] = "inductor_config[";

/* "[digest] name: value", raw. */
static bool split(struct stet_view raw, struct stet_view *digest, struct stet_view *name,
                  struct stet_view *value)
{
    const char *close, *colon;

    if (!raw.len || raw.ptr[0] != '[' || !(close = memchr(raw.ptr, ']', raw.len)))
        return false;
    *digest = stet_view_of(raw.ptr + 1, (size_t)(close - raw.ptr) - 1);
    *name = stet_view_of(close + 1, (size_t)(raw.ptr + raw.len - close) - 1);
    while (name->len && name->ptr[0] == ' ') {
        name->ptr++;
        name->len--;
    }
    colon = memmem(name->ptr, name->len, ": ", 2);
    if (!colon)
        return false;
    *value = stet_view_of(colon + 2, (size_t)(name->ptr + name->len - colon) - 2);
    name->len = (size_t)(colon - name->ptr);
    return digest->len && name->len;
}

static bool is_setting(struct stet_view raw)
{
    const char *close = raw.len ? memchr(raw.ptr, ']', raw.len < 128 ? raw.len : 128) : NULL;

    return close &&
           stet_view_starts(stet_view_of(close + 1, (size_t)(raw.ptr + raw.len - close) - 1),
                            " inductor_config[");
}

/* False if there is no room for it. */
static bool keep_component(struct stet_torch *t, struct stet_view raw)
{
    struct stet_view digest, name, value;
    uint32_t i;

    if (!split(raw, &digest, &name, &value))
        return true; /* no component */
    if (t->component_count >= COMPONENTS || (i = GROW(t, component)) == STET_TORCH_NONE)
        return false;
    t->components[i] = (struct stet_torch_component){
        .name = stet_torch_keep_raw(t, name),
        .digest = stet_torch_keep(t, digest),
        .value =
            stet_torch_keep_raw(t, stet_view_of(value.ptr, value.len < VALUE ? value.len : VALUE))};
    return true;
}

static int by_name(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct stet_torch_component *)a)->name.ptr;
    uintptr_t y = (uintptr_t)((const struct stet_torch_component *)b)->name.ptr;

    return x < y ? -1 : x > y;
}

/* Names are interned, so their pointers give an order. */
static void sort(struct stet_torch *t, uint32_t first)
{
    if (t->component_count > first)
        qsort(t->components + first, t->component_count - first, sizeof *t->components, by_name);
}

/* The set of settings with the text `raw`; added if it is new. */
static uint32_t settings_of(struct stet_torch *t, struct stet_view raw)
{
    uint64_t hash = stet_hash_bytes(raw).lo;
    struct stet_jscan j;
    uint32_t i;

    for (i = 0; i < t->setting_count; i++) {
        if (t->settings[i].hash == hash)
            return i;
    }
    if (t->component_count + 1024 > COMPONENTS || (i = GROW(t, setting)) == STET_TORCH_NONE)
        return STET_TORCH_NONE;
    t->settings[i] =
        (struct stet_torch_setting_set){.hash = hash, .first = (uint32_t)t->component_count};
    stet_ingest_jscan_init(&j, raw);
    while (stet_ingest_jscan_kind(&j) == STET_J_STRING) {
        t->settings[i].part |= !keep_component(t, stet_ingest_jscan_string(&j));
        stet_ingest_jscan_comma(&j);
    }
    sort(t, t->settings[i].first);
    t->settings[i].count = (uint32_t)t->component_count - t->settings[i].first;
    return i;
}

void stet_torch_key_components(struct stet_torch *t, uint32_t key, struct stet_jscan *j)
{
    uint32_t first = (uint32_t)t->component_count;
    const char *from = NULL, *to = NULL;
    struct stet_view raw;
    struct stet_torch_key *k;
    bool part = false;

    if (!stet_ingest_jscan_array(j))
        return;
    /* Settings are adjacent: their text is one piece, identified by its hash. */
    while (stet_ingest_jscan_element(j)) {
        raw = stet_ingest_jscan_string(j);
        if (j->bad)
            break;
        if (is_setting(raw)) {
            from = from ? from : raw.ptr - 1;
            to = raw.ptr + raw.len + 1;
        } else if (key != STET_TORCH_NONE) {
            part |= !keep_component(t, raw);
        }
    }
    if (key == STET_TORCH_NONE)
        return;
    sort(t, first);
    k = &t->torch_keys[key];
    k->first = first;
    k->count = (uint32_t)t->component_count - first;
    k->settings = from ? settings_of(t, stet_view_of(from, (size_t)(to - from))) : STET_TORCH_NONE;
    k->part = part || j->bad || (from && k->settings == STET_TORCH_NONE);
}

/* ---- comparing ---- */

struct slice {
    const struct stet_torch_component *at, *end;
    bool part; /* what is not in it may have been there */
};

static struct slice components_of(const struct stet_torch *t, const struct stet_torch_key *k)
{
    return (struct slice){t->components + k->first, t->components + k->first + k->count, k->part};
}

static struct slice settings_in(const struct stet_torch *t, const struct stet_torch_key *k)
{
    const struct stet_torch_setting_set *s = &t->settings[k->settings];

    return (struct slice){t->components + s->first, t->components + s->first + s->count, s->part};
}

static int bracket(char c)
{
    return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

/* Removes the common beginning and end of both values, at word boundaries. */
static void trim_alike(struct stet_view *a, struct stet_view *b)
{
    static const char ends[] = " ,([{=";
    size_t n = a->len < b->len ? a->len : b->len, front = 0, back = 0, keep;
    int depth = 0;

    while (front < n && a->ptr[front] == b->ptr[front])
        front++;
    for (keep = front; keep && !memchr(ends, a->ptr[keep - 1], sizeof ends - 1); keep--)
        ;
    /* The name before an equals sign or a bracket identifies it. */
    while (keep && a->ptr[keep - 1] != ' ')
        keep--;
    while (back < n - front && a->ptr[a->len - 1 - back] == b->ptr[b->len - 1 - back])
        back++;
    while (back && !memchr(",)]} ", a->ptr[a->len - back], 5))
        back--;
    for (size_t i = keep; i + back < a->len; i++)
        depth += bracket(a->ptr[i]);
    for (; depth > 0 && back; back--) /* what was opened is closed */
        depth += bracket(a->ptr[a->len - back]);
    if (keep + back <= a->len && keep + back <= b->len) {
        *a = stet_view_of(a->ptr + keep, a->len - keep - back);
        *b = stet_view_of(b->ptr + keep, b->len - keep - back);
    }
}

static void moved(struct stet_cache_why *why, struct stet_view name,
                  const struct stet_torch_component *a, const struct stet_torch_component *b)
{
    struct stet_cache_move m = {.name = name, .from = {"", 0}, .to = {"", 0}};

    if (why->count++ >= STET_CACHE_MOVES)
        return;
    if (a)
        m.from = a->value;
    if (b)
        m.to = b->value;
    if (a && b)
        trim_alike(&m.from, &m.to);
    if (stet_view_is(m.name, "gm"))
        m.from = m.to = stet_view_of("", 0);
    why->moves[why->count - 1] = m;
}

/* Both are sorted by name. */
static void compare(struct slice a, struct slice b, struct stet_cache_why *why)
{
    why->part |= a.part || b.part;
    while (a.at < a.end || b.at < b.end) {
        int order = a.at == a.end ? 1 : b.at == b.end ? -1 : by_name(a.at, b.at);

        if (order == 0 && a.at->digest.ptr != b.at->digest.ptr)
            moved(why, a.at->name, a.at, b.at);
        else if (order < 0 && !b.part)
            moved(why, a.at->name, a.at, NULL);
        else if (order > 0 && !a.part)
            moved(why, b.at->name, NULL, b.at);
        a.at += order <= 0;
        b.at += order >= 0;
    }
}

static void compare_keys(const struct stet_torch *t, const struct stet_torch_key *a,
                         const struct stet_torch_key *b, struct stet_cache_why *why)
{
    *why = (struct stet_cache_why){.nearest = a};
    compare(components_of(t, a), components_of(t, b), why);
    if (a->settings != b->settings && a->settings != STET_TORCH_NONE &&
        b->settings != STET_TORCH_NONE)
        compare(settings_in(t, a), settings_in(t, b), why);
}

void stet_torch_cache_compare(const struct stet_torch *t, uint32_t a, uint32_t b,
                              struct stet_cache_why *why)
{
    compare_keys(t, &t->torch_keys[a], &t->torch_keys[b], why);
}

/* The graph first, then inputs, settings, the rest: the most informative first. */
static int weight(struct stet_view name)
{
    return stet_view_is(name, "gm")                    ? 0
           : stet_view_starts(name, "example_inputs[") ? 1
           : stet_view_starts(name, settings_name)     ? 2
                                                       : 3;
}

static int by_weight(const void *a, const void *b)
{
    const struct stet_cache_move *x = a, *y = b;
    int order = weight(x->name) - weight(y->name);

    return order ? order : stet_view_cmp(x->name, y->name);
}

/* A complete comparison is better than a partial one; then the fewest differences, then an earlier
 * run. */
static bool is_nearer(const struct stet_cache_why *a, const struct stet_cache_why *b)
{
    if (!b->nearest || a->part != b->part)
        return !b->nearest || b->part;
    if (a->count != b->count)
        return a->count < b->count;
    return a->nearest->run.len && !b->nearest->run.len;
}

void stet_torch_cache_why(const struct stet_torch *t, uint32_t key, struct stet_cache_why *why)
{
    const struct stet_torch_key *k = &t->torch_keys[key];
    struct stet_cache_why best = {.part = t->keys_lost || k->part}, one;

    /* Keys of earlier runs are stored after these, but existed before. */
    for (uint32_t i = 0; i < t->torch_key_count; i++) {
        const struct stet_torch_key *o = &t->torch_keys[i];

        if (o->aot != k->aot || (i >= key && !o->run.len))
            continue;
        if (o->id.ptr == k->id.ptr) { /* equal texts are one in the pool */
            *why = (struct stet_cache_why){.nearest = o, .gone = true};
            return;
        }
        if (!o->count || !k->count) {
            best.part |= o->part && !best.nearest;
            continue;
        }
        compare_keys(t, o, k, &one);
        if (is_nearer(&one, &best))
            best = one;
    }
    *why = best;
    qsort(why->moves, why->count < STET_CACHE_MOVES ? why->count : STET_CACHE_MOVES,
          sizeof *why->moves, by_weight);
}

const char *stet_torch_cache_fix(struct stet_view component)
{
    static const struct {
        const char *start, *fix;
    } fixes[] = {
        {"gm", "the traced graph is another one; `stet torch frames` prints what was compiled"},
        {"example_inputs[", "the same shapes, dtypes and strides at every launch; mark what varies "
                            "with torch._dynamo.mark_dynamic"},
        {"inductor_config[",
         "the same torch._inductor.config, TORCHINDUCTOR_ variables and options "
         "of torch.compile at every launch"},
        {"torch_version", "another torch: its caches begin anew"},
        {"system_info", "another machine or driver: entries are not shared with it"},
        {"fx_kwargs[", "the same mode and options of torch.compile at every launch"},
        {"cpp_runtime_thread_count", "the same OMP_NUM_THREADS and torch.set_num_threads"},
        {"default_dtype", "the same torch.set_default_dtype before the compile"},
        {"deterministic_algorithms_settings", "the same torch.use_deterministic_algorithms"},
        {"cuda_matmul_settings", "the same torch.backends.cuda.matmul settings"},
    };

    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++) {
        if (stet_view_starts(component, fixes[i].start))
            return fixes[i].fix;
    }
    return "the same settings of torch at every launch";
}

const char *stet_torch_bypass_fix(struct stet_view reason)
{
    if (stet_view_contains(reason, "Unsupported call_function target"))
        return "make it a torch.library.custom_op, or, when it is pure, name it in "
               "torch._inductor.config.unsafe_marked_cacheable_functions";
    if (stet_view_contains(reason, "pickle"))
        return "the graph contains something that cannot be written to a file: pass it as a tensor";
    return "keep what is named here out of the compiled function";
}

/* As much as fits a line. */
static void brief(struct stet_view v, struct stet_buf *out)
{
    enum { MOST = 48 };
    size_t n = v.len;

    if (n > MOST)
        for (n = MOST; n && (v.ptr[n] & 0xc0) == 0x80; n--)
            ;
    stet_buf_add(out, v.ptr, n);
    if (n < v.len)
        stet_buf_str(out, "\xe2\x80\xa6");
}

void stet_torch_cache_words(const struct stet_cache_why *why, struct stet_buf *out)
{
    if (!why->nearest) {
        stet_buf_str(out, why->part ? "not compared: the trace has more keys than Stet keeps"
                                    : "nothing was there before");
        return;
    }
    if (why->gone) {
        stet_buf_str(out, "the same key was written before: its entry is gone (another cache "
                          "folder, or it was cleaned)");
        return;
    }
    for (size_t i = 0; i < why->count && i < STET_CACHE_MOVES; i++) {
        const struct stet_cache_move *m = &why->moves[i];

        stet_buf_str(out, i ? "; " : "");
        if (stet_view_is(m->name, "gm")) {
            stet_buf_str(out, "the graph (gm)");
            continue;
        }
        stet_buf_view(out, m->name);
        if (!m->from.len && !m->to.len)
            continue;
        stet_buf_char(out, ' ');
        brief(m->from, out);
        stet_buf_str(out, " \xe2\x86\x92 ");
        brief(m->to, out);
    }
    if (why->count > STET_CACHE_MOVES)
        stet_buf_printf(out, "; %zu more", why->count - STET_CACHE_MOVES);
    if (!why->count)
        stet_buf_str(out, "no component in torch's trace differs");
    if (why->part)
        stet_buf_str(out, "; only a part of the components was compared");
}

static uint32_t copy_components(struct stet_torch *t, const struct stet_torch *from, uint32_t first,
                                uint32_t count)
{
    uint32_t begin = (uint32_t)t->component_count;

    for (uint32_t i = first; i < first + count && t->component_count < COMPONENTS; i++) {
        const struct stet_torch_component *c = &from->components[i];
        uint32_t n = GROW(t, component);

        if (n == STET_TORCH_NONE)
            break;
        t->components[n] = (struct stet_torch_component){stet_torch_keep(t, c->name),
                                                         stet_torch_keep(t, c->digest),
                                                         stet_torch_keep(t, c->value)};
    }
    sort(t, begin);
    return begin;
}

static uint32_t copy_settings(struct stet_torch *t, const struct stet_torch *from, uint32_t at)
{
    const struct stet_torch_setting_set *s;
    uint32_t i;

    if (at == STET_TORCH_NONE)
        return at;
    s = &from->settings[at];
    for (i = 0; i < t->setting_count; i++) {
        if (t->settings[i].hash == s->hash)
            return i;
    }
    i = GROW(t, setting);
    if (i == STET_TORCH_NONE)
        return i;
    t->settings[i].hash = s->hash;
    t->settings[i].first = copy_components(t, from, s->first, s->count);
    t->settings[i].count = (uint32_t)t->component_count - t->settings[i].first;
    t->settings[i].part = s->part || t->settings[i].count < s->count;
    return i;
}

void stet_torch_know_keys(struct stet_torch *t, const struct stet_torch *earlier, const char *run)
{
    struct stet_view name = stet_torch_keep(t, stet_view_str(run));

    for (uint32_t i = 0; i < earlier->torch_key_count; i++) {
        const struct stet_torch_key *k = &earlier->torch_keys[i];
        uint32_t settings, first, count, n;

        if (k->run.len)
            continue;
        settings = copy_settings(t, earlier, k->settings);
        first = copy_components(t, earlier, k->first, k->count);
        count = (uint32_t)t->component_count - first;
        n = GROW(t, torch_key);
        if (n == STET_TORCH_NONE)
            return;
        t->torch_keys[n] = (struct stet_torch_key){.id = stet_torch_keep(t, k->id),
                                                   .run = name,
                                                   .compile = STET_TORCH_NONE,
                                                   .aot = k->aot,
                                                   .got = k->got,
                                                   .first = first,
                                                   .count = count,
                                                   .settings = settings,
                                                   .part = k->part || count < k->count};
    }
}
