/* One pass over the text. At each position the rules below are tried in turn, and a secret that
 * begins there is replaced. */
#include "base/mask.h"

#include <ctype.h>
#include <strings.h>

/* A name is secret when it contains one of these... */
static const char *const within[] = {"SECRET",   "PASSW",   "PASSPHRASE",   "CREDENTIAL",
                                     "API_KEY",  "API-KEY", "ACCESS_KEY",   "ACCESS-KEY",
                                     "PRIVATE_", "COOKIE",  "AUTHORIZATION"};
/* ...ends in one of these... */
static const char *const at_end[] = {"KEY", "TOKEN", "PWD", "PRIVATE", "SIGNATURE"};
/* ...or contains one of these between its separators. */
static const char *const words[] = {"TOKEN", "TOKENS", "KEYS", "AUTH", "OAUTH",
                                    "PASS",  "PAT",    "SAS",  "SIG",  "BEARER"};

/* The prefixes of well-known kinds of tokens. */
static const char *const makers[] = {
    "hf_",    "ghp_", "gho_", "ghu_",   "ghs_",  "ghr_",    "github_pat_", "glpat-",  "sk-",  "sk_",
    "rk_",    "AKIA", "ASIA", "xox",    "xapp-", "ya29.",   "eyJ",         "AIza",    "npm_", "SG.",
    "nvapi-", "gsk_", "xai-", "dop_v1", "pypi-", "lsv2_pt", "r8_",         "dckr_pat"};
enum { TOKEN_LEAST = 16, LOGIN_MOST = 512, NAME_MOST = 128 };

static bool same_letters(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (toupper((unsigned char)a[i]) != b[i])
            return false;
    return true;
}

static bool is_separator(char c)
{
    return c == '_' || c == '-' || c == '.';
}

static bool contains(struct stet_view v, const char *part)
{
    size_t n = strlen(part);

    for (size_t i = 0; i + n <= v.len; i++)
        if (same_letters(v.ptr + i, part, n))
            return true;
    return false;
}

static bool has_word(struct stet_view v, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= v.len; i++)
        if (same_letters(v.ptr + i, word, n) && (i == 0 || is_separator(v.ptr[i - 1])) &&
            (i + n == v.len || is_separator(v.ptr[i + n])))
            return true;
    return false;
}

bool stet_mask_is_secret(struct stet_view name)
{
    while (name.len && is_separator(*name.ptr))
        name = stet_view_of(name.ptr + 1, name.len - 1);
    if (name.len > NAME_MOST)
        name = stet_view_of(name.ptr + name.len - NAME_MOST, NAME_MOST);
    if (stet_view_starts(name, "xla_")) /* compiler flags contain "pass" and "token" with other
                                         * meanings */
        return false;
    for (size_t i = 0; i < sizeof within / sizeof *within; i++)
        if (contains(name, within[i]))
            return true;
    for (size_t i = 0; i < sizeof at_end / sizeof *at_end; i++) {
        size_t n = strlen(at_end[i]);

        if (name.len >= n && same_letters(name.ptr + name.len - n, at_end[i], n))
            return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(name, words[i]))
            return true;
    return false;
}

/* --max-tokens 2048 is a setting. */
static bool is_count(struct stet_view name, struct stet_view value)
{
    size_t digits = 0;

    while (digits < value.len && isdigit((unsigned char)value.ptr[digits]))
        digits++;
    return digits && digits <= 9 && digits + 1 >= value.len && has_word(name, "TOKENS");
}

/* ---- what a secret may look like at one place ---- */

/* The part of a text that is to be masked. */
struct secret {
    size_t begin, end; /* empty when there is none */
};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || is_separator(c);
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

static size_t skip_blanks(struct stet_view t, size_t i)
{
    while (i < t.len && is_blank(t.ptr[i]))
        i++;
    return i;
}

/* The index after a quote, written \" if the text is a string inside a string; `i` if there is no
 * quote. */
static size_t skip_quote(struct stet_view t, size_t i)
{
    size_t q = i;

    while (q < t.len && t.ptr[q] == '\\')
        q++;
    return q < t.len && is_quote(t.ptr[q]) ? q + 1 : i;
}

/* The end of a value: the closing quote, or as far as an unquoted value may reach. It prefers too
 * far over not far enough, so a comma does not end it. `nested`: quotes are written \", and the
 * next one closes. */
static size_t end_of_value(struct stet_view t, size_t i, char quote, bool nested)
{
    size_t begin = i;

    for (; i < t.len; i++) {
        if (quote ? t.ptr[i] == quote && (nested || t.ptr[i - 1] != '\\')
                  : is_blank(t.ptr[i]) || is_quote(t.ptr[i]) || t.ptr[i] == '&' || t.ptr[i] == '|')
            break;
    }
    while (nested && i > begin && t.ptr[i - 1] == '\\')
        i--;
    return i;
}

