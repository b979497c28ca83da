/* stet cache gc: parses the limits, applies them and prints what was removed. */
#include "base/human.h"
#include "base/text.h"
#include "cli/cache.h"
#include "cli/run_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Parses a number and one letter of `units`, each worth `worth`. False when the text is not such an
 * amount. */
static bool read_amount(const char *text, const char *units, const uint64_t *worth, uint64_t *out)
{
    unsigned long long n;
    const char *unit;
    char *end;

    *out = 0;
    if (!text)
        return true;
    errno = 0;
    n = strtoull(text, &end, 10);
    if (end == text || errno || *text == '-')
        return false;
    unit = *end ? strchr(units, *end) : NULL;
    if (*end && (!unit || end[1]))
        return false;
    return !__builtin_mul_overflow(n, unit ? worth[unit - units] : 1, out);
}

/* Parses the limits; `names` are for the error message. */
static enum stet_rc read_limits(struct stet_store_gc *gc, const char *max_bytes,
                                const char *max_age, const char *const names[2],
                                struct stet_err *err)
{
    static const uint64_t bytes[] = {1u << 10, 1u << 20, 1u << 30, UINT64_C(1) << 40};
    static const uint64_t seconds[] = {1, 60, 3600, 86400};

    if (!read_amount(max_bytes, "KMGT", bytes, &gc->max_bytes))
        return stet_fail(err, STET_USAGE, "%s %s: not a number with K, M, G or T", names[0],
                         max_bytes);
    if (max_bytes && !gc->max_bytes)
        gc->max_bytes = 1; /* the user gave no limit, and no entry is that small */
    if (!read_amount(max_age, "smhd", seconds, &gc->max_age_s))
        return stet_fail(err, STET_USAGE, "%s %s: not a number with s, m, h or d", names[1],
                         max_age);
    return STET_OK;
}

static uint64_t capacity_of(const char *folder)
{
    struct statvfs s;

    return statvfs(folder, &s) == 0 ? (uint64_t)s.f_blocks * s.f_frsize : 0;
}

static void tell_removed(const struct stet_store_gc *gc)
{
    struct stet_buf out = STET_BUF_INIT;

    stet_buf_printf(&out, "stet: the store was over its limit of ");
    stet_text_bytes(&out, gc->max_bytes);
    stet_buf_str(&out, ": removed ");
    stet_text_count(&out, gc->removed, "entry");
    stet_buf_str(&out, " (");
    stet_text_bytes(&out, gc->removed_bytes);
    stet_buf_str(&out, ") not used for longest; STET_STORE_MAX_BYTES sets another limit\n");
    if (!out.failed)
        stet_say("%.*s", STET_FMT(stet_buf_as_view(&out)));
    stet_buf_release(&out);
}

void stet_cli_cache_tidy(const char *folder)
{
    static const char *const names[] = {"STET_STORE_MAX_BYTES", "STET_STORE_MAX_AGE"};
    const char *bytes = getenv(names[0]), *age = getenv(names[1]);
    bool unlimited = bytes && !strcmp(bytes, "none");
    struct stet_err err = STET_ERR_INIT;
    struct stet_store_gc gc = {0};
    struct stet_store store;
    enum stet_rc rc;

    if (!folder || *folder != '/')
        return;
    rc = stet_store_open(&store, folder, &err);
    if (rc == STET_REFUSED || (rc == STET_OK && store.read_only))
        return; /* the message that it is not used was printed when the run began */
    if (rc == STET_OK)
        rc = read_limits(&gc, unlimited ? NULL : bytes, age, names, &err);
    if (rc == STET_OK && !bytes)
        gc.max_bytes = stet_store_usual_limit(capacity_of(store.folder));
    if (rc == STET_OK)
        rc = stet_store_gc(&store, &gc, &err);
    if (rc != STET_OK)
        stet_cli_complain(&err);
    else if (!bytes && gc.removed)
        tell_removed(&gc);
}

int stet_cli_cache_gc(const struct stet_store *s, const struct stet_args *args)
{
    static const char *const names[] = {"--max-bytes", "--max-age"};
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_store_gc gc = {0};
    struct stet_json j;

    if (read_limits(&gc, stet_cache_wishes.max_bytes, stet_cache_wishes.max_age, names, &err) !=
            STET_OK ||
        stet_store_gc(s, &gc, &err) != STET_OK)
        return stet_cli_complain(&err);
    if (args->format == STET_FORMAT_JSON) {
        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "schema", "stet.cachegc/1");
        stet_json_uint(&j, "removed", gc.removed);
        stet_json_uint(&j, "removed_bytes", gc.removed_bytes);
        stet_json_uint(&j, "left", gc.left);
        stet_json_uint(&j, "left_bytes", gc.left_bytes);
        stet_json_uint(&j, "temporaries", gc.temporaries);
        stet_json_end_object(&j);
        stet_buf_char(&out, '\n');
    } else {
        stet_buf_printf(&out, "removed %zu of ", gc.removed);
        stet_text_count(&out, gc.removed + gc.left, "entry");
        stet_buf_str(&out, " (");
        stet_text_bytes(&out, gc.removed_bytes);
        stet_buf_str(&out, "); ");
        stet_text_bytes(&out, gc.left_bytes);
        stet_buf_str(&out, " left\n");
    }
    return stet_cli_print(&out, STET_EXIT_FINE);
}
