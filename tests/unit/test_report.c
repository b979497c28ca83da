/* What the report is made of: texts that stay text, numbers that stay in bounds, memory that runs
 * out. */
#include "test.h"

#include "base/mem.h"
#include "report/html_page.h"

#include <stdio.h>

static const struct stet_run run = {.id = "id<",
                                    .folder = "/",
                                    .cwd = "",
                                    .host = "<b>",
                                    .stet_version = "",
                                    .command = "python </title><script>alert(1)</script>",
                                    .exit_code = -1};

static struct stet_recompile row(enum stet_cause cause, uint64_t line)
{
    return (struct stet_recompile){.lane = STET_LANE_XLA,
                                   .cause = cause,
                                   .function = STET_VIEW("f"),
                                   .origin = {STET_VIEW("x.py"), STET_VIEW("f"), line},
                                   .wait_ns = 5,
                                   .rank = -1};
}

static bool has(const struct stet_buf *b, const char *text)
{
    return b->ptr && strstr(b->ptr, text) != NULL;
}

/* A small model; the JSON and the page of it. False when memory ran out on the way. */
static bool make(struct stet_buf *json, struct stet_buf *page)
{
    struct stet_report_run r;
    const struct stet_report_run *runs[] = {&r};
    struct stet_recompile one = row(STET_CAUSE_SHAPE_DRIFT, 3);
    struct stet_report_process *p;
    struct stet_json j;
    bool good = stet_report_init(&r, &run);

    p = good ? stet_report_add_process(&r) : NULL;
    for (uint32_t i = 0; p && i < 40; i++) {
        struct stet_report_event *e = stet_report_add_event(&r);
        uint32_t family =
            stet_report_family(&r, STET_VIEW("</script><!--"), STET_VIEW("ab"), false);
        uint32_t program = stet_report_program(&r, (struct stet_hash){i, 1});

        if (!e || family == STET_INTERN_NONE || program == STET_INTERN_NONE)
            break;
        e->family = family;
        e->program = program;
        e->time_ns = 1000 * (i + 1);
        stet_story_add(&r.stories, &one);
        r.program_family[program] = family;
    }
    good = good && p && r.event_count == 40 && !r.failed_memory && !r.names.failed &&
           stet_story_finish(&r.stories);
    if (good) {
        stet_json_init(&j, json);
        stet_report_json(&j, &r);
        stet_report_page(page, runs, 1, stet_buf_as_view(json));
        good = !json->failed && !page->failed;
    }
    stet_report_release(&r);
    return good;
}

TEST(names_of_the_run_are_text_in_the_page)
{
    struct stet_buf json = STET_BUF_INIT, page = STET_BUF_INIT;

    EXPECT(make(&json, &page));
    EXPECT(has(&json, "</script><!--")); /* as it is in the data... */
    EXPECT(has(&page, "\\u003c/script>\\u003c!--"));
    EXPECT(!has(&page, "</script><!--")); /* ...and never as markup */
    EXPECT(!has(&page, "<script>alert"));
    EXPECT(has(&page, "python &lt;/title&gt;&lt;script&gt;alert(1)"));
    EXPECT(!has(&page, "{{"));
    EXPECT(has(&page, "default-src 'none'"));
    stet_buf_release(&json);
    stet_buf_release(&page);
}

TEST(invalid_utf8_is_replaced)
{
    struct stet_buf out = STET_BUF_INIT;

    stet_html_page_text(&out, STET_VIEW("a\xff\x01\x1b'\"&<>\xc3\xa9\xe2\x82"));
    EXPECT(!strcmp(out.ptr, "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd&#39;&quot;&amp;&lt;&gt;\xc3\xa9"
                            "\xef\xbf\xbd\xef\xbf\xbd"));
    stet_buf_release(&out);
}

TEST(indices_of_a_damaged_journal_stay_in_bounds)
{
    uint32_t index[] = {4000000000u, 0, UINT32_MAX};
    struct stet_report_run r;

    EXPECT(stet_report_init(&r, &run));
    EXPECT(stet_report_add_process(&r) != NULL);
    for (int i = 0; i < 3; i++)
        EXPECT(stet_report_add_event(&r) != NULL);
    EXPECT(stet_report_index(&r, &r.processes[0], 0, index, 3));
    EXPECT(stet_report_event_of(&r, 0, 4000000000u) == NULL);
    EXPECT(stet_report_event_of(&r, 0, 0) == &r.events[1]);
    EXPECT(stet_report_event_of(&r, 1, 0) == NULL);
    EXPECT(stet_report_event_of(&r, 0, UINT64_MAX) == NULL);
    stet_report_release(&r);
}

TEST(samples_of_any_length_keep_their_spread)
{
    static struct stet_report_device d;

    for (uint64_t i = 0; i < 100000; i++)
        stet_report_sample(&d, &(struct stet_report_sample){i, i, i});
    EXPECT(d.count > STET_REPORT_SAMPLES / 2 - 1 && d.count <= STET_REPORT_SAMPLES);
    EXPECT_INT(0, (int)d.samples[0].time_ns);
    for (size_t i = 1; i < d.count; i++)
        EXPECT(d.samples[i].time_ns - d.samples[i - 1].time_ns == d.every);
}

TEST(out_of_memory_is_reported)
{
    bool good = false;

    for (long n = 0; !good && n < 2000; n++) {
        struct stet_buf json = STET_BUF_INIT, page = STET_BUF_INIT;

        stet_mem_fail_after(n, true);
        good = make(&json, &page);
        stet_mem_fail_after(-1, false);
        stet_buf_release(&json);
        stet_buf_release(&page);
    }
    EXPECT(good);
}
