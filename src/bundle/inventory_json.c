/* A bundle on disk: {"schema":"stet.bundle/1","package":{"jax":"0.10.2",…},…}. */
#include "bundle/inventory.h"

#include "base/fs.h"

#include <jansson.h>

/* Thousands of packages take less than a megabyte. */
enum { LARGEST = 64 << 20 };

static const char schema[] = "stet.bundle/1";

static void write_groups(const struct stet_inventory *v, struct stet_json *j)
{
    enum stet_group open = STET_GROUPS;

    for (size_t i = 0; i < v->count; i++) {
        const struct stet_item *item = &v->items[i];

        if (item->group == STET_GROUP_run || item->group == STET_GROUP_probe)
            continue;
        if (item->group != open) {
            if (open != STET_GROUPS)
                stet_json_end_object(j);
            open = item->group;
            stet_json_object(j, stet_bundle_group_name(open));
        }
        stet_json_string(j, item->name.ptr, item->value);
    }
    if (open != STET_GROUPS)
        stet_json_end_object(j);
}

void stet_bundle_inventory_json(const struct stet_inventory *v, struct stet_json *j,
                                const char *key)
{
    stet_json_object(j, key);
    stet_json_cstr(j, "schema", schema);
    stet_json_uint(j, "recorded_ns", v->recorded_ns);
    stet_json_string(j, "host", v->host);
    write_groups(v, j);
    stet_json_end_object(j);
}

enum stet_rc stet_bundle_inventory_write(struct stet_inventory *v, const char *path,
                                         struct stet_err *err)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_json j;
    enum stet_rc rc;

    stet_bundle_inventory_sort(v);
    stet_json_init(&j, &out);
    stet_bundle_inventory_json(v, &j, NULL);
    stet_buf_char(&out, '\n');
    rc = out.failed || v->failed ? stet_fail(err, STET_NO_MEMORY, "out of memory")
                                 : stet_fs_write(path, stet_buf_as_view(&out), err);
    stet_buf_release(&out);
    return rc;
}

static enum stet_rc take_group(struct stet_inventory *v, enum stet_group g, json_t *values,
                               const char *what, struct stet_err *err)
{
    const char *name;
    json_t *value;

    if (!json_is_object(values))
        return stet_fail(err, STET_BAD_INPUT, "%s: \"%s\" is not an object", what,
                         stet_bundle_group_name(g));
    json_object_foreach(values, name, value)
    {
        if (!json_is_string(value))
            return stet_fail(err, STET_BAD_INPUT, "%s: \"%s\" of \"%s\" is not a text", what, name,
                             stet_bundle_group_name(g));
        stet_bundle_inventory_put(
            v, g, stet_view_str(name),
            stet_view_of(json_string_value(value), json_string_length(value)));
    }
    return STET_OK;
}

static enum stet_rc take_all(struct stet_inventory *v, json_t *root, const char *what,
                             struct stet_err *err)
{
    const char *is = json_string_value(json_object_get(root, "schema"));
    enum stet_rc rc = STET_OK;

    if (!is || strncmp(is, "stet.bundle/", 12) != 0)
        return stet_fail(err, STET_BAD_INPUT, "%s: not a bundle (no schema stet.bundle/1)", what);
    if (strcmp(is, schema) != 0)
        return stet_fail(err, STET_UNSUPPORTED, "%s: %s is newer than this Stet", what, is);
    v->recorded_ns = (uint64_t)json_integer_value(json_object_get(root, "recorded_ns"));
    v->host =
        stet_arena_copy(&v->arena, stet_view_str(json_string_value(json_object_get(root, "host"))));
    /* Skips groups of a later Stet. */
    for (enum stet_group g = 0; rc == STET_OK && g < STET_GROUPS; g++) {
        json_t *values = json_object_get(root, stet_bundle_group_name(g));

        if (values)
            rc = take_group(v, g, values, what, err);
    }
    if (rc == STET_OK && v->failed)
        rc = stet_fail(err, STET_LIMIT, "%s: too large", what);
    return rc;
}

enum stet_rc stet_bundle_inventory_parse(struct stet_inventory *v, struct stet_view text,
                                         const char *what, struct stet_err *err)
{
    json_error_t bad;
    json_t *root = json_loadb(text.len ? text.ptr : "", text.len, 0, &bad);
    enum stet_rc rc;

    stet_bundle_inventory_init(v);
    if (!root)
        rc = stet_fail(err, STET_BAD_INPUT, "%s:%d:%d: not a bundle, which is JSON: %s", what,
                       bad.line, bad.column, bad.text);
    else
        rc = take_all(v, root, what, err);
    json_decref(root);
    stet_bundle_inventory_sort(v);
    if (rc != STET_OK)
        stet_bundle_inventory_release(v);
    return rc;
}

enum stet_rc stet_bundle_inventory_read(struct stet_inventory *v, const char *path,
                                        struct stet_err *err)
{
    struct stet_file f;
    enum stet_rc rc = stet_file_open_small(&f, path, LARGEST, err);

    if (rc != STET_OK)
        return rc;
    rc = stet_bundle_inventory_parse(v, f.bytes, path, err);
    stet_file_close(&f);
    return rc;
}
