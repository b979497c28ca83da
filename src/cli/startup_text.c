/* See startup_text.h. */
#include "cli/startup_text.h"

#include "base/human.h"
#include "cli/run_text.h"

#include <inttypes.h>

static void part(struct stet_buf *out, const char *name, uint64_t ns, bool *any)
{
    if (!ns)
        return;
    stet_buf_printf(out, "%s %s ", *any ? "," : ":", name);
    stet_text_duration(out, ns);
    *any = true;
}

void stet_cli_startup_text(struct stet_buf *out, const char *indent,
                           const struct stet_run_digest *d)
{
    struct stet_startup s;
    bool any = false;

    if (!stet_ledger_startup(d, &s))
        return;
    stet_buf_printf(out, "%sfirst step", indent);
    if (d->process_count > 1 && d->processes[s.process].rank >= 0)
        stet_buf_printf(out, " of rank %" PRId64, d->processes[s.process].rank);
    stet_buf_str(out, " after ");
    stet_text_duration(out, s.total_ns);
#define PART(name, what) part(out, #name, s.name##_ns, &any);
#include "ledger/startup.def"
#undef PART
    stet_buf_char(out, '\n');
}
