/* Code that torch.compile compiles, by number: what a contract counts is a function of a file, in
 * whatever number of frames. */
#ifndef STET_SESSION_TORCH_CODE_H
#define STET_SESSION_TORCH_CODE_H

#include "base/intern.h"

struct stet_code {
    uint32_t process; /* 0 where that does not matter */
    struct stet_view function, file;
};

/* Its number, given when new; STET_INTERN_NONE when memory is short, and `failed` is set then. */
uint32_t stet_session_code_add(struct stet_intern *n, struct stet_code code);
/* STET_INTERN_NONE when it is not there, or memory is short, and `failed` is set then. */
uint32_t stet_session_code_find(struct stet_intern *n, struct stet_code code);

#endif
