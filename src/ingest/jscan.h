/* A JSON scanner over a view. It builds no tree and copies nothing; values that are not needed are
 * skipped at memory speed.
 *
 *     stet_ingest_jscan_init(&j, text);
 *     if (stet_ingest_jscan_object(&j))
 *         while (stet_ingest_jscan_key(&j, &key))
 *             if (stet_view_is(key, "line")) line = stet_ingest_jscan_int(&j);
 *             else stet_ingest_jscan_skip(&j);
 *
 * Every value must be read or skipped before the next key or element. The first fault sticks: later
 * calls return false or zero; check `bad` at the end. Reading a value of another kind is not a
 * fault: it is skipped and zero is returned (null may replace anything in these traces). */
#ifndef STET_INGEST_JSCAN_H
#define STET_INGEST_JSCAN_H

#include "base/buf.h"

enum { STET_JSCAN_DEPTH = 64 };

struct stet_jscan {
    const char *start, *next, *end;
    bool bad;
    bool first; /* just inside an object or array */
};

enum stet_jkind {
    STET_J_NONE, /* nothing there */
    STET_J_NULL,
    STET_J_BOOL,
    STET_J_NUMBER,
    STET_J_STRING,
    STET_J_ARRAY,
    STET_J_OBJECT,
};

void stet_ingest_jscan_init(struct stet_jscan *j, struct stet_view text);
/* The kind of the value that comes next. */
enum stet_jkind stet_ingest_jscan_kind(struct stet_jscan *j);

/* Enters the value; if it is of another kind, skips it and returns false. */
bool stet_ingest_jscan_object(struct stet_jscan *j);
bool stet_ingest_jscan_array(struct stet_jscan *j);
/* Inside an object: the next key (raw, escapes kept), false at its end, which is consumed. */
bool stet_ingest_jscan_key(struct stet_jscan *j, struct stet_view *key);
/* Inside an array: does another element follow? Its end is consumed. */
bool stet_ingest_jscan_element(struct stet_jscan *j);

/* The text between the quotes, escapes kept; empty for null and other kinds. */
struct stet_view stet_ingest_jscan_string(struct stet_jscan *j);
int64_t stet_ingest_jscan_int(struct stet_jscan *j);
double stet_ingest_jscan_number(struct stet_jscan *j);
bool stet_ingest_jscan_bool(struct stet_jscan *j);
/* Takes a comma, for members that are read without their list. */
void stet_ingest_jscan_comma(struct stet_jscan *j);
/* Any value, as its text. */
struct stet_view stet_ingest_jscan_skip(struct stet_jscan *j);
/* Only white space is left, and there was no fault. */
bool stet_ingest_jscan_done(struct stet_jscan *j);

/* Appends raw string text with its escapes removed. Lone surrogates become U+FFFD. */
void stet_ingest_jscan_unescape(struct stet_buf *out, struct stet_view raw);

#endif
