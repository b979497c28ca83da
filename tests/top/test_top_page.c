/* Pages of every size, of a run whose names are hostile. */
#include "test.h"

#include "screen/top_page.h"

#include <stdlib.h>
#include <wchar.h>

static struct stet_monitor_attach attach;

static struct stet_top hostile(void)
{
    struct stet_top t;
    struct stet_pulse *p = stet_pulse_new("20260101-000000-abcdef", 1000000000);

    attach = (struct stet_monitor_attach){.running = true, .pulse = p};
    snprintf(attach.id, sizeof attach.id, "20260101-000000-abcdef");
    attach.run = (struct stet_run){.command = "python \033]0;owned\007 tr\xffin.py \xe2\x80\xae",
                                   .cwd = "/home/me",
                                   .started_ns = 1000000000,
                                   .exit_code = -1};
    for (int i = 0; i < 40; i++) {
        struct stet_pulse_process *q = &p->processes[i];

        q->used = true;
        q->rank = i - 1;
        q->pid = 100 + (uint64_t)i;
        q->begun = 2;
        q->compiles = 1;
        stet_ledger_steps_live_init(&q->steps, p->batch);
        p->devices[i] = (struct stet_pulse_device){(size_t)i, 1, (uint64_t)i, UINT64_MAX, 0, 1};
    }
    p->process_count = p->device_count = 40;
    p->family_count = STET_PULSE_FAMILIES;
    for (int i = 0; i < STET_PULSE_FAMILIES; i++)
        snprintf(p->families[i].name, sizeof p->families[i].name,
                 "\xe5\xae\xb6\xe6\x97\x8f\r\x01%d", i);
    p->cause_count = STET_PULSE_CAUSES;
    for (int i = 0; i < STET_PULSE_CAUSES; i++) {
        p->causes[i].cause = STET_CAUSE_SHAPE_DRIFT;
        snprintf(p->causes[i].function, sizeof p->causes[i].function, "step\x7f\xc3");
        snprintf(p->causes[i].file, sizeof p->causes[i].file, "/home/me/a b\t.py");
        snprintf(p->causes[i].fix, sizeof p->causes[i].fix, "fix\033[31m");
        p->causes[i].line = 7;
    }
    p->torch_count = 3;
    p->torch[0].rank = p->torch[1].rank = p->torch[2].rank = -1;
    p->torch[0].limits = p->torch[0].breaks = 3;
    p->damage.bytes = 5;
    stet_monitor_top_init(&t, &attach);
    t.now_ns = UINT64_C(100000000000);
    return t;
}

static int columns(const char *row, size_t n)
{
    int sum = 0;

    for (size_t i = 0; i < n;) {
        mbstate_t state = {0};
        wchar_t wide = 0;
        size_t used = mbrtowc(&wide, row + i, n - i, &state);

        if (used == 0 || used > n - i) /* not UTF-8: nothing that may be there */
            return 100000;
        sum += wcwidth(wide) < 0 ? 100000 : wcwidth(wide);
        i += used;
    }
    return sum;
}

/* No row too long, no row too many, no control but the ends of rows. */
static bool fits(const struct stet_top *t, int width, int height)
{
    struct stet_page page = {0};
    struct stet_buf plain = STET_BUF_INIT;
    int rows = 0;
    bool fine;

    stet_page_begin(&page, width, height);
    stet_screen_page(t, &page);
    stet_page_plain(&plain, &page, false);
    fine = !plain.failed && plain.len > 0;
    for (const char *at = plain.ptr, *end; fine && at < plain.ptr + plain.len;
         at = end + 1, rows++) {
        end = memchr(at, '\n', (size_t)(plain.ptr + plain.len - at));
        fine = end && columns(at, (size_t)(end - at)) <= width;
    }
    fine = fine && rows <= height;
    stet_page_release(&page);
    stet_buf_release(&plain);
    return fine;
}

TEST(every_size_is_kept)
{
    struct stet_top t = hostile();

    stet_page_locale();
    for (int width = 1; width < 200; width += width < 30 ? 1 : 13)
        for (int height = 1; height < 120; height += height < 30 ? 1 : 17)
            EXPECT(fits(&t, width, height));
    t.help = true;
    EXPECT(fits(&t, 20, 5));
    stet_pulse_free(attach.pulse);
}

