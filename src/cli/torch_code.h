/* Code that torch.compile compiles, by number: what a contract counts is a function of a file, in
 * whatever number of frames. */
#ifndef STET_CLI_TORCH_CODE_H
#define STET_CLI_TORCH_CODE_H

#include "report/names.h"

struct stet_code {
    uint32_t process; /* 0 where that does not matter */
    struct stet_view function, file;
};

/* Its number, given when new; STET_NO_NAME when memory is short, and `failed` is set then. */
uint32_t stet_code_add(struct stet_names *n, struct stet_code code);
/* STET_NO_NAME when it is not there, or memory is short, and `failed` is set then. */
uint32_t stet_code_find(struct stet_names *n, struct stet_code code);

#endif
