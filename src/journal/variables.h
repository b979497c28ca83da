/* The environment variables that affect what a compiler produces (variables.def). The journal
 * records them, and they are part of a key. */
#ifndef STET_JOURNAL_VARIABLES_H
#define STET_JOURNAL_VARIABLES_H

#include "base/view.h"

enum stet_variable_form { STET_FORM_FLAGS, STET_FORM_FILE, STET_FORM_VALUE };
enum stet_variable_reach { STET_REACH_COMPILER, STET_REACH_FRAMEWORK };

enum {
    STET_VARIABLES = 0
#define VARIABLE(name, form, reach) +1
#include "journal/variables.def"
#undef VARIABLE
};

struct stet_variable {
    const char *name;
    enum stet_variable_form form;
    enum stet_variable_reach reach;
};

extern const struct stet_variable stet_variables[STET_VARIABLES];

/* The variable of this name, or NULL. */
const struct stet_variable *stet_journal_variable_find(struct stet_view name);

#endif
