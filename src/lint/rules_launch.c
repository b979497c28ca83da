/* Rules about settings made before the run: debug switches, cache folders. Also for shell
 * scripts. */
#include "lint/launch.h"
#include "lint/rules.h"

static const struct {
    const char *name, *what;
} flags[] = {
#define FLAG(name, what) {name, what},
#include "lint/flags.def"
};

static const char *const cache_variables[] = {
#define CACHE_FOLDER(name) name,
#include "lint/flags.def"
    NULL};

static const char *const barriers[] = {
#define WAIT(name) name,
#include "lint/flags.def"
    NULL};

static const char *const options[] = {
#define JAX_OPTION(name) name,
#include "lint/flags.def"
    NULL};

static bool is_off(struct stet_view value)
{
    static const char *const off[] = {"", "0", "false", "False", "off", "OFF", NULL};

    return stet_view_in(value, off);
}

const char *lint_flag_effect(struct stet_view name, struct stet_view value)
{
    if (is_off(value))
        return NULL;
    if (stet_view_is(name, "XLA_FLAGS"))
        return memmem(value.ptr, value.len, "--xla_dump_to", 13)
                   ? "every program is written out while it compiles"
                   : NULL;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (stet_view_is(name, flags[i].name))
            return flags[i].what;
    }
    return NULL;
}

bool lint_launch_barrier(struct stet_view name, struct stet_view value)
{
    return stet_view_in(name, barriers) && !is_off(value);
}

bool lint_remote_cache(struct stet_view name, struct stet_view value)
{
    static const char *const schemes[] = {"gs://",   "s3://",    "hdfs://", "az://",
                                          "http://", "https://", "abfs://", NULL};

    if (!stet_view_in(name, cache_variables))
        return false;
    for (const char *const *s = schemes; *s; s++) {
        if (stet_view_starts(value, *s))
            return true;
    }
    return false;
}

/* Returns the text of a literal, also through a name bound to one; for f"gs://{x}" its
 * beginning. */
static struct stet_view text_of(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    if (stet_python_kind(a, n) == PY_IDENTIFIER) {
        struct stet_flow_binding *b = stet_flow_lookup(w, w->fn, stet_python_name(a, n));

        n = b && stet_python_kind(a, b->value.from) == PY_STRING ? b->value.from : n;
    }
    if (stet_python_kind(a, n) == PY_STRING) {
        stet_python_ref content = stet_python_child_of(a, n, PY_STRING_CONTENT);

        return content ? stet_python_text(a, content) : STET_VIEW("");
    }
    return stet_python_text(a, n);
}

/* A value that the file does not show: os.environ["X"] = saved, = str(level) */
static bool is_variable(struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_ast *a = w->ast;

    return stet_python_kind(a, n) == PY_CALL ||
           (stet_python_kind(a, n) == PY_IDENTIFIER &&
            stet_view_eq(text_of(w, n), stet_python_text(a, n)));
}

/* A variable set from Python: os.environ["X"] = v, .setdefault("X", v), os.putenv. */
static bool environment_write(struct stet_flow_walk *w, stet_python_ref n, struct stet_view *name,
                              struct stet_view *value)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref key, given;

    if (stet_python_kind(a, n) == PY_ASSIGNMENT) {
        stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT);

        if (stet_python_kind(a, left) != PY_SUBSCRIPT ||
            stet_python_meaning(w->module, stet_python_field(a, left, PY_FIELD_VALUE)) !=
                PY_MEANS_ENVIRONMENT)
            return false;
        key = stet_python_next(a, stet_python_field(a, left, PY_FIELD_VALUE));
        given = stet_python_field(a, n, PY_FIELD_RIGHT);
    } else {
        if (stet_python_meaning(w->module, stet_python_field(a, n, PY_FIELD_FUNCTION)) !=
            PY_MEANS_SETS_VARIABLE)
            return false;
        key = stet_python_argument(w->module, n, 0);
        given = stet_python_argument(w->module, n, 1);
    }
    if (!key || !given)
        return false;
    *name = stet_python_string(a, key);
    *value = text_of(w, given);
    return name->len != 0 && !is_variable(w, given);
}

/* Does the function put back a saved value further down? Then the switch is not left on. */
static bool is_restored(struct stet_flow_walk *w, stet_python_ref n, struct stet_view name)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref fn = w->fns[w->fn].node;

    for (stet_python_ref c = n + 1; w->fn && stet_flow_within(w, c, fn); c++) {
        stet_python_ref statement = w->module->parents[w->module->parents[c]];

        if (a->nodes[c].start > a->nodes[n].end && a->nodes[c].kind == PY_STRING &&
            stet_view_eq(stet_python_string(a, c), name) &&
            stet_python_kind(a, statement) == PY_ASSIGNMENT &&
            is_variable(w, stet_python_field(a, statement, PY_FIELD_RIGHT)))
            return true;
    }
    return false;
}

