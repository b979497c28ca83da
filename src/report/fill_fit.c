/* The fits of a run (`stet fit`), which are files in its folder. They are read value by value and
 * written again, because a run's folder may come from elsewhere: what is not JSON does not reach
 * the page. */
#include "report/fill.h"

#include "base/fs.h"
#include "ingest/jscan.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIT = 16 << 20, MOST_FITS = 16, MOST_DEPTH = 16, MOST_KEY = 64 };

static bool copy(struct stet_jscan *in, struct stet_json *out, const char *key, unsigned depth);

static bool copy_object(struct stet_jscan *in, struct stet_json *out, const char *key,
                        unsigned depth)
{
    struct stet_view name;
    char text[MOST_KEY];

    stet_ingest_jscan_object(in);
    stet_json_object(out, key);
    while (stet_ingest_jscan_key(in, &name)) {
        if (name.len >= sizeof text || memchr(name.ptr, '\\', name.len))
            return false;
        memcpy(text, name.ptr, name.len);
        text[name.len] = '\0';
        if (!copy(in, out, text, depth + 1))
            return false;
    }
    stet_json_end_object(out);
    return !in->bad;
}

static bool copy_array(struct stet_jscan *in, struct stet_json *out, const char *key,
                       unsigned depth)
{
    stet_ingest_jscan_array(in);
    stet_json_array(out, key);
    while (stet_ingest_jscan_element(in)) {
        if (!copy(in, out, NULL, depth + 1))
            return false;
    }
    stet_json_end_array(out);
    return !in->bad;
}

static void copy_string(struct stet_jscan *in, struct stet_json *out, const char *key)
{
    struct stet_buf text = STET_BUF_INIT;

    stet_ingest_jscan_unescape(&text, stet_ingest_jscan_string(in));
    stet_json_string(out, key, stet_buf_as_view(&text));
    out->out->failed |= text.failed;
    stet_buf_release(&text);
}

static bool copy(struct stet_jscan *in, struct stet_json *out, const char *key, unsigned depth)
{
    if (depth > MOST_DEPTH)
        return false;
    switch (stet_ingest_jscan_kind(in)) {
    case STET_J_OBJECT:
        return copy_object(in, out, key, depth);
    case STET_J_ARRAY:
        return copy_array(in, out, key, depth);
    case STET_J_STRING:
        copy_string(in, out, key);
        return !in->bad;
    case STET_J_NUMBER:
        stet_json_number(out, key, stet_ingest_jscan_number(in));
        return !in->bad;
    case STET_J_BOOL:
        stet_json_bool(out, key, stet_ingest_jscan_bool(in));
        return !in->bad;
    case STET_J_NULL:
        stet_ingest_jscan_skip(in);
        stet_json_null(out, key);
        return !in->bad;
    default:
        return false;
    }
}

/* Adds the fit if the whole file is one. */
static void add(struct stet_report_run *r, const char *path)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_file f = {0};
    struct stet_jscan in;
    struct stet_json j;

    if (!stet_fs_is_plain(path) || stet_file_open_small(&f, path, MOST_FIT, NULL) != STET_OK)
        return;
    stet_ingest_jscan_init(&in, f.bytes);
    stet_json_init(&j, &out);
    if (stet_ingest_jscan_kind(&in) == STET_J_OBJECT && copy(&in, &j, NULL, 0) &&
        stet_ingest_jscan_done(&in)) {
        stet_buf_str(&r->fits, r->fits.len ? "," : "");
        stet_buf_view(&r->fits, stet_buf_as_view(&out));
        r->fits.failed |= out.failed;
    }
    stet_buf_release(&out);
    stet_file_close(&f);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void stet_report_fits(struct stet_report_run *r)
{
    DIR *dir = opendir(r->run->folder);
    char *names[MOST_FITS];
    size_t count = 0;

    for (struct dirent *e; dir && count < MOST_FITS && (e = readdir(dir));) {
        if (!strncmp(e->d_name, "fit-", 4) && stet_view_ends(stet_view_str(e->d_name), ".json"))
            names[count++] = strdup(e->d_name);
    }
    if (dir)
        closedir(dir);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX];

        if (names[i] &&
            snprintf(path, sizeof path, "%s/%s", r->run->folder, names[i]) < (int)sizeof path)
            add(r, path);
        free(names[i]);
    }
}
