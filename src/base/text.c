/* See text.h. */
#include "base/text.h"

#include "base/fs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PENS = STET_PEN_CYAN + 1 };

static const char pens[PENS][8] = {
    [STET_PEN_PLAIN] = "\033[0m", [STET_PEN_BOLD] = "\033[1m",   [STET_PEN_DIM] = "\033[2m",
    [STET_PEN_RED] = "\033[31m",  [STET_PEN_GREEN] = "\033[32m", [STET_PEN_YELLOW] = "\033[33m",
    [STET_PEN_CYAN] = "\033[36m",
};

const char *stet_pen(enum stet_pen pen, bool colour)
{
    return colour ? pens[pen] : "";
}

static bool is_pen(const char *s)
{
    return (uintptr_t)s >= (uintptr_t)pens && (uintptr_t)s < (uintptr_t)pens + sizeof pens;
}

/* Appends one character that must not be printed as it is; `n` is 0 for a byte that is not
 * UTF-8. */
static void escape(struct stet_buf *out, const unsigned char *p, size_t n)
{
    char code[16];

    if (n > 1)
        snprintf(code, sizeof code, "\\u%04x", (unsigned)stet_utf8_decode(p, n));
    else if (*p == '\n' || *p == '\r')
        snprintf(code, sizeof code, *p == '\n' ? "\\n" : "\\r");
    else
        snprintf(code, sizeof code, "\\x%02x", *p);
    stet_buf_str(out, code);
}

/* Runs of plain characters are copied at once. `passes` returns how many bytes at a position may
 * pass although they begin with a control character. */
static void copy(struct stet_buf *out, struct stet_view text,
                 size_t (*passes)(struct stet_view rest))
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    size_t from = 0;

    for (size_t i = 0; i < text.len;) {
        size_t n = stet_utf8_length(p + i, text.len - i), pass;

        if (n && p[i] != '#' && !stet_utf8_is_control(p + i, n)) {
            i += n;
            continue;
        }
        pass = passes(stet_view_of(p + i, text.len - i));
        if (pass) {
            i += pass;
            continue;
        }
        stet_buf_add(out, p + from, i - from);
        escape(out, p + i, n);
        i += n ? n : 1;
        from = i;
    }
    stet_buf_add(out, text.len ? text.ptr + from : "", text.len - from);
}

static size_t foreign_passes(struct stet_view rest)
{
    return *rest.ptr == '\t' || (*rest.ptr == '#' && !stet_view_is_runner_command(rest));
}

void stet_text_foreign(struct stet_buf *out, struct stet_view text)
{
    size_t blanks = 0;

    while (blanks < text.len && (text.ptr[blanks] == ' ' || text.ptr[blanks] == '\t'))
        blanks++;
    if (stet_view_starts(stet_view_of(text.ptr + blanks, text.len - blanks), "::")) {
        stet_buf_add(out, text.ptr, blanks);
        stet_buf_str(out, "\\x3a");
        text = stet_view_of(text.ptr + blanks + 1, text.len - blanks - 1);
    }
    copy(out, text, foreign_passes);
}

static size_t plain_passes(struct stet_view rest)
{
    return strchr("\t\n#", *rest.ptr) && *rest.ptr;
}

static size_t coloured_passes(struct stet_view rest)
{
    for (size_t i = 0; i < PENS; i++)
        if (stet_view_starts(rest, pens[i]))
            return strlen(pens[i]);
    return plain_passes(rest);
}

void stet_text_filter(struct stet_buf *out, struct stet_view text, bool colour)
{
    copy(out, text, colour ? coloured_passes : plain_passes);
}

/* ---- printf ---- */

struct conversion {
    char spec[48]; /* as snprintf takes it, with numbers in place of '*' */
    bool left;
    int width, precision; /* -1: none */
    int longs;            /* 0 int, 1 long, 2 long long, 3 size_t */
    char kind;
};

static int number(const char **at, va_list *args)
{
    int n = 0;

    if (**at == '*') {
        ++*at;
        return va_arg(*args, int);
    }
    for (; isdigit((unsigned char)**at); ++*at)
        n = n < 100000 ? n * 10 + (**at - '0') : n;
    return n;
}

/* Parses after the '%'; returns the end of the conversion. */
static const char *parse(struct conversion *c, const char *at, va_list *args)
{
    char flags[6] = "", width[16] = "", precision[16] = "";
    size_t n = 0;

    *c = (struct conversion){.width = -1, .precision = -1};
    for (; *at && strchr("-+ #0", *at); at++) {
        c->left |= *at == '-';
        if (n < sizeof flags - 1)
            flags[n++] = *at;
    }
    if (*at == '*' || isdigit((unsigned char)*at)) {
        c->width = number(&at, args);
        c->left |= c->width < 0;
        snprintf(width, sizeof width, "%d", c->width);
        c->width = c->width < 0 ? -c->width : c->width;
    }
    if (*at == '.') {
        at++;
        c->precision = number(&at, args);
        if (c->precision >= 0)
            snprintf(precision, sizeof precision, ".%d", c->precision);
    }
    for (; *at && strchr("hlz", *at); at++)
        c->longs = *at == 'z' ? 3 : *at == 'l' ? c->longs + 1 : c->longs;
    c->kind = *at;
    snprintf(c->spec, sizeof c->spec, "%%%s%s%s%s%c", flags, width, precision,
             strchr("diuxXo", c->kind) ? "ll" : "", c->kind);
    return *at ? at + 1 : at;
}

