/* What is installed below Python: machine, kernel, drivers, tools, devices on the bus, environment.
 * Adds items to the caller's inventory. */
#ifndef STET_BUNDLE_SYSTEM_H
#define STET_BUNDLE_SYSTEM_H

#include "bundle/inventory.h"

/* Groups env and flag. Variables that differ in every run (`STET_DIR`, ports, process ids) are left
 * out. */
void stet_system_environment(struct stet_inventory *v, char *const *environment);
/* Groups system, driver, toolkit, topology. */
void stet_system_machine(struct stet_inventory *v, char *const *environment);

/* Accelerators that the PCI bus shows. */
struct stet_bus {
    unsigned tpus, nvidia, amd;
};
struct stet_bus stet_system_bus(void);

#endif
