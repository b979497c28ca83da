/* See human.h. */
#include "base/human.h"

#include "base/path.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

void stet_text_time(struct stet_buf *out, uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    char text[32];
    struct tm local;

    if (!wall_ns || !localtime_r(&seconds, &local)) {
        stet_buf_char(out, '-');
        return;
    }
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
    stet_buf_str(out, text);
}

void stet_text_duration(struct stet_buf *out, uint64_t ns)
{
    uint64_t s = ns / 1000000000u;

    if (ns < 999500) /* above, it would be rounded to 1000 us */
        stet_buf_printf(out, "%.0f us", (double)ns / 1e3);
    else if (ns < 999500000)
        stet_buf_printf(out, "%.0f ms", (double)ns / 1e6);
    else if (s < 120)
        stet_buf_printf(out, "%.1f s", (double)ns / 1e9);
    else if (s < 7200)
        stet_buf_printf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    else
        stet_buf_printf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
}

void stet_text_bytes(struct stet_buf *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    double v = (double)bytes;
    size_t unit = 0;

    for (; v >= 1024 && unit < 6; unit++)
        v /= 1024;
    stet_buf_printf(out, unit && v < 100 ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

struct stet_view stet_text_function(struct stet_view name)
{
    return name.len ? name : STET_VIEW("an unknown function");
}

struct stet_view stet_text_path(struct stet_view path)
{
    static char here[4096]; /* no command changes it */

    if (!*here && !getcwd(here, sizeof here))
        return path;
    return stet_path_below(path, here);
}

void stet_text_count(struct stet_buf *out, uint64_t n, const char *what)
{
    int len = (int)strlen(what);
    bool ies = n != 1 && len > 1 && what[len - 1] == 'y' && !strchr("aeou", what[len - 2]);

    stet_buf_printf(out, "%" PRIu64 " %.*s%s", n, ies ? len - 1 : len, what,
                    ies      ? "ies"
                    : n == 1 ? ""
                             : "s");
}

void stet_text_github(struct stet_buf *out, struct stet_view v, bool property)
{
    for (size_t i = 0; i < v.len; i++) {
        unsigned char c = (unsigned char)v.ptr[i];

        if (c == '%' || c < ' ' || (property && (c == ':' || c == ',')))
            stet_buf_printf(out, "%%%02X", c);
        else
            stet_buf_char(out, (char)c);
    }
}