static void put_text(struct stet_buf *out, const struct conversion *c, const char *s)
{
    size_t before, used, pad;

    if (!s)
        s = "(null)";
    if (is_pen(s)) {
        stet_buf_str(out, s);
        return;
    }
    before = out->len;
    stet_text_foreign(
        out, stet_view_of(s, c->precision >= 0 ? strnlen(s, (size_t)c->precision) : strlen(s)));
    used = out->len - before;
    pad = c->width > 0 && (size_t)c->width > used ? (size_t)c->width - used : 0;
    if (!pad || !stet_buf_reserve(out, pad))
        return;
    memset(out->ptr + before + used, ' ', pad);
    if (!c->left) {
        memmove(out->ptr + before + pad, out->ptr + before, used);
        memset(out->ptr + before, ' ', pad);
    }
    stet_buf_grew(out, pad);
}

static void put_number(struct stet_buf *out, const struct conversion *c, va_list *args)
{
    char text[400]; /* the longest double has 309 digits before its point */
    long long i;
    int n;

    switch (c->kind) {
    case 'c':
        n = snprintf(text, sizeof text, c->spec, va_arg(*args, int));
        break;
    case 'd':
    case 'i':
        i = c->longs == 0   ? va_arg(*args, int)
            : c->longs == 1 ? va_arg(*args, long)
            : c->longs == 2 ? va_arg(*args, long long)
                            : va_arg(*args, ssize_t);
        n = snprintf(text, sizeof text, c->spec, i);
        break;
    case 'p':
        n = snprintf(text, sizeof text, c->spec, va_arg(*args, void *));
        break;
    case 'f':
    case 'g':
    case 'e':
        n = snprintf(text, sizeof text, c->spec, va_arg(*args, double));
        break;
    default:
        n = snprintf(text, sizeof text, c->spec,
                     c->longs == 0   ? (unsigned long long)va_arg(*args, unsigned)
                     : c->longs == 1 ? (unsigned long long)va_arg(*args, unsigned long)
                     : c->longs == 2 ? va_arg(*args, unsigned long long)
                                     : (unsigned long long)va_arg(*args, size_t));
    }
    stet_buf_add(out, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void stet_text_vprint(struct stet_buf *out, const char *fmt, va_list args)
{
    va_list rest;

    va_copy(rest, args);
    while (*fmt) {
        size_t plain = strcspn(fmt, "%");
        struct conversion c;

        stet_buf_add(out, fmt, plain);
        fmt += plain;
        if (!*fmt)
            break;
        if (fmt[1] == '%') {
            stet_buf_char(out, '%');
            fmt += 2;
            continue;
        }
        fmt = parse(&c, fmt + 1, &rest);
        if (c.kind == 's')
            put_text(out, &c, va_arg(rest, const char *));
        else
            put_number(out, &c, &rest);
    }
    va_end(rest);
}

void stet_say(const char *fmt, ...)
{
    struct stet_buf out = STET_TEXT_INIT;
    va_list args;

    va_start(args, fmt);
    stet_text_vprint(&out, fmt, args);
    va_end(args);
    if (!out.failed)
        stet_fs_write_all(STDERR_FILENO, out.ptr, out.len);
    stet_buf_release(&out);
}

void stet_say_err(const struct stet_err *err)
{
    if (err->offset != STET_NO_OFFSET)
        stet_say("stet: %s (at offset %llu)\n", err->text, (unsigned long long)err->offset);
    else
        stet_say("stet: %s\n", err->text[0] ? err->text : stet_rc_name(err->rc));
}

int stet_text_write(int fd, const struct stet_buf *out)
{
    struct stet_buf safe = {.cap = SIZE_MAX};
    int rc;

    stet_text_filter(&safe, stet_buf_as_view(out), stet_text_colour(fd));
    if (safe.failed)
        errno = ENOMEM;
    rc = safe.failed ? -1 : stet_fs_write_all(fd, safe.ptr, safe.len);
    stet_buf_release(&safe);
    return rc;
}

void stet_say_text(const struct stet_buf *out)
{
    if (!out->failed)
        stet_text_write(STDERR_FILENO, out);
}

bool stet_text_colour(int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

size_t stet_text_width(int fd)
{
    struct winsize size;

    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
