/* The tables of vocabulary.h, made from their lists. */
#include "journal/vocabulary.h"

#include <stddef.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const served_words[] = {
#define SERVED(id, word) [STET_SERVED_##id] = word,
#include "journal/served.def"
#undef SERVED
};

static const char *const lane_words[] = {
#define LANE(id, word) [STET_LANE_##id] = word,
#include "journal/lanes.def"
#undef LANE
    [STET_LANES] = "unknown",
};

enum { SKIP, KEEP };

static const struct outcome {
    const char *word;
    bool keeps;
} outcomes[STET_OUTCOME_OTHER + 1] = {
#define OUTCOME(id, word, write, what) [STET_OUTCOME_##id] = {word, (write) == KEEP},
#include "journal/outcomes.def"
#undef OUTCOME
};

static const char *const answer_words[] = {
#define ANSWER(id, word, what) [STET_ANSWER_##id] = word,
#include "journal/answers.def"
#undef ANSWER
};

static const struct fault {
    const char *word, *text;
} faults[] = {
#define FAULT(id, word, what) [STET_FAULT_##id] = {word, what},
#include "journal/faults.def"
#undef FAULT
};

static const char *const loss_words[] = {
#define LOSS(id, word, what) [STET_LOSS_##id] = word,
#include "journal/losses.def"
#undef LOSS
};

enum stet_served stet_journal_served(uint64_t number)
{
    return number < STET_SERVED_COUNT ? (enum stet_served)number : STET_SERVED_REMOTE;
}

const char *stet_journal_served_word(enum stet_served s)
{
    return served_words[s];
}

enum stet_served stet_journal_served_of(struct stet_view word)
{
    for (size_t i = 0; i < COUNT(served_words); i++) {
        if (stet_view_is(word, served_words[i]))
            return (enum stet_served)i;
    }
    return word.len ? STET_SERVED_REMOTE : STET_SERVED_COMPILED;
}

const char *stet_journal_lane_word(enum stet_lane lane)
{
    return lane_words[lane];
}

enum stet_lane stet_journal_lane_of(struct stet_view word)
{
    size_t i = 0;

    while (i < STET_LANES && !stet_view_is(word, lane_words[i]))
        i++;
    return (enum stet_lane)i;
}

const char *stet_journal_outcome_word(enum stet_outcome o)
{
    return outcomes[o].word;
}

enum stet_outcome stet_journal_outcome_of(struct stet_view word)
{
    if (!word.len)
        return STET_OUTCOME_NONE;
    for (size_t i = STET_OUTCOME_NONE + 1; i < STET_OUTCOME_OTHER; i++) {
        if (stet_view_is(word, outcomes[i].word))
            return (enum stet_outcome)i;
    }
    return STET_OUTCOME_OTHER;
}

bool stet_journal_outcome_keeps(enum stet_outcome o)
{
    return outcomes[o].keeps;
}

const char *stet_journal_answer_word(enum stet_agent_answer a)
{
    return answer_words[a];
}

const char *stet_journal_fault_word(enum stet_fault f)
{
    return faults[f].word;
}

const char *stet_journal_fault_text(enum stet_fault f)
{
    return faults[f].text;
}

enum stet_fault stet_journal_fault_of(struct stet_view word)
{
    size_t i = 0;

    while (i < COUNT(faults) && !stet_view_is(word, faults[i].word))
        i++;
    return (enum stet_fault)i;
}

const char *stet_journal_loss_word(enum stet_loss l)
{
    return loss_words[l];
}
