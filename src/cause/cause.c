/* The table from causes.def, and lists of causes. */
#include "cause/cause.h"

#include <stdio.h>

enum {
    IS_NUMBER = STET_CAUSE_IS_NUMBER,
    NUMBER_DOES = STET_CAUSE_NUMBER_DOES,
    IS_SIZE = STET_CAUSE_IS_SIZE,
    SIZE_FROM = STET_CAUSE_SIZE_FROM,
    IN_VIEW = STET_CAUSE_IN_VIEW,
    OTHER_CODE = STET_CAUSE_OTHER_CODE,
    UNDECIDED = STET_CAUSE_UNDECIDED,
    VAGUE = STET_CAUSE_VAGUE,
    HARMLESS = STET_CAUSE_HARMLESS,
    DESCRIBES = STET_CAUSE_DESCRIBES,
    IS_FORM = STET_CAUSE_IS_FORM,
    IS_STRUCTURE = STET_CAUSE_IS_STRUCTURE,
    GIVES_WAY = STET_CAUSE_GIVES_WAY,
    FOLLOWS_SIZE = STET_CAUSE_FOLLOWS_SIZE,
    NO_CODE = STET_CAUSE_NO_CODE,
    MAY_COUNT = STET_CAUSE_MAY_COUNT,
    BELOW = STET_CAUSE_BELOW,
    BETWEEN_LAUNCHES = STET_CAUSE_BETWEEN_LAUNCHES,
    OF_ARGUMENT = STET_CAUSE_OF_ARGUMENT,
    OF_PRESENCE = STET_CAUSE_OF_PRESENCE,
    OF_TYPE = STET_CAUSE_OF_TYPE,
    OF_PLACE = STET_CAUSE_OF_PLACE,
    OF_JIT = STET_CAUSE_OF_JIT,
    HAS_VARIABLE = STET_CAUSE_HAS_VARIABLE,
    READS_BACK = STET_CAUSE_READS_BACK,
    NAMES_LINE = STET_CAUSE_NAMES_LINE,
    NAMES_LINE_IF_CERTAIN = STET_CAUSE_NAMES_LINE_IF_CERTAIN,
};

static const struct {
    const char *id, *about, *page;
    enum stet_cause_question question;
    enum stet_cause_thing thing;
    enum stet_cause_step step;
    unsigned flags;
} causes[STET_CAUSES] = {
    [STET_CAUSE_NONE] = {"", "", "", STET_QUESTION_NONE, STET_THING_NONE, STET_STEP_NONE, 0},
#define CAUSE(identifier, id, lane, question, thing, facet, step, flags, about, page)              \
    [STET_CAUSE_##identifier] = {                                                                  \
        id, about, page, STET_QUESTION_##question, STET_THING_##thing, STET_STEP_##step, flags},
#include "cause/causes.def"
};

static const struct {
    enum stet_cause cause;
    enum stet_cause_fix_for framework;
    const char *text;
} fixes[] = {
#define FIX(identifier, framework, text) {STET_CAUSE_##identifier, STET_FIX_##framework, text},
#include "cause/causes.def"
};

const char *stet_cause_id(enum stet_cause c)
{
    return causes[c].id;
}

const char *stet_cause_about(enum stet_cause c)
{
    return causes[c].about;
}

const char *stet_cause_page(enum stet_cause c)
{
    return causes[c].page;
}

enum stet_cause stet_cause_find(struct stet_view id)
{
    for (int c = STET_CAUSE_NONE + 1; c < STET_CAUSES; c++)
        if (stet_view_is(id, causes[c].id))
            return (enum stet_cause)c;
    return STET_CAUSE_NONE;
}

enum stet_cause_question stet_cause_question(enum stet_cause c)
{
    return causes[c].question;
}

enum stet_cause_thing stet_cause_thing(enum stet_cause c)
{
    return causes[c].thing;
}

enum stet_cause_step stet_cause_step(enum stet_cause c)
{
    return causes[c].step;
}

bool stet_cause_is(enum stet_cause c, unsigned flags)
{
    return causes[c].flags & flags;
}

const char *stet_cause_fix(enum stet_cause c, enum stet_cause_fix_for framework)
{
    const char *any = "";

    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++) {
        if (fixes[i].cause != c)
            continue;
        if (fixes[i].framework == framework)
            return fixes[i].text;
        if (fixes[i].framework == STET_FIX_ANY && framework != STET_FIX_TORCH_COMPILE)
            any = fixes[i].text;
    }
    return any;
}

const char *stet_cause_question_key(enum stet_cause_question q)
{
    static const char *const keys[] = {"shapes", "profile", "branch"};

    return keys[q];
}

const char *stet_cause_question_text(enum stet_cause_question q)
{
    static const char *const texts[] = {
        "Did input shapes change?",
        "Did flags, options, mesh or versions change?",
        "Did a hidden graph branch become active?",
    };

    return texts[q];
}

const char *stet_cause_thing_name(enum stet_cause_thing t)
{
    static const char *const names[] = {"shapes", "profile", "sharding",
                                        "branch", "bundle",  "constants"};

    return names[t];
}

/* ---- lists ---- */

void stet_cause_list_add(struct stet_cause_list *l, enum stet_cause c)
{
    if (c != STET_CAUSE_NONE && l->count < STET_CAUSE_LIST && !stet_cause_list_has(l, c))
        l->items[l->count++] = c;
}

bool stet_cause_list_has(const struct stet_cause_list *l, enum stet_cause c)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->items[i] == c)
            return true;
    return false;
}

struct stet_view stet_cause_list_text(const struct stet_cause_list *l,
                                      char room[STET_CAUSE_LIST_TEXT])
{
    size_t used = 0;

    room[0] = '\0';
    for (uint32_t i = 0; i < l->count && used < STET_CAUSE_LIST_TEXT; i++)
        used += (size_t)snprintf(room + used, STET_CAUSE_LIST_TEXT - used, "%s%s", i ? " " : "",
                                 stet_cause_id(l->items[i]));
    return stet_view_str(room);
}

void stet_cause_list_read(struct stet_cause_list *l, struct stet_view text)
{
    *l = (struct stet_cause_list){.count = 0};
    while (text.len) {
        const char *blank = memchr(text.ptr, ' ', text.len);
        size_t n = blank ? (size_t)(blank - text.ptr) : text.len;
        enum stet_cause c = stet_cause_find(stet_view_of(text.ptr, n));

        if (n)
            stet_cause_list_add(l, c == STET_CAUSE_NONE ? STET_CAUSE_UNKNOWN : c);
        n += blank != NULL;
        text = stet_view_of(text.ptr + n, text.len - n);
    }
}

static const char *const sure_names[] = {
    [STET_SURE_GUESS] = "guess", [STET_SURE_LIKELY] = "likely", [STET_SURE_CERTAIN] = "certain"};

const char *stet_sure_name(enum stet_sure s)
{
    return sure_names[s];
}

enum stet_sure stet_sure_find(struct stet_view name)
{
    for (int s = STET_SURE_GUESS; s <= STET_SURE_CERTAIN; s++)
        if (stet_view_is(name, sure_names[s]))
            return (enum stet_sure)s;
    return STET_SURE_GUESS;
}
