/* Facts about `stet help`: pages as text, words that are close to others, manual pages. */
#include "test.h"

#include "help/markdown.h"
#include "help/similar.h"
#include "help/topic.h"

#include <stdio.h>

static void renders(const char *page, const char *expected)
{
    struct stet_buf out = STET_BUF_INIT;

    stet_help_render(&out, stet_view_str(page), 40, false);
    if (!stet_view_is(stet_buf_as_view(&out), expected))
        fprintf(stderr, "have:\n%.*s\nwant:\n%s\n", STET_FMT(stet_buf_as_view(&out)), expected);
    EXPECT(stet_view_is(stet_buf_as_view(&out), expected));
    stet_buf_release(&out);
}

TEST(a_page_has_no_markup)
{
    renders(
        "# stet show\n\n<!-- output -->\nSome **bold** and *soft* words.\n<!-- end\n of it -->\n"
        "\n## Next\nx\n",
        "stet show\n=========\n\nSome bold and soft words.\n\nNext\n----\n\nx\n");
}

TEST(links_name_the_command_that_prints_the_page)
{
    renders("See [the run](run.md#what), [run](run.md) and\n[the code](../src/x.c).\n",
            "See the run (`stet help run`), run and\nthe code.\n");
    renders("[traps](traps/README.md), [site](https://x.y)\n", "traps, site <https://x.y>\n");
}

TEST(paragraphs_and_items_are_wrapped)
{
    renders("one two three four five six seven eight nine ten\n",
            "one two three four five six seven eight\nnine ten\n");
    renders("- one two three four five six seven eight nine\n  ten\n- b\n",
            "- one two three four five six seven\n  eight nine ten\n- b\n");
}

TEST(code_stays_as_it_is)
{
    renders("a\n\n    stet run -- **x**\n\n```python\nif x[`a`]:\n    pass\n```\n",
            "a\n\n    stet run -- **x**\n\n    if x[`a`]:\n        pass\n");
}

TEST(tables_have_columns_and_lose_empty_headings)
{
    renders("| a | b |\n|---|---|\n| one | `x\\|y` |\n", "a    b\none  `x|y`\n");
    renders("| trap | |\n|---|---|\n| x | one two three four five six seven eight nine |\n",
            "x     one two three four five six seven\n      eight nine\n");
}

TEST(damaged_pages_are_rendered_too)
{
    renders("[open](", "[open](\n");
    renders("`open", "`open\n");
    renders("<!-- open", "");
    renders("|", "");
    renders("```\nopen", "    open\n");
    renders("![", "![\n");
}

static const char *closest(const char *word)
{
    static struct stet_help_similar s;
    static const char *const known[] = {"run", "runs", "explain", "report", "torch-fix"};

    s = (struct stet_help_similar){.word = word};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        stet_help_similar_try(&s, known[i]);
    return s.best;
}

TEST(a_mistyped_word_has_a_close_one)
{
    EXPECT(!strcmp(closest("explian"), "explain"));
    EXPECT(!strcmp(closest("rns"), "runs"));
    EXPECT(!strcmp(closest("tourch-fix"), "torch-fix"));
    EXPECT(!strcmp(closest("reports"), "report"));
    EXPECT(!strcmp(closest("nonsense"), ""));
    EXPECT(!strcmp(closest("x"), ""));
}

static struct stet_help_topic topic(void)
{
    static const struct stet_usage usage = {"stet go [options] a|b", "Goes.\n.hidden", "go"};
    static const struct stet_option options[] = {
        {"to", "near|far", "it's where", STET_OPTION_VALUE, NULL},
        {"o", "FILE", "write…", STET_OPTION_VALUE, NULL},
        {"secret", NULL, NULL, STET_OPTION_FLAG, NULL},
        {0}};
    struct stet_help_topic t = {.name = "go", .about = "go there"};

    stet_help_topic_add(&t, NULL, &usage, options);
    return t;
}

TEST(a_manual_page_has_every_listed_option)
{
    struct stet_help_topic t = topic();
    struct stet_buf out = STET_BUF_INIT;
    struct stet_view v;

    stet_help_man(&out, &t);
    v = stet_buf_as_view(&out);
    EXPECT(stet_view_starts(v, ".TH STET-GO 1 "));
    EXPECT(stet_view_contains(v, ".B \\-\\-to=near|far\nit's where\n"));
    EXPECT(stet_view_contains(v, "write\\[u2026]\n"));
    EXPECT(stet_view_contains(v, "\n\\&.hidden\n"));
    EXPECT(stet_view_contains(v, ".B \\-\\-format=text|json\n"));
    EXPECT(!stet_view_contains(v, "secret"));
    stet_buf_release(&out);
}

TEST(completions_know_options_and_their_words)
{
    static const char *const expected[] = {
        "go) words='a b ' options='--to= -o --format= --help ' ;;",
        "'--to=[it'\\''s where]:value:(near far)'", "-l to -r -d 'it\\'s where' -f -a 'near far'"};
    struct stet_help_topic t = topic();

    for (int i = 0; i < STET_SHELLS; i++) {
        struct stet_buf out = STET_BUF_INIT;

        stet_help_completion(&out, (enum stet_help_shell)i, &t, 1, stet_view_str("docs slip"));
        if (!stet_view_contains(stet_buf_as_view(&out), expected[i]))
            fprintf(stderr, "%.*s\n", STET_FMT(stet_buf_as_view(&out)));
        EXPECT(stet_view_contains(stet_buf_as_view(&out), expected[i]));
        EXPECT(stet_view_contains(stet_buf_as_view(&out), "docs slip"));
        stet_buf_release(&out);
    }
    EXPECT_INT(STET_SHELL_FISH, stet_help_shell_find("fish"));
    EXPECT_INT(STET_SHELLS, stet_help_shell_find("csh"));
}