TEST(every_order_and_every_rank_can_be_looked_at)
{
    struct stet_top t = hostile();
    int ranks = 0;

    stet_page_locale();
    for (int sort = 0; sort < STET_SORTS; sort++) {
        t.sort = (enum stet_top_sort)sort;
        EXPECT(fits(&t, 80, 24));
        EXPECT(stet_monitor_top_sort_name(t.sort));
    }
    do {
        stet_monitor_top_next_rank(&t, 1);
        EXPECT(fits(&t, 80, 24));
    } while (++ranks < 100 && t.rank != STET_ALL_RANKS);
    EXPECT_INT(41, ranks); /* -1 … 38, and all of them again */
    stet_monitor_top_next_rank(&t, -1);
    EXPECT_INT(38, t.rank);
    stet_pulse_free(attach.pulse);
}

TEST(a_field_is_cut_by_columns)
{
    struct stet_page page = {0};
    struct stet_buf plain = STET_BUF_INIT;

    stet_page_locale();
    stet_page_begin(&page, 12, 2);
    stet_page_field(&page, STET_STYLE_PLAIN, STET_VIEW("\xe5\xae\xb6\xe6\x97\x8f\xe5\xae\xb6"), 5);
    stet_page_right(&page, STET_STYLE_WARN, "7", 3);
    stet_page_put(&page, STET_STYLE_PLAIN, STET_VIEW("|and more"));
    stet_page_line(&page);
    stet_page_plain(&plain, &page, false);
    EXPECT_STR("\xe5\xae\xb6\xe6\x97\x8f\xe2\x80\xa6  7|an…\n", plain.ptr);
    stet_page_release(&page);
    stet_buf_release(&plain);
}

static struct stet_buf page_of(struct stet_top *t, int width, int height)
{
    struct stet_page page = {0};
    struct stet_buf plain = STET_BUF_INIT;

    stet_page_begin(&page, width, height);
    stet_screen_page(t, &page);
    stet_page_plain(&plain, &page, false);
    stet_page_release(&page);
    return plain;
}

TEST(a_selected_rank_has_its_own_causes_and_numbers)
{
    struct stet_top t = hostile();
    struct stet_pulse *p = attach.pulse;
    struct stet_pulse_share of_ranks[] = {
        {0, 0, 1, 3000000000, 0}, {0, 64, 6, 4000000000, 0}, {1, 64, 2, 9000000000, 0}};
    struct stet_buf all, one;

    stet_page_locale();
    p->cause_count = 2;
    p->causes[0].times = 7;
    p->causes[0].wait_ns = UINT64_C(7000000000);
    p->causes[1].cause = STET_CAUSE_STATIC_ARGUMENT;
    p->causes[1].times = 2;
    p->causes[1].wait_ns = UINT64_C(9000000000);
    p->shares = stet_mem_calloc(3, sizeof *p->shares);
    EXPECT(p->shares);
    memcpy(p->shares, of_ranks, sizeof of_ranks);
    p->share_count = 3;
    t.sort = STET_SORT_LOST;
    all = page_of(&t, 120, 40);
    EXPECT(strstr(all.ptr, "7× shape-drift") && strstr(all.ptr, "waited 7.0 s"));
    t.rank = 0; /* 64 later ranks have other causes */
    one = page_of(&t, 120, 40);
    EXPECT(strstr(one.ptr, "1× shape-drift") && strstr(one.ptr, "waited 3.0 s"));
    EXPECT(!strstr(one.ptr, "static-argument"));
    stet_buf_release(&one);
    t.rank = 64;
    one = page_of(&t, 120, 40);
    EXPECT(strstr(one.ptr, "6× shape-drift") > strstr(one.ptr, "2× static-argument"));
    stet_buf_release(&one);
    t.rank = 3;
    one = page_of(&t, 120, 40);
    EXPECT(strstr(one.ptr, "nothing was compiled again"));
    stet_buf_release(&one);
    stet_buf_release(&all);
    stet_pulse_free(p);
}