/* A value may begin with its scheme, as in "Authorization: Bearer x". */
static size_t skip_scheme(struct stet_view t, size_t i)
{
    static const char *const schemes[] = {"bearer ", "basic ", "token ", "digest "};

    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        size_t n = strlen(schemes[k]);

        if (i + n <= t.len && !strncasecmp(t.ptr + i, schemes[k], n))
            return skip_blanks(t, i + n);
    }
    return i;
}

/* name=value and similar, at the beginning of a name. `source`: only quoted values count. */
static struct secret named(struct stet_view t, size_t i, bool source)
{
    struct stet_view name;
    size_t end = i, at, quoted;
    bool option = t.ptr[i] == '-', nested;
    char quote = 0;

    while (end < t.len && is_name(t.ptr[end]))
        end++;
    name = stet_view_of(t.ptr + i, end - i);
    if (end == t.len || !stet_mask_is_secret(name))
        return (struct secret){0};
    at = skip_quote(t, end);
    if (at > end && at < t.len && t.ptr[at] == ']')
        at++;
    at = skip_blanks(t, at);
    if (at < t.len && (t.ptr[at] == '=' || t.ptr[at] == ':')) {
        while (at < t.len && strchr("=:>", t.ptr[at]))
            at++;
        at = skip_blanks(t, at);
    } else if (!option || at == end || at == t.len || t.ptr[at] == '-') {
        return (struct secret){0};
    }
    quoted = skip_quote(t, at);
    if (source && quoted == at)
        return (struct secret){0};
    if (quoted > at)
        quote = t.ptr[quoted - 1];
    nested = quoted > at + 1;
    at = skip_scheme(t, quoted);
    end = end_of_value(t, at, quote, nested);
    if (is_count(name, stet_view_of(t.ptr + at, end - at)))
        return (struct secret){0};
    return (struct secret){at, end};
}

static struct secret after_name(struct stet_view t, size_t i)
{
    return named(t, i, false);
}

static struct secret in_source(struct stet_view t, size_t i)
{
    return named(t, i, true);
}

/* The last '@' before one of `until`, a quote, the end of the line or the next address; 0 if there
 * is none. */
static size_t last_at(struct stet_view t, size_t i, const char *until)
{
    size_t found = 0;

    for (; i < t.len && t.ptr[i] != '\n' && !is_quote(t.ptr[i]) && !strchr(until, t.ptr[i]); i++) {
        if (t.ptr[i] == '@')
            found = i;
        if (i + 3 <= t.len && !memcmp(t.ptr + i, "://", 3))
            break;
    }
    return found;
}

/* scheme://user:password@host. The password may contain '/', ',' and spaces if the text after the
 * first colon is not a port. */
static struct secret in_address(struct stet_view t, size_t i)
{
    static const char goes_on[] = "/?# ,\t";
    size_t from = i + 3, colon, end, at;

    if (from >= t.len || memcmp(t.ptr + i, "://", 3) != 0)
        return (struct secret){0};
    at = last_at(t, from, goes_on);
    if (!at) {
        for (colon = from; colon < t.len && t.ptr[colon] != ':' && !strchr(goes_on, t.ptr[colon]);)
            colon++;
        if (colon >= t.len || t.ptr[colon] != ':' || t.ptr[from] == '[')
            return (struct secret){0};
        for (end = colon + 1; end < t.len && isdigit((unsigned char)t.ptr[end]);)
            end++;
        if (end == t.len || strchr(goes_on, t.ptr[end]))
            return (struct secret){0}; /* a port */
    }
    end = last_at(t, from, " \t");
    return (struct secret){from, end ? end : last_at(t, from, "")};
}

/* user:password@host without a scheme, at the beginning of a word or value. In name:tag@sha256:...,
 * the name of a container image, the tag is not a password. */
static struct secret in_login(struct stet_view t, size_t i)
{
    size_t colon = i, at;

    if (i && !is_blank(t.ptr[i - 1]) && !is_quote(t.ptr[i - 1]) && !strchr("=,([", t.ptr[i - 1]))
        return (struct secret){0};
    t.len = t.len - i > LOGIN_MOST ? i + LOGIN_MOST : t.len; /* a long list has many colons */
    while (colon < t.len && is_name(t.ptr[colon]))
        colon++;
    if (colon == i || colon + 2 >= t.len || t.ptr[colon] != ':' || t.ptr[colon + 1] == '/')
        return (struct secret){0};
    at = last_at(t, colon + 1, "? ,\t");
    if (at <= colon + 1 || at + 1 >= t.len || !isalnum((unsigned char)t.ptr[at + 1]) ||
        stet_view_starts(stet_view_of(t.ptr + at + 1, t.len - at - 1), "sha256:"))
        return (struct secret){0};
    return (struct secret){colon + 1, at};
}

