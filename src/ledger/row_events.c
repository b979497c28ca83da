/* The words for what a row of the table of recompiles records. */
#include "ledger/recompile.h"

static const char *const words[] = {
#define ROW_EVENT(id, word, what) word,
#include "ledger/row_events.def"
#undef ROW_EVENT
};

const char *stet_ledger_event_word(enum stet_row_event e)
{
    return words[e];
}

enum stet_row_event stet_ledger_event_of(struct stet_view word)
{
    for (int i = 0; i < STET_ROW_EVENTS; i++)
        if (stet_view_is(word, words[i]))
            return (enum stet_row_event)i;
    return STET_EVENT_AGAIN;
}
