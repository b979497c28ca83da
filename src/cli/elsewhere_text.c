/* Prints the programs that XLA's CPU client ran because the CPU backend could not. */
#include "cli/run_text.h"

#include "base/mem.h"

#include <stdlib.h>

enum { MOST_NAMED = 5 };

struct passed {
    struct stet_view name, why;
};

static int by_name(const void *a, const void *b)
{
    const struct passed *x = a, *y = b;
    int order = stet_view_cmp(x->name, y->name);

    return order ? order : stet_view_cmp(x->why, y->why);
}

static size_t collect(const struct stet_run_digest *d, struct passed *out)
{
    size_t count = 0;

    for (size_t i = 0; i < d->process_count; i++) {
        const struct stet_process_digest *p = &d->processes[i];

        for (size_t k = 0; k < p->compile_count; k++) {
            const struct stet_compile_event *c = &p->compiles[k];

            if (!c->elsewhere.len)
                continue;
            if (out)
                out[count] = (struct passed){c->name, c->elsewhere};
            count++;
        }
    }
    return count;
}

static void put(struct stet_buf *out, const char *prefix, const struct passed *p, size_t times)
{
    stet_buf_printf(out, "%s  %.*s", prefix, STET_FMT(p->name));
    if (times > 1)
        stet_buf_printf(out, " (%zu compiles)", times);
    stet_buf_printf(out, ": %.*s\n", STET_FMT(p->why));
}

void stet_cli_elsewhere_text(struct stet_buf *out, const char *prefix,
                             const struct stet_run_digest *d)
{
    size_t count = collect(d, NULL), named = 0, rest = 0;
    struct passed *all = count ? stet_mem_calloc(count, sizeof *all) : NULL;

    if (!count)
        return;
    stet_buf_printf(out, "%sXLA's CPU client ran %zu program%s that the CPU backend cannot run%s\n",
                    prefix, count, count == 1 ? "" : "s", all ? ":" : "");
    if (!all)
        return;
    collect(d, all);
    qsort(all, count, sizeof *all, by_name);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && by_name(&all[i], &all[end]) == 0; end++)
            ;
        if (named++ < MOST_NAMED)
            put(out, prefix, &all[i], end - i);
        else
            rest += end - i;
    }
    if (rest)
        stet_buf_printf(out, "%s  and %zu more\n", prefix, rest);
    stet_mem_free(all);
}