/* A switch under a condition is thrown by those who ask for it. */
static bool is_asked_for(const struct stet_flow_walk *w, stet_python_ref n)
{
    const struct stet_python_module *m = w->module;
    const struct stet_python_ast *a = w->ast;

    for (stet_python_ref up = m->parents[n]; up && stet_python_kind(a, up) != PY_FUNCTION;
         up = m->parents[up])
        if (stet_python_kind(a, up) == PY_IF &&
            !stet_flow_mentions(w, stet_python_field(a, up, PY_FIELD_CONDITION),
                                (const char *const[]){"__name__", NULL}))
            return true;
    return false;
}

/* In a function that nothing in this file calls, it is on for those who call it. */
static enum lint_minor reach_of(const struct stet_flow_walk *w)
{
    const struct stet_python_ast *a = w->ast;
    uint32_t fn = w->fn;

    while (fn && w->fns[fn].parent)
        fn = w->fns[fn].parent;
    for (stet_python_ref c = 1; fn && c < a->count && stet_flow_spend(w); c++)
        if (stet_python_name(a, c) == w->fns[fn].name && w->fns[fn].name &&
            stet_python_kind(a, w->module->parents[c]) != PY_FUNCTION)
            return LINT_FULL;
    return fn ? LINT_MINOR : LINT_FULL;
}

void rule_debug_flags(struct stet_flow_walk *w, stet_python_ref n)
{
    enum stet_python_meaning meaning;
    struct stet_view name, value;

    if (environment_write(w, n, &name, &value)) {
        const char *effect = lint_flag_effect(name, value);

        if (effect && !is_restored(w, n, name) && !is_asked_for(w, n))
            lint_minor(lint_report(w, LINT_RULE_debug_flags, n, 0, LINT_ANY, 0, "%.*s is on: %s",
                                   STET_FMT(name), effect),
                       reach_of(w));
        return;
    }
    if (stet_python_kind(w->ast, n) != PY_CALL || is_asked_for(w, n))
        return;
    meaning = stet_python_call_meaning(w->module, n);
    if (meaning == PY_MEANS_SETS_OPTION && stet_python_argument(w->module, n, 1)) {
        struct stet_view option = stet_python_string(w->ast, stet_python_argument(w->module, n, 0));

        if (stet_view_in(option, options) &&
            stet_python_kind(w->ast, stet_python_argument(w->module, n, 1)) == PY_TRUE)
            lint_minor(lint_report(w, LINT_RULE_debug_flags, n, 0, LINT_ANY, 0, "%.*s is on",
                                   STET_FMT(option)),
                       reach_of(w));
    } else if (meaning == PY_MEANS_CHECKS_GRADIENTS &&
               stet_python_kind(w->ast, stet_python_argument(w->module, n, 0)) == PY_TRUE &&
               (w->facts & (FLOW_USES_XLA | FLOW_USES_COMPILE))) {
        lint_report(w, LINT_RULE_debug_flags, n, 0, LINT_ANY, 0,
                    "anomaly detection is on: every gradient is checked on the host");
    }
}

void rule_remote_cache(struct stet_flow_walk *w, stet_python_ref n)
{
    struct stet_view name = {0}, value = {0};

    if (!environment_write(w, n, &name, &value)) {
        enum stet_python_meaning meaning;

        if (stet_python_kind(w->ast, n) != PY_CALL)
            return;
        meaning = stet_python_call_meaning(w->module, n);
        if (meaning == PY_MEANS_SETS_OPTION && stet_python_argument(w->module, n, 1) &&
            stet_view_is(stet_python_string(w->ast, stet_python_argument(w->module, n, 0)),
                         "jax_compilation_cache_dir"))
            value = text_of(w, stet_python_argument(w->module, n, 1));
        else if ((meaning == PY_MEANS_SETS_CACHE || meaning == PY_MEANS_SETS_XLA_CACHE) &&
                 stet_python_argument(w->module, n, 0))
            value = text_of(w, stet_python_argument(w->module, n, 0));
        else
            return;
        name = STET_VIEW("JAX_COMPILATION_CACHE_DIR");
    }
    if (lint_remote_cache(name, value))
        lint_report(w, LINT_RULE_remote_cache, n, 0, LINT_ANY, 0,
                    "the compilation cache is at `%.*s`", STET_FMT(value));
}

void rule_torch_xla_cache(struct stet_flow_walk *w, stet_python_ref n)
{
    if (stet_python_call_meaning(w->module, n) == PY_MEANS_SETS_XLA_CACHE)
        lint_report(w, LINT_RULE_torch_xla_cache, n, 0, LINT_ANY, 0,
                    "entries written here are not loaded back over a PJRT plugin");
}
