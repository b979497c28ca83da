/* Collects the bundle of this machine and environment at this moment. The caller owns the inventory
 * that it fills. */
#ifndef STET_BUNDLE_GATHER_H
#define STET_BUNDLE_GATHER_H

#include "bundle/plugins.h"
#include "bundle/probe.h"

/* Adds what can be read without running or loading anything of a framework: machine, environment,
 * packages, plugin files. `argv` is the command they are for, or NULL. */
void stet_gather(struct stet_inventory *v, const struct stet_python *p,
                 const struct stet_found_list *plugins, char *const *environment);
/* Adds what a plugin reported when it was probed. */
void stet_gather_probe(struct stet_inventory *v, const struct stet_found *plugin,
                       const struct stet_probe *probe);
/* Names of a plugin's items: "libtpu.so", "libtpu.so api"; same for probes and journals. */
void stet_gather_plugin(struct stet_inventory *v, const char *path, const char *build_id);
void stet_gather_detail(struct stet_inventory *v, enum stet_group g, const char *path,
                        const char *what, struct stet_view value);
/* "name=value" or name and value of a plugin attribute: stablehlo and xla versions under short
 * names. */
void stet_gather_attribute(struct stet_inventory *v, const char *path, struct stet_view name,
                           struct stet_view value);

#endif
