/* Any text may stand in a log. */
#include "fuzz.h"

#include "ingest/framework_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stet_framework_log l;

    stet_framework_log_init(&l);
    if (stet_framework_log_read(&l, stet_view_of((const char *)data, size), NULL) == STET_OK)
        for (size_t i = 0; i < l.miss_count; i++)
            CHECK(l.misses[i].file.len <= size && l.misses[i].caller.len <= size);
    stet_framework_log_release(&l);
    return 0;
}
