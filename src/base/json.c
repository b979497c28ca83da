/* See json.h. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

/* A byte that needs no escape. Most bytes are like that, so whole runs of them are copied. */
static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '#';
}

static void quote(struct stet_buf *out, struct stet_view v)
{
    const unsigned char *p = (const unsigned char *)v.ptr;

    stet_buf_char(out, '"');
    for (size_t i = 0; i < v.len;) {
        size_t n = stet_utf8_length(p + i, v.len - i);

        if (n == 0) {
            stet_buf_str(out, "\xef\xbf\xbd");
            i++;
        } else if (p[i] == '"' || p[i] == '\\') {
            stet_buf_char(out, '\\');
            stet_buf_char(out, (char)p[i++]);
        } else if (p[i] == '\n') {
            stet_buf_str(out, "\\n");
            i++;
        } else if (stet_utf8_is_control(p + i, n) ||
                   (p[i] == '#' && stet_view_is_runner_command(stet_view_of(p + i, v.len - i)))) {
            stet_buf_printf(out, "\\u%04x", (unsigned)stet_utf8_decode(p + i, n));
            i += n;
        } else {
            size_t from = i;

            for (i += n; i < v.len && is_plain(p[i]);)
                i++;
            stet_buf_add(out, p + from, i - from);
        }
    }
    stet_buf_char(out, '"');
}

static void begin_value(struct stet_json *j, const char *key)
{
    if (j->comma)
        stet_buf_char(j->out, ',');
    j->comma = true;
    if (!key)
        return;
    quote(j->out, stet_view_str(key));
    stet_buf_char(j->out, ':');
}

static void open_nested(struct stet_json *j, const char *key, char bracket)
{
    begin_value(j, key);
    stet_buf_char(j->out, bracket);
    j->comma = false;
}

static void close_nested(struct stet_json *j, char bracket)
{
    stet_buf_char(j->out, bracket);
    j->comma = true;
}

void stet_json_init(struct stet_json *j, struct stet_buf *out)
{
    *j = (struct stet_json){.out = out};
}

void stet_json_object(struct stet_json *j, const char *key)
{
    open_nested(j, key, '{');
}

void stet_json_array(struct stet_json *j, const char *key)
{
    open_nested(j, key, '[');
}

void stet_json_end_object(struct stet_json *j)
{
    close_nested(j, '}');
}

void stet_json_end_array(struct stet_json *j)
{
    close_nested(j, ']');
}

void stet_json_string(struct stet_json *j, const char *key, struct stet_view v)
{
    begin_value(j, key);
    quote(j->out, v);
}

void stet_json_cstr(struct stet_json *j, const char *key, const char *v)
{
    if (v)
        stet_json_string(j, key, stet_view_str(v));
    else
        stet_json_null(j, key);
}

void stet_json_int(struct stet_json *j, const char *key, int64_t v)
{
    begin_value(j, key);
    stet_buf_printf(j->out, "%" PRId64, v);
}

void stet_json_uint(struct stet_json *j, const char *key, uint64_t v)
{
    begin_value(j, key);
    stet_buf_printf(j->out, "%" PRIu64, v);
}

void stet_json_number(struct stet_json *j, const char *key, double v)
{
    if (!isfinite(v)) {
        stet_json_null(j, key);
        return;
    }
    begin_value(j, key);
    /* nine digits would take minutes off a time of day */
    stet_buf_printf(j->out, fabs(v) >= 1e9 && fabs(v) < 1e15 ? "%.3f" : "%.9g", v);
}

void stet_json_known(struct stet_json *j, const char *key, bool known, uint64_t v)
{
    if (known)
        stet_json_uint(j, key, v);
    else
        stet_json_null(j, key);
}

void stet_json_told(struct stet_json *j, const char *key, struct stet_view v)
{
    if (v.ptr)
        stet_json_string(j, key, v);
    else
        stet_json_null(j, key);
}

void stet_json_bool(struct stet_json *j, const char *key, bool v)
{
    begin_value(j, key);
    stet_buf_str(j->out, v ? "true" : "false");
}

void stet_json_null(struct stet_json *j, const char *key)
{
    begin_value(j, key);
    stet_buf_str(j->out, "null");
}

void stet_json_raw(struct stet_json *j, const char *key, struct stet_view json)
{
    begin_value(j, key);
    stet_buf_view(j->out, json);
}
