/* The "optimised program": an HloModuleProtoWithConfig with the right signature and no sense. */
#ifndef FAKE_PLUGIN_FAKE_HLO_H
#define FAKE_PLUGIN_FAKE_HLO_H

#include "fake.h"

/* Writes it to `out`, or nothing when NULL; returns its size. */
size_t fake_hlo_write(const struct fake_program *program, unsigned char *out);

#endif
