/* The tools that a GPU's compiler runs and the libraries it links, by their content. They are part
 * of the store's key. */
#ifndef STET_INTERCEPT_TOOLKIT_H
#define STET_INTERCEPT_TOOLKIT_H

#include "intercept/named_files.h"

/* What a platform's compiler needs in addition to its plugin, and whether its output runs on the
 * host (platforms.def). */
enum stet_tools { STET_TOOLS_NONE, STET_TOOLS_CUDA, STET_TOOLS_ROCM };
enum stet_host_code { STET_CODE_HOST, STET_CODE_DEVICE, STET_CODE_NONE };
enum stet_topology_is { STET_TOPOLOGY_SERIALIZED, STET_TOPOLOGY_DESCRIBED };
enum stet_compiles { STET_COMPILES_TOGETHER, STET_COMPILES_ALONE };

struct stet_platform {
    const char *name;
    enum stet_tools tools;
    enum stet_host_code code;
    enum stet_topology_is topology;
    enum stet_compiles compiles;
};

/* By the platform name that the plugin gives; never NULL. */
const struct stet_platform *stet_platform_find(struct stet_view name);

/* Appends "none" or what was found, folder by folder. `plugin` is the plugin's file; `driver`: the
 * driver's version has to be looked up, because the topology does not have it. Returns
 * STET_OUTCOME_NONE, or the reason why there can be no key. */
enum stet_outcome stet_toolkit_text(struct stet_buf *out, enum stet_tools tools, const char *plugin,
                                    bool driver, struct stet_file_watch *w);
/* The same of a CUDA toolkit in one folder. */
enum stet_outcome stet_toolkit_cuda_at(struct stet_buf *out, const char *root,
                                       struct stet_file_watch *w);

#endif
