/* Captured HLO programs, for tests of the readers. */
#ifndef STET_TESTS_HLO_HELP_H
#define STET_TESTS_HLO_HELP_H

#include "test.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "decode/decode.h"
#include "fingerprint/fingerprint.h"
#include "program/hlo.h"
#include "program/ops.h"

#include <stdlib.h>

static const char folder[] = STET_SOURCE_DIR "/tests/data/hlo";

typedef enum stet_rc (*reader)(struct stet_program *, struct stet_view, struct stet_err *);

static inline struct stet_program read_file(const char *name, struct stet_file *file)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_program p = {0};
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    EXPECT_INT(STET_OK, stet_file_open(file, path, &err));
    EXPECT_INT(STET_OK, stet_decode_hlo_proto(&p, file->bytes, &err));
    return p;
}

#endif
