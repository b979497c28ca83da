/* Where the executables of a run came from that were not compiled. */
#ifndef STET_CLI_SERVED_H
#define STET_CLI_SERVED_H

#include "base/json.h"
#include "ledger/run_load.h"

/* ", 3 from memory, 10 from redis"; nothing when all was compiled. */
void stet_served_text(struct stet_buf *out, const struct stet_run_digest *d);
/* "compiled": 4, "memory": 3, "redis": 10 into an open object. */
void stet_served_json(struct stet_json *j, const struct stet_run_digest *d);
/* compiled, memory, disk, remote, lifted. */
const char *stet_served_name(const struct stet_compile_event *c);

#endif
