/* Views: a pointer and a length. A view never owns its bytes, and it need not be terminated. */
#ifndef STET_BASE_VIEW_H
#define STET_BASE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Text or raw bytes. A zeroed view is empty. */
struct stet_view {
    const char *ptr;
    size_t len;
};

#define STET_VIEW(literal) ((struct stet_view){"" literal, sizeof(literal) - 1})
/* For printf's "%.*s". */
#define STET_FMT(v) (int)((v).len > 0x7fffffff ? 0x7fffffff : (v).len), (v).len ? (v).ptr : ""

static inline struct stet_view stet_view_of(const void *ptr, size_t len)
{
    return (struct stet_view){ptr, len};
}

static inline struct stet_view stet_view_str(const char *s)
{
    return (struct stet_view){s, s ? strlen(s) : 0};
}

static inline bool stet_view_eq(struct stet_view a, struct stet_view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool stet_view_is(struct stet_view a, const char *literal)
{
    return stet_view_eq(a, stet_view_str(literal));
}

static inline bool stet_view_starts(struct stet_view a, const char *prefix)
{
    size_t n = strlen(prefix);

    return a.len >= n && memcmp(a.ptr, prefix, n) == 0;
}

static inline bool stet_view_ends(struct stet_view a, const char *suffix)
{
    size_t n = strlen(suffix);

    return a.len >= n && memcmp(a.ptr + (a.len - n), suffix, n) == 0;
}

bool stet_view_contains(struct stet_view v, const char *part);
/* Is it one of the texts of a list that ends with NULL? */
bool stet_view_in(struct stet_view v, const char *const *list);
/* The position of its first occurrence; v.len if there is none. */
size_t stet_view_find(struct stet_view v, const char *part);

/* What snprintf wrote into a buffer of `room` bytes when it returned n. */
static inline struct stet_view stet_view_cut(const char *buffer, size_t room, int n)
{
    size_t len = n < 0 ? 0 : (size_t)n;

    return stet_view_of(buffer, len < room ? len : room - 1);
}

/* Without spaces, tabs and line ends at both ends. */
struct stet_view stet_view_trim(struct stet_view v);

/* An ASCII letter, digit or underscore, as in the names of most languages. */
static inline bool stet_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The word that a text begins with: `batch` of batch['x']. */
static inline struct stet_view stet_view_word(struct stet_view v)
{
    size_t n = 0;

    while (n < v.len && stet_is_word(v.ptr[n]))
        n++;
    return stet_view_of(v.ptr, n);
}

/* Bytewise order; a prefix sorts first. The second form is for qsort over views. */
int stet_view_cmp(struct stet_view a, struct stet_view b);
int stet_view_sort(const void *a, const void *b);

/* Length of the well-formed UTF-8 sequence at the beginning of `text`; 0 if there is none (RFC
 * 3629). */
size_t stet_utf8_length(const void *text, size_t left);
/* The character of `n` bytes, as stet_utf8_length counts them. */
uint32_t stet_utf8_decode(const void *text, size_t n);
/* Would it control a terminal or change how the text around it reads? C0, DEL, C1, bidirectional
 * controls, line and paragraph separators. */
bool stet_utf8_is_control(const void *text, size_t n);
/* Does the text begin with what GitHub's or Azure's log reader takes for a command at any place of
 * a line? */
static inline bool stet_view_is_runner_command(struct stet_view v)
{
    return stet_view_starts(v, "##[") || stet_view_starts(v, "##vso[");
}

#endif
