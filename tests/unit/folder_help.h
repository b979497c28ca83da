/* The temporary folder of a test: made empty, and removed with everything in it. */
#ifndef STET_TESTS_FOLDER_HELP_H
#define STET_TESTS_FOLDER_HELP_H

#include "test.h"

#include <stdlib.h>

static char folder[64];

static inline void make_folder(const char *name)
{
    snprintf(folder, sizeof folder, "/tmp/stet-%s-XXXXXX", name);
    EXPECT(mkdtemp(folder) != NULL);
}

static inline void remove_folder(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    EXPECT_INT(0, system(command));
}

#endif
