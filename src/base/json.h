/* A streaming JSON writer into a buffer. It places commas and escapes texts. The caller owns the
 * buffer. */
#ifndef STET_BASE_JSON_H
#define STET_BASE_JSON_H

#include "base/buf.h"

/* Bytes that are not UTF-8 are written as U+FFFD, so the output is always valid JSON. */
struct stet_json {
    struct stet_buf *out;
    bool comma; /* a value precedes the next one */
};

void stet_json_init(struct stet_json *j, struct stet_buf *out);
/* `key` is NULL inside arrays and at the top. */
void stet_json_object(struct stet_json *j, const char *key);
void stet_json_array(struct stet_json *j, const char *key);
void stet_json_end_object(struct stet_json *j);
void stet_json_end_array(struct stet_json *j);
void stet_json_string(struct stet_json *j, const char *key, struct stet_view v);
void stet_json_cstr(struct stet_json *j, const char *key, const char *v); /* NULL gives null */
void stet_json_int(struct stet_json *j, const char *key, int64_t v);
void stet_json_uint(struct stet_json *j, const char *key, uint64_t v);
void stet_json_number(struct stet_json *j, const char *key, double v); /* NaN, inf give null */
void stet_json_bool(struct stet_json *j, const char *key, bool v);
/* A number, or null when it is unknown. */
void stet_json_known(struct stet_json *j, const char *key, bool known, uint64_t v);
/* A text, or null if it has no pointer because it is unknown. */
void stet_json_told(struct stet_json *j, const char *key, struct stet_view v);
void stet_json_null(struct stet_json *j, const char *key);
/* A complete value that is already JSON. */
void stet_json_raw(struct stet_json *j, const char *key, struct stet_view json);

#endif
