/* The settings of torch.compile that a process has changed. Inductor writes them to the trace
 * before it compiles a graph, as assignments of a Python script that repeats the compile (the
 * artifact fx_graph_runnable). Settings at their defaults are not in it. The complete settings, in
 * the keys of Inductor's cache (cache_key.h), come only after the compile. */
#ifndef STET_INGEST_CONFIG_TEXT_H
#define STET_INGEST_CONFIG_TEXT_H

#include "base/buf.h"

/* Appends a line "inductor_config[name]=value" for each setting of Inductor in the script, with the
 * names of cache_key.h, and "functorch_config[name]=value" for those of AOTAutograd. */
void stet_config_text_plain(struct stet_buf *out, struct stet_view script);

/* A setting that two plain texts do not have alike. Views point into the texts; the pointer of a
 * value is NULL where the setting is at its default. */
struct stet_config_move {
    struct stet_view name, from, to;
};

/* The differences in order; at most `most` are stored. Returns how many there are. */
size_t stet_config_text_compare(struct stet_view a, struct stet_view b,
                                struct stet_config_move *out, size_t most);

#endif