static struct secret by_maker(struct stet_view t, size_t i)
{
    struct stet_view rest = stet_view_of(t.ptr + i, t.len - i);

    for (size_t k = 0; k < sizeof makers / sizeof *makers; k++) {
        size_t end = i;

        if (!stet_view_starts(rest, makers[k]))
            continue;
        while (end < t.len && (is_name(t.ptr[end]) || memchr("+/=~", t.ptr[end], 4)))
            end++;
        if (end - i >= TOKEN_LEAST)
            return (struct secret){i, end};
    }
    return (struct secret){0};
}

/* "Bearer x", also without a header's name in front. */
static struct secret by_scheme(struct stet_view t, size_t i)
{
    size_t at = skip_scheme(t, i), end;

    if (at == i || !strchr("Bb", t.ptr[i]))
        return (struct secret){0};
    end = end_of_value(t, at, 0, false);
    return end - at >= TOKEN_LEAST ? (struct secret){at, end} : (struct secret){0};
}

static struct secret key_block(struct stet_view t, size_t i)
{
    struct stet_view rest = stet_view_of(t.ptr + i, t.len - i);
    size_t end;

    if (!stet_view_starts(rest, "-----BEGIN ") || !stet_view_contains(rest, "PRIVATE KEY"))
        return (struct secret){0};
    end = stet_view_find(rest, "-----END ");
    return (struct secret){i, i + end};
}

typedef struct secret rule(struct stet_view t, size_t i);

static struct secret find(struct stet_view t, size_t i, rule *const *rules)
{
    bool starts = i == 0 || !is_name(t.ptr[i - 1]);
    struct secret s = {0};

    if (t.ptr[i] == ':')
        return in_address(t, i);
    for (; starts && s.end <= s.begin && *rules; rules++)
        s = (*rules)(t, i);
    return s;
}

static void mask(struct stet_buf *out, struct stet_view text, rule *const *rules)
{
    size_t kept = 0;

    for (size_t i = 0; i < text.len;) {
        struct secret s = find(text, i, rules);

        if (s.end <= s.begin) {
            i++;
            continue;
        }
        stet_buf_add(out, text.ptr + kept, s.begin - kept);
        stet_buf_str(out, STET_MASK);
        kept = i = s.end;
    }
    stet_buf_add(out, text.len ? text.ptr + kept : "", text.len - kept);
}

void stet_mask_text(struct stet_buf *out, struct stet_view text)
{
    static rule *const rules[] = {key_block, after_name, by_scheme, by_maker, in_login, NULL};

    mask(out, text, rules);
}

void stet_mask_source(struct stet_buf *out, struct stet_view line)
{
    static rule *const rules[] = {key_block, in_source, by_scheme, by_maker, NULL};

    mask(out, line, rules);
}

/* Is the value of this name the next word? The name need not begin with a dash: a program that
 * splits name=value in place changes its command line in /proc. */
static bool asks_for_secret(struct stet_view word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!is_name(word.ptr[i]))
            return false;
    return stet_mask_is_secret(word);
}

void stet_mask_argument(struct stet_buf *out, struct stet_view before, struct stet_view word)
{
    bool value = word.len && (*word.ptr != '-' || (word.len > 2 && word.ptr[1] != '-'));
    size_t name = 0;

    if (value && asks_for_secret(before) && !is_count(before, word)) {
        stet_buf_str(out, STET_MASK);
        return;
    }
    while (name < word.len && is_name(word.ptr[name]))
        name++;
    /* here the value ends with the word */
    if (name && name + 1 < word.len && word.ptr[name] == '=' &&
        stet_mask_is_secret(stet_view_of(word.ptr, name)) &&
        !is_count(stet_view_of(word.ptr, name),
                  stet_view_of(word.ptr + name + 1, word.len - name - 1))) {
        stet_buf_add(out, word.ptr, name + 1);
        stet_buf_str(out, STET_MASK);
        return;
    }
    stet_mask_text(out, word);
}

void stet_mask_command(struct stet_buf *out, struct stet_view command)
{
    struct stet_view before = {0};

    for (size_t at = 0; at < command.len;) {
        struct stet_view word =
            stet_view_of(command.ptr + at, strnlen(command.ptr + at, command.len - at));

        stet_mask_argument(out, before, word);
        stet_buf_char(out, '\0');
        before = word;
        at += word.len + 1;
    }
}