/* Ranks 0 to 11, of which rank 11 is in host code and the others wait. */
TEST(a_job_that_stalls_shows_what_holds_it_up_and_each_rank)
{
    static struct stet_rank_state states[12];
    struct stet_page page = {0};
    struct stet_buf plain = STET_BUF_INIT;
    struct stet_top t = hostile();

    for (int i = 0; i < 12; i++) {
        states[i] = (struct stet_rank_state){.kind = i == 11 ? STET_RANK_HOST : STET_RANK_DEVICE,
                                             .rank = i,
                                             .pid = 100,
                                             .program = STET_VIEW("train_step"),
                                             .runs = 4,
                                             .age_ns = UINT64_C(60000000000),
                                             .now = i != 3,
                                             .line = 20};
        snprintf(states[i].file, sizeof states[i].file, "/home/me/t\x1b[31mrain.py");
        snprintf(states[i].function, sizeof states[i].function, "loop");
    }
    t.still = (struct stet_rank_states){.items = states, .count = 12};
    t.still_ns = UINT64_C(60000000000);
    stet_page_locale();
    for (int width = 1; width < 200; width += 7)
        EXPECT(fits(&t, width, 40));
    for (int one = 0; one < 2; one++) {
        t.rank = one ? 11 : STET_ALL_RANKS;
        plain.len = 0;
        stet_page_begin(&page, 160, 60);
        stet_screen_page(&t, &page);
        stet_page_plain(&plain, &page, false);
        EXPECT(strstr(plain.ptr, "stalled    for 60.0 s: rank 11 is in host code at "));
        EXPECT(strstr(plain.ptr, "11 ranks wait for it in train_step"));
        EXPECT((strstr(plain.ptr, "    3  device    last compile t?[31mrain.py:20 in loop  "
                                  "train_step 4") != NULL) == !one);
        EXPECT((strstr(plain.ptr, "   11  host code t?[31mrain.py:20 in loop") != NULL) == one);
        stet_page_release(&page);
    }
    stet_buf_release(&plain);
    stet_pulse_free(attach.pulse);
}

TEST(the_causes_come_before_the_families_and_a_name_has_one_row)
{
    struct stet_top t = hostile();
    struct stet_pulse *p = attach.pulse;
    struct stet_buf out;
    struct stet_view v;

    p->process_count = p->device_count = p->torch_count = 1;
    p->family_count = 3;
    for (int i = 0; i < 3; i++) {
        snprintf(p->families[i].name, sizeof p->families[i].name, "%s", i ? "step" : "unstack");
        p->families[i].programs = 1;
        p->families[i].wait_ns = i ? 5000 : 1;
    }
    p->cause_count = 1;
    out = page_of(&t, 80, 24);
    v = stet_buf_as_view(&out);
    EXPECT(stet_view_find(v, "why it compiled again") < stet_view_find(v, " family "));
    EXPECT(stet_view_find(v, "(more: stet explain)") < stet_view_find(v, " family "));
    EXPECT(stet_view_find(v, "\n step ") < stet_view_find(v, "\n unstack "));
    v = stet_view_of(v.ptr + stet_view_find(v, "\n step ") + 1, 0);
    v.len = out.len - (size_t)(v.ptr - out.ptr);
    EXPECT(!stet_view_contains(v, "\n step "));
    stet_buf_release(&out);
    stet_pulse_free(p);
}

TEST(a_row_that_is_cut_ends_in_an_ellipsis)
{
    struct stet_page page = {0};
    struct stet_buf plain = STET_BUF_INIT;

    stet_page_begin(&page, 6, 4);
    stet_page_printf(&page, STET_STYLE_PLAIN, "abcdef");
    stet_page_line(&page);
    stet_page_printf(&page, STET_STYLE_PLAIN, "abcdef");
    stet_page_printf(&page, STET_STYLE_STRONG, "g");
    stet_page_line(&page);
    stet_page_printf(&page, STET_STYLE_PLAIN, "ab\xe5\xae\xb6\xe6\x97\x8f\xe6\x97\x8f");
    stet_page_line(&page);
    stet_page_printf(&page, STET_STYLE_PLAIN, "abcdef   ");
    stet_page_line(&page);
    stet_page_plain(&plain, &page, false);
    EXPECT(stet_view_is(stet_buf_as_view(&plain), "abcdef\nabcde…\nab\xe5\xae\xb6…\nabcdef\n"));
    stet_buf_release(&plain);
    stet_page_release(&page);
}
