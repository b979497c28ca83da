/* See fit_target.h. */
#include "fit/fit_target.h"

#include "base/buf.h"
#include "base/fs.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { MOST_TEXT = 1 << 16, MOST_NAMES = 170 };
static const char FIELD[] = "device_description_str: \"";

enum likeness { NONE, WORDS, END };

static enum likeness compare(struct stet_view name, const char *asked)
{
    size_t n = strlen(asked);
    enum likeness found = NONE;

    for (size_t i = 0; n && i + n <= name.len; i++) {
        if ((i && isalnum((unsigned char)name.ptr[i - 1])) ||
            strncasecmp(name.ptr + i, asked, n) != 0)
            continue;
        if (i + n == name.len && (i == 0 || name.ptr[i - 1] == ' '))
            return END;
        if (i + n == name.len || !isalnum((unsigned char)name.ptr[i + n]))
            found = WORDS;
    }
    return found;
}

/* The text around `at`, between the bytes that end the texts beside it. */
static struct stet_view text_around(struct stet_view all, size_t at)
{
    size_t from = at, to = at;

    while (from > 0 && at - from < MOST_TEXT && all.ptr[from - 1])
        from--;
    while (to < all.len && to - at < MOST_TEXT && all.ptr[to])
        to++;
    return stet_view_of(all.ptr + from, to - from);
}

static void list(struct stet_buf *names, struct stet_view name)
{
    if (names->len + name.len < MOST_NAMES)
        stet_buf_printf(names, "%s%.*s", names->len ? ", " : "", STET_FMT(name));
}

/* The next description in `rest`, which is cut behind it; its name is empty if there is none. */
static struct stet_view next(struct stet_view all, struct stet_view *rest, struct stet_view *name)
{
    struct stet_view text = {0};

    *name = (struct stet_view){0};
    while (!name->len) {
        size_t at = stet_view_find(*rest, FIELD);
        const char *end;

        if (at == rest->len)
            break;
        *rest = stet_view_of(rest->ptr + at + strlen(FIELD), rest->len - at - strlen(FIELD));
        end = memchr(rest->ptr, '"', rest->len < 128 ? rest->len : 128);
        text = text_around(all, (size_t)(rest->ptr - all.ptr));
        if (end && stet_view_contains(text, "gpu_device_info {") &&
            stet_view_contains(text, "platform_name: \"CUDA\""))
            *name = stet_view_of(rest->ptr, (size_t)(end - rest->ptr));
    }
    return text;
}

enum stet_rc stet_fit_target_find(struct stet_view plugin, const char *asked, struct stet_view *out,
                                  struct stet_err *err)
{
    struct stet_buf known = STET_BUF_INIT, alike = STET_BUF_INIT;
    struct stet_view rest = plugin, name, text;
    size_t words = 0;
    enum stet_rc rc = STET_OK;

    *out = (struct stet_view){0};
    for (bool whole = false; text = next(plugin, &rest, &name), name.len && !whole;) {
        enum likeness like = compare(name, asked);

        list(&known, name);
        if (like == NONE)
            continue;
        list(&alike, name);
        words++;
        whole = like == END;
        *out = text;
        if (whole)
            words = 1;
    }
    if (words > 1)
        rc = stet_fail(err, STET_NOT_FOUND, "--target %.40s may be %.*s", asked, (int)alike.len,
                       alike.ptr);
    else if (!words)
        rc = stet_fail(err, STET_NOT_FOUND,
                       "--target %.40s is neither a file nor a GPU of the plugin%s%.*s", asked,
                       known.len ? ": " : "", (int)known.len, known.len ? known.ptr : "");
    stet_buf_release(&known);
    stet_buf_release(&alike);
    return rc;
}

enum stet_rc stet_fit_target_write(const char *plugin, const char *asked, const char *out,
                                   struct stet_err *err)
{
    struct stet_file f = {0};
    struct stet_view text;
    enum stet_rc rc = stet_file_open(&f, plugin, err);

    if (rc == STET_OK)
        rc = stet_fit_target_find(f.bytes, asked, &text, err);
    if (rc == STET_OK)
        rc = stet_fs_write_unsynced(out, text, err);
    stet_file_close(&f);
    return rc;
}
