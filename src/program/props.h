/* The attributes that an operation declares itself (MLIR's "properties"), from props.def. */
#ifndef STET_PROGRAM_PROPS_H
#define STET_PROGRAM_PROPS_H

#include "program/program.h"

enum { STET_PROPS_NAMES = 12 };

struct stet_props {
    struct stet_view op;
    struct {
        struct stet_view name;
        bool optional, later;
        uint8_t segments;      /* how many, or 0 for an attribute */
    } names[STET_PROPS_NAMES]; /* ended by an empty name */
};

/* NULL if the operation is unknown or declares none. */
const struct stet_props *stet_props_find(struct stet_view op);
bool stet_props_has(const struct stet_props *p, struct stet_view name);

#endif
