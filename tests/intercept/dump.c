/* journal_dump FOLDER: every record of every journal in a run folder, one JSON object a line. */
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "journal/execs.h"
#include "journal/read.h"
#include "journal/values_record.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static void hash(struct stet_json *j, const char *name, struct stet_hash h)
{
    char text[STET_HASH_TEXT];

    stet_hash_format(h, text);
    if (!stet_hash_is_zero(h))
        stet_json_cstr(j, name, text);
}

static void hex(struct stet_json *j, const char *name, struct stet_view bytes)
{
    char text[2 * 64 + 1] = "";

    for (size_t i = 0; i < bytes.len && i < 64; i++)
        snprintf(text + 2 * i, 3, "%02x", (unsigned char)bytes.ptr[i]);
    if (bytes.len)
        stet_json_cstr(j, name, text);
}

static void field(struct stet_json *j, const struct stet_field_info *f, const void *value)
{
    const struct stet_view *text = value;
    const struct stet_list *list = value;
    const struct stet_u64s *numbers = value;
    const struct stet_frames *frames = value;

    switch (f->kind) {
    case STET_KIND_U64:
        if (*(const uint64_t *)value)
            stet_json_uint(j, f->name, *(const uint64_t *)value);
        break;
    case STET_KIND_STR:
        if (text->len)
            stet_json_string(j, f->name, *text);
        break;
    case STET_KIND_BYTES:
        break;
    case STET_KIND_HASH:
        hash(j, f->name, *(const struct stet_hash *)value);
        break;
    case STET_KIND_LIST:
        stet_json_array(j, f->name);
        for (size_t i = 0; i < list->count; i++)
            stet_json_string(j, NULL, list->items[i]);
        stet_json_end_array(j);
        break;
    case STET_KIND_U64S:
        stet_json_array(j, f->name);
        for (size_t i = 0; i < numbers->count; i++)
            stet_json_uint(j, NULL, numbers->items[i]);
        stet_json_end_array(j);
        break;
    case STET_KIND_FRAMES:
        stet_json_array(j, f->name);
        for (size_t i = 0; i < frames->count; i++) {
            stet_json_object(j, NULL);
            stet_json_string(j, "file", frames->items[i].file);
            stet_json_uint(j, "line", frames->items[i].line);
            stet_json_string(j, "function", frames->items[i].function);
            stet_json_end_object(j);
        }
        stet_json_end_array(j);
        break;
    }
}

static void execs(struct stet_json *j, const struct stet_rec_execs *r)
{
    struct stet_exec *all = calloc(STET_EXECS_MAX, sizeof *all);

    if (all && stet_journal_execs_decode(r, all, STET_EXECS_MAX, NULL) == STET_OK) {
        stet_json_array(j, "ids");
        for (size_t i = 0; i < r->count; i++)
            stet_json_uint(j, NULL, all[i].executable);
        stet_json_end_array(j);
    }
    free(all);
}

static int dump(const char *path)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_journal_reader r;
    struct stet_journal_event event;

    if (stet_journal_reader_open(&r, path, &err) != STET_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    while (stet_journal_next(&r, &event, &err) == STET_OK) {
        const struct stet_journal_record_info *info = stet_journal_record_info(event.kind);
        struct stet_buf out = STET_BUF_INIT;
        struct stet_json j;

        stet_json_init(&j, &out);
        stet_json_object(&j, NULL);
        stet_json_cstr(&j, "record", info->name);
        stet_json_cstr(&j, "journal", strrchr(path, '/') + 1);
        stet_json_uint(&j, "time_ns", event.time_ns);
        for (size_t i = 0; i < info->field_count; i++)
            field(&j, &info->fields[i], (const char *)event.record + info->fields[i].offset);
        if (event.kind == STET_REC_execs)
            execs(&j, event.record);
        if (event.kind == STET_REC_compile_copy)
            hex(&j, "value", ((const struct stet_rec_compile_copy *)event.record)->value);
        if (event.kind == STET_REC_compile_values) {
            const struct stet_rec_compile_values *v = event.record;

            stet_journal_values_json(&j, "values", v->packed.len ? v->packed : v->values);
        }
        stet_json_end_object(&j);
        for (size_t i = 0; i < out.len; i++)
            putchar(out.ptr[i] == '\n' ? ' ' : out.ptr[i]);
        putchar('\n');
        stet_buf_release(&out);
    }
    if (r.damage.regions || r.damage.tail || r.damage.bad_payloads)
        printf("{\"record\":\"DAMAGE\"}\n");
    stet_journal_reader_close(&r);
    return 0;
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    char path[4400], folder[4000];
    int n, failed = 0;

    if (argc != 2)
        return 2;
    snprintf(folder, sizeof folder, "%s/journal", argv[1]);
    n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0)
        return 0; /* nobody wrote */
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (strstr(path, STET_JOURNAL_SUFFIX))
            failed |= dump(path);
        free(entries[i]);
    }
    free(entries);
    return failed;
}
