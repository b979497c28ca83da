/* What moved between two launches. */
#ifndef STET_CLI_RUNDIFF_H
#define STET_CLI_RUNDIFF_H

#include "cli/command.h"

/* Does the name mean a run rather than a program: "latest", an id, a folder with a run.json? */
bool stet_rundiff_is_run(const char *name);
/* `stet diff A B` for two runs; the exit code. */
int stet_rundiff(const char *a, const char *b, enum stet_format format, bool colour, bool all);

#endif
