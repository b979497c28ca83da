/* The words of the journal that code decides by. Each list is a .def file and an enum. The writer
 * turns a value into its word, and the reader turns a word back once, so no other code compares
 * texts. A word that this build does not know becomes ..._OTHER: a newer Stet may have written it,
 * and code that prints it uses the record's own text. */
#ifndef STET_JOURNAL_VOCABULARY_H
#define STET_JOURNAL_VOCABULARY_H

#include "base/view.h"

/* Where the executable of a compile came from. */
enum stet_served {
#define SERVED(id, word) STET_SERVED_##id,
#include "journal/served.def"
#undef SERVED
    STET_SERVED_COUNT
};

/* A number of the journal. One that this build does not know is a tier of a newer Stet: REMOTE. */
enum stet_served stet_journal_served(uint64_t number);
const char *stet_journal_served_word(enum stet_served s);
/* COMPILED for an empty word, REMOTE for an unknown one. */
enum stet_served stet_journal_served_of(struct stet_view word);

/* Which compiler a compile belongs to. */
enum stet_lane {
#define LANE(id, word) STET_LANE_##id,
#include "journal/lanes.def"
#undef LANE
    STET_LANES /* one that a newer Stet wrote */
};

/* "unknown" for STET_LANES. */
const char *stet_journal_lane_word(enum stet_lane lane);
enum stet_lane stet_journal_lane_of(struct stet_view word);

/* How the store's lookup for a compile ended. */
enum stet_outcome {
    STET_OUTCOME_NONE, /* the store is off, or the lookup has not ended */
#define OUTCOME(id, word, write, what) STET_OUTCOME_##id,
#include "journal/outcomes.def"
#undef OUTCOME
    STET_OUTCOME_OTHER
};

/* NULL for NONE and OTHER. */
const char *stet_journal_outcome_word(enum stet_outcome o);
enum stet_outcome stet_journal_outcome_of(struct stet_view word);
/* After this outcome the compiled executable is written to the store. */
bool stet_journal_outcome_keeps(enum stet_outcome o);

/* What the agent answered. */
enum stet_agent_answer {
    STET_ANSWER_NONE, /* the agent was not asked */
#define ANSWER(id, word, what) STET_ANSWER_##id,
#include "journal/answers.def"
#undef ANSWER
};

/* NULL for NONE. */
const char *stet_journal_answer_word(enum stet_agent_answer a);

/* Failures of the layer. The call was forwarded as if the layer were absent. */
enum stet_fault {
#define FAULT(id, word, what) STET_FAULT_##id,
#include "journal/faults.def"
#undef FAULT
    STET_FAULTS
};

/* A word of a newer version. */
#define STET_FAULT_OTHER STET_FAULTS

const char *stet_journal_fault_word(enum stet_fault f);
/* One sentence for people. */
const char *stet_journal_fault_text(enum stet_fault f);
enum stet_fault stet_journal_fault_of(struct stet_view word);

/* Why records are missing. */
enum stet_loss {
    STET_LOSS_NONE,
#define LOSS(id, word, what) STET_LOSS_##id,
#include "journal/losses.def"
#undef LOSS
};

/* NULL for NONE. */
const char *stet_journal_loss_word(enum stet_loss l);

#endif
