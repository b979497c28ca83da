/* library.def as tables, sorted when they are first used. */
#include "python/library.h"

#include <pthread.h>
#include <stdlib.h>

struct named {
    const char *name;
    unsigned what; /* enum stet_python_effect, _meaning, _lane or _dtype; 0: nothing known */
};

static struct named libraries[] = {
#define LIBRARY(name, effect) {name, PY_GIVES_##effect},
#include "python/library.def"
};
static struct named methods[] = {
#define METHOD(name, effect) {name, PY_GIVES_##effect},
#include "python/library.def"
};
static struct named attributes[] = {
#define ATTRIBUTE(name, effect) {name, PY_GIVES_##effect},
#include "python/library.def"
};
static struct named variables[] = {
#define VARIABLE(name, effect) {name, PY_GIVES_##effect},
#include "python/library.def"
};
static struct named types[] = {
#define TYPE(name, effect) {name, PY_GIVES_##effect},
#include "python/library.def"
};
static struct named meanings[] = {
#define MEANS(name, meaning) {name, PY_MEANS_##meaning},
#include "python/library.def"
};
static struct named method_meanings[] = {
#define METHOD_MEANS(name, meaning) {name, PY_MEANS_##meaning},
#include "python/library.def"
};
static struct named models[] = {
#define MODEL(name, lane) {name, PY_LANE_##lane},
#include "python/library.def"
};
static const struct stet_python_called called[] = {
#define CALLED(name, lane) {name, PY_LANE_##lane},
#include "python/library.def"
};
static const char *const only_arrays[] = {
#define ONLY_ARRAYS(name) name,
#include "python/library.def"
};
static const char *const settings[] = {
#define SETTING(name) name,
#include "python/library.def"
};
static const char *const bounds[] = {
#define BOUND(name) name,
#include "python/library.def"
};
static const char *const lazy[] = {
#define LAZY(name) name,
#include "python/library.def"
};
static const char *const drawn[] = {
#define DRAWN(name) name,
#include "python/library.def"
};
static const struct stet_python_option options[] = {
#define OPTION(name, what) {name, PY_##what},
#include "python/library.def"
};
enum { ONE, EACH };
static const struct stet_python_shaper shapers[] = {
#define MAKES(name, shape, dtype, sizes) {name, shape, dtype, (sizes) == EACH},
#include "python/library.def"
};
static struct named dtypes[] = {
#define DTYPE(name, type) {name, PY_##type},
#include "python/library.def"
};
static const char *const constructors[] = {
#define CONSTRUCTS(name) name,
#include "python/library.def"
};
static const char *const comparisons[] = {
#define COMPARES(name) name,
#include "python/library.def"
};
static const struct stet_python_transform transforms[] = {
#define TRANSFORM(name, kind, lane) {name, PY_##kind, PY_LANE_##lane},
#include "python/library.def"
};
static const struct stet_python_array arrays[] = {
#define ARRAY(name, role, first) {name, PY_##role, first},
#include "python/library.def"
};
struct spelling {
    const char *operation, *python;
};

