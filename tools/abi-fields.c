/* Lists what a preprocessed C header declares: "S struct", "F struct field", "K enumerator", one a
 * line. Just enough C for PJRT headers: tags in front of braces, members that end in a semicolon,
 * anonymous unions, function pointers. tools/check-abi.sh makes a probe program of the lines. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20, NAME_MAX_LEN = 128 };

static char text[TEXT_MAX];

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The brace that closes the one at `open`. */
static const char *closing(const char *open)
{
    int depth = 0;

    for (const char *p = open; *p; p++) {
        depth += (*p == '{') - (*p == '}');
        if (depth == 0)
            return p;
    }
    return open + strlen(open);
}

/* The declared name in [from, to): after "(*" for a function pointer, else the last word. */
static void member_name(const char *from, const char *to, char name[NAME_MAX_LEN])
{
    const char *begin = NULL, *end = to;
    size_t n;

    for (const char *p = from; p < to && !begin; p++)
        if (*p == '(') {
            for (begin = p + 1; begin < to && !is_word(*begin); begin++)
                ;
            for (end = begin; end < to && is_word(*end); end++)
                ;
        }
    if (!begin) {
        while (end > from && !is_word(end[-1]))
            end--;
        for (begin = end; begin > from && is_word(begin[-1]); begin--)
            ;
    }
    n = (size_t)(end - begin);
    n = n < NAME_MAX_LEN - 1 ? n : NAME_MAX_LEN - 1;
    memcpy(name, begin, n);
    name[n] = 0;
}

static void list_members(const char *tag, const char *from, const char *to)
{
    char name[NAME_MAX_LEN];

    for (const char *p = from, *start = from; p < to; p++) {
        if (*p == '{') { /* an anonymous union: its members are the struct's */
            list_members(tag, p + 1, closing(p));
            p = closing(p);
            start = p + 1;
        } else if (*p == ';') {
            member_name(start, p, name);
            if (*name)
                printf("F %s %s\n", tag, name);
            start = p + 1;
        }
    }
}

static void list_enumerators(const char *from, const char *to)
{
    while (from < to) {
        const char *end;

        while (from < to && !is_word(*from))
            from++;
        for (end = from; end < to && is_word(*end); end++)
            ;
        if (end > from && strncmp(from, "PJRT_", 5) == 0)
            printf("K %.*s\n", (int)(end - from), from);
        for (int depth = 0; from < to && (depth || *from != ','); from++)
            depth += (*from == '(') - (*from == ')');
    }
}

/* Is the word `word` at p, whole? */
static bool at_word(const char *p, const char *word)
{
    size_t n = strlen(word);

    return strncmp(p, word, n) == 0 && !is_word(p[n]) && (p == text || !is_word(p[-1]));
}

int main(void)
{
    char tag[NAME_MAX_LEN];
    size_t n = fread(text, 1, sizeof(text) - 1, stdin);

    if (n == sizeof(text) - 1)
        return fprintf(stderr, "header too long\n"), 1;
    for (const char *p = text; *p; p++) {
        bool is_enum = at_word(p, "enum");
        const char *open = p;

        if (!is_enum && !at_word(p, "struct"))
            continue;
        while (*open && *open != '{' && *open != ';' && *open != ')' && *open != '*')
            open++;
        if (*open != '{')
            continue;
        member_name(p, open, tag);
        if (is_enum)
            list_enumerators(open + 1, closing(open));
        if (is_enum || strncmp(tag, "PJRT_", 5) != 0)
            continue;
        printf("S %s\n", tag);
        list_members(tag, open + 1, closing(open));
    }
    return 0;
}
