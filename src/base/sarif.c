/* See sarif.h. */
#include "base/sarif.h"

#include "stet_version.h"

void stet_json_sarif_begin(struct stet_json *j, struct stet_buf *out, const char *tool)
{
    stet_json_init(j, out);
    stet_json_object(j, NULL);
    stet_json_cstr(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    stet_json_cstr(j, "version", "2.1.0");
    stet_json_array(j, "runs");
    stet_json_object(j, NULL);
    stet_json_object(j, "tool");
    stet_json_object(j, "driver");
    stet_json_cstr(j, "name", tool);
    stet_json_cstr(j, "version", STET_VERSION);
}

void stet_json_sarif_end_tool(struct stet_json *j)
{
    stet_json_end_object(j);
    stet_json_end_object(j);
}

void stet_json_sarif_end(struct stet_json *j, struct stet_buf *out)
{
    stet_json_end_object(j);
    stet_json_end_array(j);
    stet_json_end_object(j);
    stet_buf_char(out, '\n');
}