static const struct spelling operations[] = {
#define OPERATION(operation, python) {operation, python},
#include "python/library.def"
};
static const struct spelling computations[] = {
#define COMPUTES(operation, python) {operation, python},
#include "python/library.def"
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void sort_tables(void)
{
    qsort(libraries, COUNT(libraries), sizeof *libraries, by_name);
    qsort(methods, COUNT(methods), sizeof *methods, by_name);
    qsort(variables, COUNT(variables), sizeof *variables, by_name);
    qsort(meanings, COUNT(meanings), sizeof *meanings, by_name);
    qsort(method_meanings, COUNT(method_meanings), sizeof *method_meanings, by_name);
    qsort(models, COUNT(models), sizeof *models, by_name);
    qsort(dtypes, COUNT(dtypes), sizeof *dtypes, by_name);
    qsort(types, COUNT(types), sizeof *types, by_name);
    qsort(attributes, COUNT(attributes), sizeof *attributes, by_name);
}

static unsigned find(const struct named *table, size_t count, struct stet_view name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    size_t low = 0, high = name.len ? count : 0; /* no table has an empty name */

    pthread_once(&once, sort_tables);
    while (low < high) {
        size_t middle = low + (high - low) / 2, n = strlen(table[middle].name);
        int order = memcmp(name.ptr, table[middle].name, name.len < n ? name.len : n);

        if (order == 0 && name.len == n)
            return table[middle].what;
        if (order > 0 || (order == 0 && name.len > n))
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* The longest name of the table that covers this one. */
static unsigned find_covering(const struct named *table, size_t count, struct stet_view dotted)
{
    unsigned what = find(table, count, dotted);

    while (!what && dotted.len) {
        const char *dot = memrchr(dotted.ptr, '.', dotted.len - 1);

        dotted.len = dot ? (size_t)(dot - dotted.ptr) + 1 : 0;
        what = find(table, count, dotted);
    }
    return what;
}

enum stet_python_effect stet_python_library(struct stet_view dotted)
{
    return find_covering(libraries, COUNT(libraries), dotted);
}

enum stet_python_effect stet_python_library_type(struct stet_view dotted)
{
    return find_covering(types, COUNT(types), dotted);
}

enum stet_python_meaning stet_python_library_meaning(struct stet_view dotted)
{
    return find_covering(meanings, COUNT(meanings), dotted);
}

enum stet_python_effect stet_python_library_method(struct stet_view name)
{
    return find(methods, COUNT(methods), name);
}

enum stet_python_meaning stet_python_library_method_meaning(struct stet_view name)
{
    return find(method_meanings, COUNT(method_meanings), name);
}

enum stet_python_effect stet_python_library_attribute(struct stet_view name)
{
    return find(attributes, COUNT(attributes), name);
}

enum stet_python_effect stet_python_library_variable(struct stet_view name)
{
    return find(variables, COUNT(variables), name);
}

static bool is_among(const char *const *names, size_t count, struct stet_view name)
{
    for (size_t i = 0; name.len && i < count; i++)
        if (names[i][0] == name.ptr[0] && stet_view_is(name, names[i]))
            return true;
    return false;
}

bool stet_python_constructs(struct stet_view method)
{
    return is_among(constructors, COUNT(constructors), method);
}

const struct stet_python_called *stet_python_called(size_t i)
{
    return i < COUNT(called) ? &called[i] : NULL;
}

enum stet_python_lane stet_python_library_model(struct stet_view dotted)
{
    return find_covering(models, COUNT(models), dotted);
}

bool stet_python_only_arrays(struct stet_view attribute)
{
    return is_among(only_arrays, COUNT(only_arrays), attribute);
}

bool stet_python_setting(struct stet_view keyword)
{
    return is_among(settings, COUNT(settings), keyword);
}

bool stet_python_bound(struct stet_view keyword)
{
    return is_among(bounds, COUNT(bounds), keyword);
}

bool stet_python_lazy(struct stet_view name)
{
    return is_among(lazy, COUNT(lazy), name);
}

bool stet_python_drawn(struct stet_view dotted)
{
    return is_among(drawn, COUNT(drawn), dotted);
}

const struct stet_python_option *stet_python_option(size_t i)
{
    return i < COUNT(options) ? &options[i] : NULL;
}

enum stet_python_dtype stet_python_library_dtype(struct stet_view name)
{
    return find(dtypes, COUNT(dtypes), name);
}

const struct stet_python_shaper *stet_python_shaper(struct stet_view name)
{
    for (size_t i = 0; name.len && i < COUNT(shapers); i++)
        if (stet_view_is(name, shapers[i].name))
            return &shapers[i];
    return NULL;
}

bool stet_python_compares(struct stet_view name)
{
    return is_among(comparisons, COUNT(comparisons), name);
}

const struct stet_python_transform *stet_python_transform(struct stet_view dotted)
{
    for (size_t i = 0; dotted.len && i < COUNT(transforms); i++)
        if (transforms[i].name[0] == dotted.ptr[0] && stet_view_is(dotted, transforms[i].name))
            return &transforms[i];
    return NULL;
}

const struct stet_python_array *stet_python_array(struct stet_view name)
{
    for (size_t i = 0; name.len && i < COUNT(arrays); i++)
        if (arrays[i].name[0] == name.ptr[0] && stet_view_is(name, arrays[i].name))
            return &arrays[i];
    return NULL;
}

static bool spells(const struct spelling *table, size_t count, struct stet_view operation,
                   struct stet_view python)
{
    for (size_t i = 0; i < count; i++)
        if (stet_view_is(operation, table[i].operation) && stet_view_is(python, table[i].python))
            return true;
    return false;
}

bool stet_python_gives_operation(struct stet_view operation, struct stet_view python)
{
    return spells(operations, COUNT(operations), operation, python);
}

bool stet_python_computes(struct stet_view operation, struct stet_view python)
{
    return stet_view_eq(operation, python) ||
           spells(computations, COUNT(computations), operation, python);
}
