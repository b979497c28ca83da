/* See place_json.h. */
#include "session/place_json.h"

void stet_session_place_json(struct stet_json *j, struct stet_view file, uint64_t line)
{
    stet_json_told(j, "file", line ? file : (struct stet_view){0});
    stet_json_known(j, "line", line != 0, line);
}
