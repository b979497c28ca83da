/* Are the arguments and results of a lifted program on the devices where the plain program has
 * them? The framework is answered by the plain one. */
#include "abi/api.h"
#include "abi/pjrt_ext.h"
#include "intercept/executables.h"
#include "intercept/lift_family.h"

/* OpSharding of xla_data.proto: `type` is absent or 0, and nothing else is set. */
static bool is_whole(struct stet_view sharding)
{
    return !sharding.len ||
           (sharding.len == 2 && sharding.ptr[0] == 1 << 3 && sharding.ptr[1] == 0);
}

/* The plugin's lists, which belong to the executable. */
struct shardings {
    PJRT_Executable *executable;
    const char *const *of[2]; /* parameters, results; NULL if the plugin has none */
    const size_t *sizes[2];
    size_t counts[2];
};

static struct stet_view at(const struct shardings *s, unsigned list, size_t i)
{
    return stet_view_of(s->of[list][i], s->sizes[list][i]);
}

static bool ask(struct stet_plugin *p, PJRT_LoadedExecutable *loaded, struct shardings *out)
{
    const PJRT_Shardings_Extension *x =
        (const PJRT_Shardings_Extension *)(const void *)stet_api_extension(
            stet_plugin_real(p), PJRT_Extension_Type_Shardings);
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args in = {
        .struct_size = PJRT_Shardings_PJRT_Executable_ParameterShardings_Args_STRUCT_SIZE};
    PJRT_Shardings_PJRT_Executable_OutputShardings_Args to = {
        .struct_size = PJRT_Shardings_PJRT_Executable_OutputShardings_Args_STRUCT_SIZE};

    *out = (struct shardings){.executable = stet_executables_of(p, loaded)};
    if (!out->executable || !x || x->base.struct_size < PJRT_Shardings_Extension_STRUCT_SIZE)
        return false;
    in.executable = to.executable = out->executable;
    if (stet_plugin_drop(p, x->PJRT_Shardings_PJRT_Executable_ParameterShardings(&in)) ||
        stet_plugin_drop(p, x->PJRT_Shardings_PJRT_Executable_OutputShardings(&to)))
        return false;
    *out = (struct shardings){out->executable,
                              {in.shardings, to.shardings},
                              {in.sharding_sizes, to.sharding_sizes},
                              {in.num_parameters, to.num_outputs}};
    return in.shardings && to.shardings;
}

/* The lifted program has the same lists, and whole arguments after the plain program's own. */
static bool agree(const struct shardings *plain, const struct shardings *lifted, size_t more)
{
    if (lifted->counts[0] != plain->counts[0] + more || lifted->counts[1] != plain->counts[1])
        return false;
    for (unsigned list = 0; list < 2; list++) {
        for (size_t i = 0; i < plain->counts[list]; i++) {
            if (!stet_view_eq(at(plain, list, i), at(lifted, list, i)))
                return false;
        }
    }
    for (size_t i = plain->counts[0]; i < lifted->counts[0]; i++) {
        if (!is_whole(at(lifted, 0, i)))
            return false;
    }
    return true;
}

/* Without the plugin's word: does the program itself place all of them? */
static bool is_explicit(const struct stet_program *p)
{
    for (uint32_t i = 0; i < p->argument_count; i++) {
        if (!p->arguments[i].sharding)
            return false;
    }
    for (uint32_t i = 0; i < p->output_count; i++) {
        if (!p->outputs[i].sharding)
            return false;
    }
    return true;
}

static bool has_replicas(const struct stet_program *p)
{
    const struct stet_attr *n = stet_op_attr(p->module, "mhlo.num_replicas");

    return n && stet_attr_int(n) > 1; /* each has its own arrays, and there are no shardings */
}

bool stet_intercept_lift_same_places(struct stet_lift_family *f, PJRT_LoadedExecutable *lifted,
                                     uint32_t more)
{
    struct stet_plugin *p = f->plugin;
    struct shardings x, y;
    bool known = ask(p, f->plain, &x), same = ask(p, lifted, &y) && known;

    same = same ? agree(&x, &y, more) : has_replicas(&f->base) || is_explicit(&f->base);
    if (x.executable)
        stet_executables_return(p, x.executable);
    if (y.executable)
        stet_executables_return(p, y.executable);
    return same;
}
