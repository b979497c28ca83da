/* A place in the source, in Stet's JSON. */
#ifndef STET_SESSION_PLACE_JSON_H
#define STET_SESSION_PLACE_JSON_H

#include "base/json.h"

/* Writes "file" and "line"; both are null when the line is 0, because it is unknown. */
void stet_session_place_json(struct stet_json *j, struct stet_view file, uint64_t line);

#endif
