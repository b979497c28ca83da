/* The frame of a SARIF 2.1.0 log, which code-scanning services read: one run of one tool.
 *
 *   stet_json_sarif_begin(&j, out, "stet lint");
 *   …the array "rules"
 *   stet_json_sarif_end_tool(&j);
 *   …further members of the run, and the array "results"
 *   stet_json_sarif_end(&j, out); */
#ifndef STET_BASE_SARIF_H
#define STET_BASE_SARIF_H

#include "base/json.h"

void stet_json_sarif_begin(struct stet_json *j, struct stet_buf *out, const char *tool);
void stet_json_sarif_end_tool(struct stet_json *j);
void stet_json_sarif_end(struct stet_json *j, struct stet_buf *out);

#endif
