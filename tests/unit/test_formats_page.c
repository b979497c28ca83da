/* docs/formats.md names every record and field as records.def has them, docs/cache.md every
 * outcome. */
#include "test.h"

#include "base/fs.h"
#include "journal/format.h"
#include "journal/vocabulary.h"

static bool has(struct stet_view page, const char *text)
{
    return memmem(page.ptr, page.len, text, strlen(text)) != NULL;
}

TEST(the_page_about_formats_is_complete)
{
    static const char *const kinds[] = {"U64", "STR", "BYTES", "HASH", "LIST", "U64S", "FRAMES"};
    struct stet_file page;
    unsigned found = 0;

    EXPECT_INT(STET_OK, stet_file_open(&page, STET_SOURCE_DIR "/docs/formats.md", NULL));
    for (unsigned kind = 0; kind < 256; kind++) {
        const struct stet_journal_record_info *info = stet_journal_record_info(kind);
        struct stet_view section;
        const char *at, *next;
        char text[160];

        if (!info)
            continue;
        found++;
        snprintf(text, sizeof text, "### %u `%s` (%s)\n", kind, info->name,
                 info->stream == STET_STREAM_MAIN ? "main" : "detail");
        at = memmem(page.bytes.ptr, page.bytes.len, text, strlen(text));
        if (!at) {
            fprintf(stderr, "missing: %s", text);
            stet_test_failures++;
            continue;
        }
        section = stet_view_of(at + 1, page.bytes.len - (size_t)(at + 1 - page.bytes.ptr));
        next = memmem(section.ptr, section.len, "\n### ", 5);
        section.len = next ? (size_t)(next - section.ptr) : section.len;
        for (size_t i = 0; i < info->field_count; i++) {
            const struct stet_field_info *f = &info->fields[i];

            snprintf(text, sizeof text, "| %u | `%s` | %s | %s |\n", f->key, f->name,
                     kinds[f->kind], f->what);
            if (!has(section, text)) {
                fprintf(stderr, "missing in %s: %s", info->name, text);
                stet_test_failures++;
            }
        }
    }
    EXPECT(found >= 20);
    stet_file_close(&page);
}

TEST(the_page_about_the_store_has_every_outcome)
{
    struct stet_file page;

    EXPECT_INT(STET_OK, stet_file_open(&page, STET_SOURCE_DIR "/docs/cache.md", NULL));
    for (int o = STET_OUTCOME_NONE + 1; o < STET_OUTCOME_OTHER; o++) {
        char text[64];

        snprintf(text, sizeof text, "`%s`", stet_journal_outcome_word((enum stet_outcome)o));
        if (!has(page.bytes, text)) {
            fprintf(stderr, "missing in docs/cache.md: %s\n", text);
            stet_test_failures++;
        }
    }
    stet_file_close(&page);
}
