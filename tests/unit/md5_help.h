/* MD5 of a text, and its digits. */
#ifndef STET_TESTS_MD5_HELP_H
#define STET_TESTS_MD5_HELP_H

#include "base/md5.h"

#include <stdio.h>

static inline void hex(struct stet_md5_digest d, char out[33])
{
    for (int i = 0; i < 16; i++)
        snprintf(out + 2 * i, 3, "%02x", d.bytes[i]);
}

static inline struct stet_md5_digest md5(const char *text, size_t n)
{
    struct stet_md5 m;

    stet_md5_init(&m);
    stet_md5_add(&m, text, n);
    return stet_md5_digest(&m);
}

#endif
