/* A bundle has some hundred items, so everything here walks a short list. */
#include "bundle/inventory.h"

#include "base/mem.h"
#include "base/vec.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS_MAX = 5000, ARENA_MAX = 16 << 20, VALUE_MAX = 16 << 10 };

static const struct {
    const char *name, *about;
    enum stet_effect effect;
} groups[] = {
#define GROUP(name, effect, what) {#name, what, STET_EFFECT_##effect},
#include "bundle/groups.def"
#undef GROUP
};

static const struct {
    enum stet_group group;
    const char *pattern;
    enum stet_effect effect;
} effects[] = {
#define EFFECT(group, pattern, effect) {STET_GROUP_##group, pattern, STET_EFFECT_##effect},
#include "bundle/effects.def"
#undef EFFECT
};

const char *stet_bundle_group_name(enum stet_group g)
{
    return groups[g].name;
}

const char *stet_bundle_group_about(enum stet_group g)
{
    return groups[g].about;
}

const char *stet_bundle_effect_name(enum stet_effect e)
{
    static const char *const names[] = {"nothing", "key", "program"};

    return names[e];
}

bool stet_bundle_glob(const char *pattern, struct stet_view text)
{
    const char *star = NULL;
    size_t i = 0, back = 0;

    while (i < text.len) {
        if (*pattern == '*') {
            star = ++pattern;
            back = i;
        } else if (*pattern && *pattern == text.ptr[i]) {
            pattern++;
            i++;
        } else if (star) {
            pattern = star;
            i = ++back;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

enum stet_effect stet_bundle_item_effect(enum stet_group g, struct stet_view name)
{
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (effects[i].group == g && stet_bundle_glob(effects[i].pattern, name))
            return effects[i].effect;
    return groups[g].effect;
}

void stet_bundle_inventory_init(struct stet_inventory *v)
{
    *v = (struct stet_inventory){0};
    stet_arena_init(&v->arena, ARENA_MAX);
}

void stet_bundle_inventory_release(struct stet_inventory *v)
{
    stet_arena_release(&v->arena);
    stet_mem_free(v->items);
    *v = (struct stet_inventory){0};
}

static struct stet_item *find(const struct stet_inventory *v, enum stet_group g,
                              struct stet_view name)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->items[i].group == g && stet_view_eq(v->items[i].name, name))
            return &v->items[i];
    return NULL;
}

/* One line, without control characters. */
static struct stet_view tidy(struct stet_inventory *v, struct stet_view text)
{
    struct stet_view copy;
    char *at;

    while (text.len && strchr(" \t\r\n", text.ptr[text.len - 1]))
        text.len--;
    if (text.len > VALUE_MAX)
        text.len = VALUE_MAX;
    copy = stet_arena_copy(&v->arena, text.len ? text : STET_VIEW(""));
    at = (char *)(uintptr_t)copy.ptr;
    for (size_t i = 0; at && i < copy.len; i++)
        if ((unsigned char)at[i] < ' ')
            at[i] = ' ';
    return copy;
}

void stet_bundle_inventory_put(struct stet_inventory *v, enum stet_group g, struct stet_view name,
                               struct stet_view value)
{
    struct stet_item *item = find(v, g, name);

    if (!item) {
        if (!stet_vec_grow(&v->items, &v->room, v->count, 1, sizeof *v->items, ITEMS_MAX)) {
            v->failed = true;
            return;
        }
        item = &v->items[v->count++];
        *item = (struct stet_item){g, tidy(v, name), {0}};
    }
    item->value = tidy(v, value);
    v->failed |= v->arena.failed;
}

void stet_bundle_inventory_putf(struct stet_inventory *v, enum stet_group g, const char *name,
                                const char *fmt, ...)
{
    char text[2048];
    va_list list;
    int n;

    va_start(list, fmt);
    n = vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    stet_bundle_inventory_put(v, g, stet_view_str(name), stet_view_cut(text, sizeof text, n));
}

const struct stet_item *stet_bundle_inventory_get(const struct stet_inventory *v, enum stet_group g,
                                                  struct stet_view name)
{
    return find(v, g, name);
}

static int by_place(const struct stet_item *a, const struct stet_item *b)
{
    return a->group != b->group ? (a->group < b->group ? -1 : 1) : stet_view_cmp(a->name, b->name);
}

static int compare_items(const void *a, const void *b)
{
    return by_place(a, b);
}

void stet_bundle_inventory_sort(struct stet_inventory *v)
{
    if (v->count)
        qsort(v->items, v->count, sizeof *v->items, compare_items);
}

static bool is_kept(enum stet_group g)
{
    return g != STET_GROUP_run && g != STET_GROUP_probe;
}

/* A plugin that was not loaded has only its file, so details that one side lacks are not a
 * difference. */
static bool is_detail(const struct stet_item *item)
{
    return (item->group == STET_GROUP_plugin && memchr(item->name.ptr, ' ', item->name.len)) ||
           item->group == STET_GROUP_topology;
}

/* `name` of the plugin that the item is a detail of; NULL if v has no such plugin. */
static const struct stet_item *of_same_plugin(const struct stet_inventory *v,
                                              const struct stet_item *item, const char *name)
{
    const char *blank = item->name.len ? memchr(item->name.ptr, ' ', item->name.len) : NULL;
    char text[512];
    int n = blank ? snprintf(text, sizeof text, "%.*s%s%s", (int)(blank - item->name.ptr),
                             item->name.ptr, *name ? " " : "", name)
                  : -1;

    return n > 0 && n < (int)sizeof text ? find(v, STET_GROUP_plugin, stet_view_of(text, (size_t)n))
                                         : NULL;
}

/* `own` has the item and `other` lacks it. Did `other` not load that plugin, or create no client?
 * Then its value is unknown, not different. */
static bool was_not_asked(const struct stet_inventory *own, const struct stet_inventory *other,
                          const struct stet_item *item)
{
    bool client = item->group == STET_GROUP_topology || stet_bundle_glob("* platform*", item->name);

    if (!is_detail(item) || !of_same_plugin(own, item, "") ||
        stet_bundle_glob("* path", item->name) || stet_bundle_glob("* found by", item->name))
        return false;
    return !of_same_plugin(other, item, client ? "platform" : "api");
}

static enum stet_rc add_change(struct stet_item_changes *c, const struct stet_item *from,
                               const struct stet_item *to, struct stet_err *err)
{
    struct stet_item_change *more = stet_mem_resize(c->items, c->count + 1, sizeof *more);
    const struct stet_item *one = to ? to : from;

    if (!more)
        return stet_fail(err, STET_NO_MEMORY, "out of memory");
    c->items = more;
    more[c->count] = (struct stet_item_change){
        from, to,
        (!from || !to) && is_detail(one) ? STET_EFFECT_NOTHING
                                         : stet_bundle_item_effect(one->group, one->name)};
    c->by_effect[more[c->count++].effect]++;
    return STET_OK;
}

static int gravest_first(const void *a, const void *b)
{
    const struct stet_item_change *x = a, *y = b;

    if (x->effect != y->effect)
        return x->effect > y->effect ? -1 : 1;
    return by_place(x->to ? x->to : x->from, y->to ? y->to : y->from);
}

enum stet_rc stet_bundle_inventory_diff(const struct stet_inventory *a,
                                        const struct stet_inventory *b,
                                        struct stet_item_changes *out, struct stet_err *err)
{
    enum stet_rc rc = STET_OK;
    size_t i = 0, k = 0;

    *out = (struct stet_item_changes){0};
    while (rc == STET_OK && (i < a->count || k < b->count)) {
        const struct stet_item *x = i < a->count ? &a->items[i] : NULL;
        const struct stet_item *y = k < b->count ? &b->items[k] : NULL;
        int order = !x ? 1 : !y ? -1 : by_place(x, y);
        const struct stet_item *first = order <= 0 ? x : y;

        i += order <= 0;
        k += order >= 0;
        if (!first || !is_kept(first->group) || (order < 0 && was_not_asked(a, b, x)) ||
            (order > 0 && was_not_asked(b, a, y)))
            continue;
        if (order != 0 || !stet_view_eq(x->value, y->value))
            rc = add_change(out, order <= 0 ? x : NULL, order >= 0 ? y : NULL, err);
    }
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, gravest_first);
    return rc;
}

void stet_bundle_item_changes_release(struct stet_item_changes *c)
{
    stet_mem_free(c->items);
    *c = (struct stet_item_changes){0};
}
