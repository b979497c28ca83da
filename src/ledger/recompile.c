/* See recompile.h. */
#include "ledger/recompile.h"

#include "base/json.h"

void stet_recompile_line_json(struct stet_json *j, const char *key, const struct stet_line *l)
{
    if (!l->line) {
        stet_json_null(j, key);
        return;
    }
    stet_json_object(j, key);
    stet_json_string(j, "file", l->file);
    stet_json_uint(j, "line", l->line);
    stet_json_string(j, "function", l->function);
    stet_json_end_object(j);
}
