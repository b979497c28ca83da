/* What the exporters of other tools' formats share. */
#include "report/export.h"

#include <zlib.h>

struct stet_view stet_report_event_function(const struct stet_report_run *r,
                                            const struct stet_report_event *e)
{
    uint32_t name =
        e->family < r->family_count ? r->families[e->family].function : STET_INTERN_NONE;

    return name < r->names.count && r->names.items[name].len ? r->names.items[name]
                                                             : STET_VIEW("an unknown function");
}

const struct stet_story *stet_report_event_story(const struct stet_report_run *r,
                                                 const struct stet_report_event *e)
{
    return e->cause >= 0 && (size_t)e->cause < r->stories.count ? &r->stories.items[e->cause]
                                                                : NULL;
}

const char *stet_report_event_cause(const struct stet_report_run *r,
                                    const struct stet_report_event *e)
{
    const struct stet_story *story = stet_report_event_story(r, e);

    if (story)
        return stet_cause_id(story->cause);
    return e->kind == STET_REPORT_LOAD ? "load" : stet_cause_id(STET_CAUSE_FIRST);
}

void stet_report_process_name(struct stet_buf *out, const struct stet_report_process *p)
{
    if (p->rank >= 0)
        stet_buf_printf(out, "rank %lld (", (long long)p->rank);
    stet_buf_printf(out, "pid %llu", (unsigned long long)p->pid);
    if (p->host.len) {
        stet_buf_str(out, " on ");
        stet_buf_view(out, p->host);
    }
    if (p->rank >= 0)
        stet_buf_char(out, ')');
    if (p->torch)
        stet_buf_str(out, ", torch.compile");
}

enum { GZIP_FILE = 15 + 16 /* zlib's largest window, with gzip's head and checksum */, MEMORY = 8 };

void stet_report_gzip(struct stet_buf *out, struct stet_view in)
{
    z_stream z = {.next_in = (Bytef *)in.ptr, .avail_in = (uInt)in.len};
    char *to;
    size_t room;

    if (out->failed || in.len > UINT32_MAX ||
        deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_FILE, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        out->failed = true;
        return;
    }
    room = deflateBound(&z, (uLong)in.len);
    to = stet_buf_reserve(out, room);
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)room;
    if (to && deflate(&z, Z_FINISH) == Z_STREAM_END)
        stet_buf_grew(out, z.total_out);
    else
        out->failed = true;
    deflateEnd(&z);
}
