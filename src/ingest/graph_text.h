/* The graph that Dynamo traced, as its trace prints it: the arguments with their types, then the
 * operations with the lines that they come from. Ranks of a job compare their graphs by it. */
#ifndef STET_INGEST_GRAPH_TEXT_H
#define STET_INGEST_GRAPH_TEXT_H

#include "base/buf.h"

#include <stdint.h>

/* Appends the text without what differs between ranks that do the same: the numbers of their
 * devices. */
void stet_graph_text_plain(struct stet_buf *out, struct stet_view text);

/* An argument or an operation. Views point into the text. */
struct stet_graph_item {
    bool argument;
    struct stet_view name;           /* of an argument: "x" for L_x_ */
    struct stet_view text;           /* the type of an argument; an operation's right side */
    struct stet_view file, function; /* of an operation; line 0 when not known */
    uint64_t line;
};

/* The first thing in which two graphs differ. */
struct stet_graph_difference {
    bool numbers;                    /* an operation of one line, with other numbers in it */
    bool reordered;                  /* the same items, in another order */
    struct stet_graph_item a, b;     /* either may be absent: .text.ptr is NULL */
    struct stet_view file, function; /* of b, else of a */
    uint64_t line;
};

/* False if they do not differ in anything that is compared. */
bool stet_graph_text_compare(struct stet_view a, struct stet_view b,
                             struct stet_graph_difference *out);
/* Does it have an operation that waits for other ranks? */
bool stet_graph_text_communicates(struct stet_view text);

#endif
