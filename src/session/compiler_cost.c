/* See compiler_cost.h. The size of a program is what a journal has of it. Measured by
 * bench/compile_cost.py; docs/test.md has the figures. */
#include "session/compiler_cost.h"

enum {
    KIB_US = 20000,          /* of processor time for a KiB of the program */
    MOST_BYTES = 256 * 1024, /* larger programs consist of constants, which compile fast */
};

static bool was_planned(const struct stet_compile_event *c)
{
    return !c->load && c->ended && !c->error_code && !c->served && !c->elsewhere.len;
}

uint64_t stet_session_compiler_ns(const struct stet_run_digest *d)
{
    uint64_t bytes = 0;

    for (size_t p = 0; p < d->process_count; p++)
        for (size_t i = 0; i < d->processes[p].compile_count; i++) {
            const struct stet_compile_event *c = &d->processes[p].compiles[i];

            if (was_planned(c))
                bytes += c->program_size < MOST_BYTES ? c->program_size : MOST_BYTES;
        }
    return bytes * KIB_US / 1024 * 1000;
}
