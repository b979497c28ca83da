/* Words of the journal: each is found again, and those of a newer Stet are not mistaken. */
#include "journal/vocabulary.h"
#include "test.h"

TEST(every_outcome_is_found_by_its_word)
{
    for (int o = STET_OUTCOME_NONE + 1; o < STET_OUTCOME_OTHER; o++) {
        const char *word = stet_journal_outcome_word((enum stet_outcome)o);

        EXPECT(word != NULL);
        EXPECT_INT(o, stet_journal_outcome_of(stet_view_str(word)));
    }
    EXPECT(stet_journal_outcome_word(STET_OUTCOME_NONE) == NULL);
}

TEST(a_word_of_a_newer_stet_is_another_outcome)
{
    EXPECT_INT(STET_OUTCOME_OTHER, stet_journal_outcome_of(STET_VIEW("evicted")));
    EXPECT_INT(STET_OUTCOME_OTHER, stet_journal_outcome_of(STET_VIEW("mis")));
    EXPECT_INT(STET_OUTCOME_NONE, stet_journal_outcome_of(STET_VIEW("")));
    EXPECT_INT(STET_FAULT_OTHER, stet_journal_fault_of(STET_VIEW("melted")));
    EXPECT(!stet_journal_outcome_keeps(STET_OUTCOME_OTHER));
}

TEST(only_an_entry_that_may_be_replaced_is_written_again)
{
    EXPECT(stet_journal_outcome_keeps(STET_OUTCOME_MISS));
    EXPECT(stet_journal_outcome_keeps(STET_OUTCOME_DAMAGED));
    EXPECT(stet_journal_outcome_keeps(STET_OUTCOME_LOAD_FAILED));
    EXPECT(stet_journal_outcome_keeps(STET_OUTCOME_REFUSED));
    EXPECT(!stet_journal_outcome_keeps(STET_OUTCOME_HIT));
    EXPECT(!stet_journal_outcome_keeps(STET_OUTCOME_OTHER_PROGRAM));
    EXPECT(!stet_journal_outcome_keeps(STET_OUTCOME_CONDEMNED));
}

TEST(a_tier_of_a_newer_stet_is_not_a_compile)
{
    for (int s = 0; s < STET_SERVED_COUNT; s++) {
        const char *word = stet_journal_served_word((enum stet_served)s);

        EXPECT_INT(s, stet_journal_served((uint64_t)s));
        EXPECT_INT(s, stet_journal_served_of(stet_view_str(word)));
    }
    EXPECT_INT(STET_SERVED_REMOTE, stet_journal_served(STET_SERVED_COUNT));
    EXPECT_INT(STET_SERVED_REMOTE, stet_journal_served_of(STET_VIEW("orbit")));
    EXPECT_INT(STET_SERVED_COMPILED, stet_journal_served_of(STET_VIEW("")));
}

TEST(faults_and_losses_have_words)
{
    for (int f = 0; f < STET_FAULTS; f++)
        EXPECT_INT(
            f, stet_journal_fault_of(stet_view_str(stet_journal_fault_word((enum stet_fault)f))));
    EXPECT_STR("rotated", stet_journal_loss_word(STET_LOSS_ROTATED));
    EXPECT_STR("agent-silent", stet_journal_answer_word(STET_ANSWER_SILENT));
}

TEST(lanes_have_words)
{
    for (int i = 0; i < STET_LANES; i++)
        EXPECT_INT(i,
                   stet_journal_lane_of(stet_view_str(stet_journal_lane_word((enum stet_lane)i))));
    EXPECT_INT(STET_LANES, stet_journal_lane_of(STET_VIEW("mojo")));
    EXPECT_STR("unknown", stet_journal_lane_word(STET_LANES));
}
