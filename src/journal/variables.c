/* See variables.h. */
#include "journal/variables.h"

const struct stet_variable stet_variables[STET_VARIABLES] = {
#define VARIABLE(name, form, reach) {name, STET_FORM_##form, STET_REACH_##reach},
#include "journal/variables.def"
#undef VARIABLE
};

const struct stet_variable *stet_journal_variable_find(struct stet_view name)
{
    for (size_t i = 0; i < STET_VARIABLES; i++) {
        if (stet_view_is(name, stet_variables[i].name))
            return &stet_variables[i];
    }
    return NULL;
}
