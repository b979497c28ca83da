/* Facts about text for people: what is foreign is made visible, what is ours passes. */
#include "test.h"

#include "base/human.h"
#include "base/text.h"

#include <inttypes.h>

static struct stet_buf out = STET_TEXT_INIT;
static const char *volatile none;

static const char *said(void)
{
    static char text[1024];

    snprintf(text, sizeof text, "%s", out.ptr ? out.ptr : "");
    stet_buf_release(&out);
    return text;
}

static const char *foreign(const char *s)
{
    stet_text_foreign(&out, stet_view_str(s));
    return said();
}

#define PRINTED(expected, ...)                                                                     \
    do {                                                                                           \
        stet_buf_printf(&out, __VA_ARGS__);                                                        \
        EXPECT_STR(expected, said());                                                              \
    } while (0)

TEST(control_characters_are_made_visible)
{
    EXPECT_STR("a\\x1b]0;x\\x07b", foreign("a\x1b]0;x\x07"
                                           "b"));
    EXPECT_STR("\\n\\r\t\\x7f\\x08", foreign("\n\r\t\x7f\x08"));
    EXPECT_STR("\\u009b31m \\u202e \\u2066 \\u2028 \\u061c",
               foreign("\xc2\x9b"
                       "31m \xe2\x80\xae \xe2\x81\xa6 \xe2\x80\xa8 \xd8\x9c"));
    EXPECT_STR("\\x9b \\xff \\xc2", foreign("\x9b \xff \xc2"));
    EXPECT_STR("× … 日本 \\é", foreign("× … 日本 \\é"));
    EXPECT_STR("", foreign(""));
}

TEST(no_output_is_a_command_to_a_ci_runner)
{
    EXPECT_STR("\\x3a:error::x", foreign("::error::x"));
    EXPECT_STR("  \\x3a:error::x", foreign("  ::error::x"));
    EXPECT_STR("x[::2]", foreign("x[::2]"));
    EXPECT_STR("a \\x23#[error]x # ## y", foreign("a ##[error]x # ## y"));
    EXPECT_STR("\\x23#vso[task.x]", foreign("##vso[task.x]"));
}

TEST(escaping_twice_changes_nothing)
{
    char once[1024];

    snprintf(once, sizeof once, "%s", foreign("::a\x1b[1m\n##[b]\xe2\x80\xae"));
    EXPECT_STR(once, foreign(once));
}

TEST(printf_escapes_what_it_inserts_and_nothing_else)
{
    PRINTED("x\n\\x1b[31m|\\n|", "x\n%s|%.*s|", "\x1b[31m", 1, "\nabc");
    PRINTED("[  ab] [ab  ] [ab] [a]", "[%4s] [%-4s] [%1s] [%.1s]", "ab", "ab", "ab", "ab");
    PRINTED("[\\x1b  ] [  \\x1b]", "[%-6s] [%*s]", "\x1b", 6, "\x1b");
    PRINTED("-5 7 ff FF 010 1.50 2 c %", "%d %u %x %X %#o %.2f %g %c %%", -5, 7u, 255u, 255u, 8u,
            1.5, 2.0, 'c');
    PRINTED("18446744073709551615 -9223372036854775808 5 6 00007",
            "%" PRIu64 " %" PRId64 " %zu %lld %05d", UINT64_MAX, INT64_MIN, (size_t)5, 6ll, 7);
    PRINTED("  3|3  |+3", "%3ld|%-3i|%+d", 3l, 3, 3);
    PRINTED("(null)", "%s", none);
}

TEST(only_our_own_colours_pass)
{
    PRINTED("\x1b[31mx\x1b[0m", "%s%s%s", stet_pen(STET_PEN_RED, true), "x",
            stet_pen(STET_PEN_PLAIN, true));
    PRINTED("x", "%s%s%s", stet_pen(STET_PEN_RED, false), "x", stet_pen(STET_PEN_PLAIN, false));
    PRINTED("\\x1b[31mx", "%s%s", "\x1b[31m", "x"); /* the same bytes, but not ours */
}

TEST(the_last_filter_passes_lines_and_colours)
{
    stet_text_filter(&out, STET_VIEW("a\tb\n\x1b[1mc\x1b[0m\x1b[2Jd\x1b]0;\xe2\x80\xae # ##[x]"),
                     true);
    EXPECT_STR("a\tb\n\x1b[1mc\x1b[0m\\x1b[2Jd\\x1b]0;\\u202e # ##[x]", said());
    stet_text_filter(&out, STET_VIEW("\x1b[1mc"), false);
    EXPECT_STR("\\x1b[1mc", said());
}

TEST(a_time_has_the_unit_that_its_rounded_number_needs)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {{999499, "999 us"},         {999500, "1 ms"},      {999499999, "999 ms"},
                 {999600000, "1.0 s"},       {1000000000, "1.0 s"}, {119960000000, "120.0 s"},
                 {120000000000, "2 min 0 s"}};

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        stet_text_duration(&out, times[i].ns);
        EXPECT_STR(times[i].text, said());
    }
}

TEST(a_text_buffer_escapes_after_it_was_released)
{
    stet_buf_printf(&out, "%s", "\x1b");
    stet_buf_release(&out);
    PRINTED("\\x1b", "%s", "\x1b");
}
