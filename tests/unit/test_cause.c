/* Facts about the vocabulary of causes: ids are found again, every cause that a lane names has
 * something to do about it, lists are read as they were written. */
#include "test.h"

#include "cause/cause.h"
#include "lint/lint.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum lane { XLA = 1, TORCH = 2, BOTH = 3 };

static const struct {
    enum stet_cause cause;
    unsigned lanes;
    const char *page;
} rows[] = {
#define CAUSE(identifier, id, lane, question, thing, facet, step, flags, about, page)              \
    {STET_CAUSE_##identifier, lane, page},
#include "cause/causes.def"
};

enum { ROWS = sizeof rows / sizeof *rows };

TEST(an_id_belongs_to_one_cause)
{
    EXPECT_INT(STET_CAUSES - 1, ROWS);
    for (int i = 0; i < ROWS; i++) {
        const char *id = stet_cause_id(rows[i].cause);

        EXPECT_INT(rows[i].cause, stet_cause_find(stet_view_str(id)));
        EXPECT(*id && !strchr(id, ' ') && *stet_cause_about(rows[i].cause));
    }
    EXPECT_INT(STET_CAUSE_NONE, stet_cause_find(STET_VIEW("")));
    EXPECT_INT(STET_CAUSE_NONE, stet_cause_find(STET_VIEW("shape-drif")));
    EXPECT_STR("", stet_cause_id(STET_CAUSE_NONE));
}

TEST(a_cause_has_fixes_for_its_lanes_alone)
{
    for (int i = 0; i < ROWS; i++) {
        bool of_programs = *stet_cause_fix(rows[i].cause, STET_FIX_ANY);
        bool of_torch = *stet_cause_fix(rows[i].cause, STET_FIX_TORCH_COMPILE);

        EXPECT_INT((rows[i].lanes & XLA) != 0, of_programs);
        EXPECT(!of_torch || rows[i].lanes & TORCH);
    }
}

TEST(a_framework_without_a_fix_of_its_own_gets_the_general_one)
{
    EXPECT(strstr(stet_cause_fix(STET_CAUSE_FRESH_JIT, STET_FIX_JAX), "jax.jit"));
    EXPECT_STR(stet_cause_fix(STET_CAUSE_FRESH_JIT, STET_FIX_ANY),
               stet_cause_fix(STET_CAUSE_FRESH_JIT, STET_FIX_TORCH_TPU));
}

TEST(the_page_of_a_cause_exists)
{
    char path[512];

    for (int i = 0; i < ROWS; i++) {
        snprintf(path, sizeof path, STET_SOURCE_DIR "/docs/%.*s", (int)strcspn(rows[i].page, "#"),
                 rows[i].page);
        EXPECT_INT(0, access(path, R_OK));
    }
}

/* What lint alone finds has a page of its own. */
TEST(a_lint_rule_names_a_cause_or_a_trap_with_a_page)
{
    char path[512];

    for (size_t i = 0; i < stet_lint_rule_count(); i++) {
        const char *trap = stet_lint_rule_at(i).trap;

        snprintf(path, sizeof path, STET_SOURCE_DIR "/docs/traps/%s.md", trap);
        EXPECT(stet_cause_find(stet_view_str(trap)) != STET_CAUSE_NONE || access(path, R_OK) == 0);
    }
}

TEST(a_list_is_read_as_it_was_written)
{
    struct stet_cause_list l = {.count = 0}, again;
    char text[STET_CAUSE_LIST_TEXT];

    EXPECT_STR("", stet_cause_list_text(&l, text).ptr);
    stet_cause_list_add(&l, STET_CAUSE_VARLEN);
    stet_cause_list_add(&l, STET_CAUSE_NONE);
    stet_cause_list_add(&l, STET_CAUSE_GRAPH_BREAK);
    stet_cause_list_add(&l, STET_CAUSE_VARLEN);
    EXPECT_STR("varlen graph-break", stet_cause_list_text(&l, text).ptr);
    stet_cause_list_read(&again, stet_view_str(text));
    EXPECT_STR("varlen graph-break", stet_cause_list_text(&again, text).ptr);
    EXPECT(stet_cause_list_has(&again, STET_CAUSE_GRAPH_BREAK));
    stet_cause_list_read(&again, STET_VIEW("  varlen  of-tomorrow "));
    EXPECT(again.count == 2 && again.items[1] == STET_CAUSE_UNKNOWN);
}

TEST(a_full_list_fits_its_text)
{
    struct stet_cause_list l = {.count = 0}, again;
    char text[STET_CAUSE_LIST_TEXT];

    for (int i = STET_CAUSES; i-- > 0;)
        stet_cause_list_add(&l, (enum stet_cause)i);
    EXPECT_INT(STET_CAUSE_LIST, l.count);
    stet_cause_list_read(&again, stet_cause_list_text(&l, text));
    EXPECT_INT(l.count, again.count);
    EXPECT(!memcmp(l.items, again.items, sizeof l.items));
}
