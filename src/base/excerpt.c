/* Reads one line of a file; keeps a copy of the file last used, since changes cluster. */
#include "base/excerpt.h"

#include "base/fs.h"
#include "base/mask.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>

enum { LARGEST_FILE = 16 << 20, LONGEST_LINE = 160 };

static bool read_line(struct stet_buf *out, struct stet_view file, uint32_t line)
{
    static struct stet_file kept;
    static char kept_path[4096];
    const char *at, *end, *stop;

    if (!file.len || file.len >= sizeof kept_path || !line)
        return false;
    if (strlen(kept_path) != file.len || memcmp(kept_path, file.ptr, file.len) != 0) {
        stet_file_close(&kept);
        snprintf(kept_path, sizeof kept_path, "%.*s", STET_FMT(file));
        kept = (struct stet_file){0};
        if (stet_file_open_small(&kept, kept_path, LARGEST_FILE, NULL) != STET_OK)
            return false;
    }
    at = kept.bytes.ptr;
    end = at + kept.bytes.len;
    while (at && at < end && --line) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : end;
    }
    if (!at || at >= end)
        return false;
    stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    while (stop > at && (stop[-1] == '\r' || stop[-1] == ' '))
        stop--;
    stet_buf_add(out, at, stop - at > LONGEST_LINE ? LONGEST_LINE : (size_t)(stop - at));
    return true;
}

/* Which files lines are quoted from. A run that another user made can name any file, and a report
 * made of it must not carry a line of a private key away. */
static bool is_source(struct stet_view file)
{
    static const char *const endings[] = {".py", ".pyw", ".pyx", ".ipynb", ".jl",  ".rs",  ".go",
                                          ".c",  ".cc",  ".cpp", ".cu",    ".hpp", ".h",   ".mlir",
                                          ".js", ".ts",  ".lua", ".swift", ".ml",  ".java"};

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (stet_view_ends(file, endings[i]))
            return true;
    return false;
}

bool stet_text_source(struct stet_buf *out, struct stet_view file, uint32_t line)
{
    struct stet_buf source = STET_BUF_INIT, masked = STET_BUF_INIT;
    bool found = is_source(file) && read_line(&source, file, line);

    stet_mask_source(&masked, stet_buf_as_view(&source));
    stet_text_foreign(out, stet_buf_as_view(&masked));
    stet_buf_release(&source);
    stet_buf_release(&masked);
    return found;
}
