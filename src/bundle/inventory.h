/* A bundle: everything below a program that may change it or the key under which it is cached, as a
 * sorted list of (group, name, value). On disk it is one JSON object (docs/formats.md). The struct
 * owns its texts. */
#ifndef STET_BUNDLE_INVENTORY_H
#define STET_BUNDLE_INVENTORY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"

enum stet_effect {
    STET_EFFECT_NOTHING, /* as far as is known */
    STET_EFFECT_KEY,     /* what is compiled, or the key it is cached under */
    STET_EFFECT_PROGRAM, /* the traced program itself */
    STET_EFFECTS
};

enum stet_group {
#define GROUP(name, effect, what) STET_GROUP_##name,
#include "bundle/groups.def"
#undef GROUP
    STET_GROUPS
};

const char *stet_group_name(enum stet_group g);
const char *stet_group_about(enum stet_group g);
const char *stet_effect_name(enum stet_effect e);

struct stet_item {
    enum stet_group group;
    struct stet_view name, value;
};

struct stet_inventory {
    struct stet_arena arena; /* names and values */
    struct stet_item *items;
    size_t count, room;
    bool failed; /* out of memory, or past the caps: sticky */
    uint64_t recorded_ns;
    struct stet_view host;
};

void stet_inventory_init(struct stet_inventory *v);
void stet_inventory_release(struct stet_inventory *v);

/* Adds or replaces; both texts are copied. An empty value is kept: the item exists. */
void stet_inventory_put(struct stet_inventory *v, enum stet_group g, struct stet_view name,
                        struct stet_view value);
void stet_inventory_putf(struct stet_inventory *v, enum stet_group g, const char *name,
                         const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* NULL if it does not exist. */
const struct stet_item *stet_inventory_get(const struct stet_inventory *v, enum stet_group g,
                                           struct stet_view name);
/* By group, then name. */
void stet_inventory_sort(struct stet_inventory *v);

enum stet_effect stet_item_effect(enum stet_group g, struct stet_view name);
/* `*` matches any text; the whole `text` must match. */
bool stet_glob(const char *pattern, struct stet_view text);

void stet_inventory_json(const struct stet_inventory *v, struct stet_json *j, const char *key);
enum stet_rc stet_inventory_write(struct stet_inventory *v, const char *path, struct stet_err *err);
/* STET_BAD_INPUT with line and column, STET_UNSUPPORTED for a newer schema. `what` is for
 * messages. */
enum stet_rc stet_inventory_parse(struct stet_inventory *v, struct stet_view text, const char *what,
                                  struct stet_err *err);
enum stet_rc stet_inventory_read(struct stet_inventory *v, const char *path, struct stet_err *err);

/* One difference; a side that lacks the item is NULL. */
struct stet_item_change {
    const struct stet_item *from, *to;
    enum stet_effect effect;
};

struct stet_item_changes {
    struct stet_item_change *items; /* the gravest first; free with _release */
    size_t count;
    size_t by_effect[STET_EFFECTS];
};

/* Both must be sorted. Groups that are not kept on disk are left out. */
enum stet_rc stet_inventory_diff(const struct stet_inventory *a, const struct stet_inventory *b,
                                 struct stet_item_changes *out, struct stet_err *err);
void stet_item_changes_release(struct stet_item_changes *c);

#endif
