/* stet cache gc: applies the limits and prints what was removed. */
#include "base/human.h"
#include "base/text.h"
#include "cli/cache.h"
#include "cli/run_text.h"
#include "store/limits.h"

static void tell_removed(const struct stet_store_gc *gc)
{
    struct stet_buf out = STET_BUF_INIT;

    stet_buf_printf(&out, "stet: the store was over its limit of ");
    stet_text_bytes(&out, gc->max_bytes);
    stet_buf_str(&out, ": removed ");
    stet_text_count(&out, gc->removed, "entry");
    stet_buf_str(&out, " (");
    stet_text_bytes(&out, gc->removed_bytes);
    stet_buf_str(&out, ") not used for longest; STET_STORE_MAX_BYTES sets another limit");
    if (!out.failed)
        stet_say("%.*s\n", STET_FMT(stet_buf_as_view(&out)));
    stet_buf_release(&out);
}

void stet_cli_cache_tidy(const char *folder)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_store_gc gc = {0};
    bool usual;

    if (stet_store_tidy(folder, &gc, &usual, &err) != STET_OK)
        stet_cli_complain(&err);
    else if (usual && gc.removed)
        tell_removed(&gc);
}

int stet_cli_cache_gc(const struct stet_store *s, const struct stet_args *args)
{
    static const char *const names[] = {"--max-bytes", "--max-age"};
    struct stet_err err = STET_ERR_INIT;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_store_gc gc = {0};
    struct stet_json j;

    if (stet_store_limits(&gc, stet_cache_wishes.max_bytes, stet_cache_wishes.max_age, names,
                          &err) != STET_OK ||
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
