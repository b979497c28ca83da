/* The parts of run_sizes.h: functions and programs are added one by one, from programs
 * (run_sizes.c) or from guards (torch_sizes.c); what varied is found when all are known
 * (sizes_judge.c). */
#ifndef STET_SESSION_RUN_SIZES_INTERNAL_H
#define STET_SESSION_RUN_SIZES_INTERNAL_H

#include "session/run_sizes.h"

/* The function with number `key` of `s->keys`. A new one has the name, and room for this many
 * columns but none of them. NULL when out of memory, also if the key is STET_INTERN_NONE. */
struct stet_size_function *stet_session_sizes_function(struct stet_run_sizes *s, uint32_t key,
                                                       struct stet_view name, uint32_t columns);
/* The program of a function with these sizes, one for each column. NULL when out of memory. */
struct stet_size_program *stet_session_sizes_program(struct stet_run_sizes *s,
                                                     struct stet_size_function *f,
                                                     const int64_t *sizes);
/* False when out of memory. */
bool stet_session_sizes_judge(struct stet_run_sizes *s, struct stet_size_function *f);

#endif
