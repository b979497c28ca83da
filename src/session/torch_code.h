/* Numbers the code that torch.compile compiles. A contract counts a function of a file, however
 * many frames it has. The intern table belongs to the caller and keeps the numbers. */
#ifndef STET_SESSION_TORCH_CODE_H
#define STET_SESSION_TORCH_CODE_H

#include "base/intern.h"

struct stet_code {
    uint32_t process; /* 0 if it does not matter */
    struct stet_view function, file;
};

/* Returns the number of the code, a new one if needed. Returns STET_INTERN_NONE and sets `failed`
 * when out of memory. */
uint32_t stet_session_code_add(struct stet_intern *n, struct stet_code code);
/* Returns STET_INTERN_NONE when the code has no number; when out of memory, also sets `failed`. */
uint32_t stet_session_code_find(struct stet_intern *n, struct stet_code code);

#endif
