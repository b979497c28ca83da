/* Shared by the files of this module alone. */
#ifndef STET_FIT_FIT_INTERNAL_H
#define STET_FIT_FIT_INTERNAL_H

#include "fit/fit.h"

/* Reads what the children left about each program, and fills the verdicts. */
enum stet_rc stet_fit_collect(struct stet_fit *fit, struct stet_err *err);
/* The memory in use beside each program, from the backend's account. */
void stet_fit_account_read(struct stet_fit *fit, const char *folder);
/* Temporaries by line, the largest first. */
enum stet_rc stet_fit_lines_make(struct stet_fit *fit, struct stet_fit_program *p,
                                 struct stet_err *err);
/* For qsort over costs. */
int stet_fit_costlier_first(const void *a, const void *b);
/* With `lines`: compiles the program that took longest again, with parts of it left out. */
enum stet_rc stet_fit_leave_out(struct stet_fit *fit, struct stet_err *err);
/* Compares with the last fit of the same script for the same topology, and keeps this one for the
 * next. Failures only mean that there is nothing to compare with. */
void stet_fit_history(struct stet_fit *fit, const struct stet_run *run,
                      const struct stet_runs *runs);
/* The file of a fit in a run's folder: fit-v6e_2x4.json. */
void stet_fit_history_path(char *out, size_t room, const char *folder, const char *topology);

#endif
