/* Writes the lifted program of a family, and loads it from the store or has the plugin compile it.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "intercept/executables.h"
#include "intercept/lift_family.h"
#include "intercept/reload.h"
#include "intercept/writer.h"

/* Where it runs: on as many devices as the program names. */
static bool find_devices(struct stet_plugin *p, PJRT_LoadedExecutable *loaded,
                         struct stet_lift_code *code)
{
    PJRT_LoadedExecutable_AddressableDevices_Args args = {
        .struct_size = PJRT_LoadedExecutable_AddressableDevices_Args_STRUCT_SIZE,
        .executable = loaded};

    if (stet_plugin_drop(p, stet_plugin_real(p)->PJRT_LoadedExecutable_AddressableDevices(&args)) ||
        args.num_addressable_devices != stet_lift_devices(&code->family->base))
        return false;
    code->devices = args.addressable_devices;
    code->device_count = (uint32_t)args.num_addressable_devices;
    return true;
}

/* The plugin's error text is in `why` if it refuses. */
static bool compile(struct stet_plugin *p, PJRT_Client_Compile_Args *args,
                    struct stet_lift_code *code, struct stet_err *why)
{
    uint64_t before = stet_journal_now();
    PJRT_Error *error = stet_plugin_real(p)->PJRT_Client_Compile(args);
    struct stet_view said;

    code->compile_ns = stet_journal_now() - before;
    code->compiled = true;
    if (!error)
        return true;
    code->rejected = true;
    stet_plugin_error_text(p, error, &said);
    stet_fail(why, STET_REFUSED, "the plugin: %.*s", STET_FMT(said));
    stet_plugin_drop(p, error);
    return false;
}

/* What was compiled is stored once the caller knows the number of the framework's executable. */
static void keep(struct stet_lifting *l, struct stet_reload *r,
                 const PJRT_Client_Compile_Args *args, const struct stet_lift_code *code)
{
    l->keep = stet_intercept_pending_new(
        r, args->program, stet_view_of(args->compile_options, args->compile_options_size), l->index,
        code->compile_ns);
    l->loaded = code->loaded;
    l->entry = r->key;
    l->bytes = r->bytes;
    l->program = r->program;
}

static bool load_or_compile(struct stet_lifting *l, struct stet_plugin *p,
                            const PJRT_Client_Compile_Args *like, struct stet_view text,
                            struct stet_view options, struct stet_lift_code *code,
                            struct stet_err *why)
{
    static const char format[] = "mlir";
    static const struct stet_lookup unknown;
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)text.ptr,
                            .code_size = text.len,
                            .format = format,
                            .format_size = sizeof format - 1};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = like->client,
                                     .program = &program,
                                     .compile_options = options.ptr,
                                     .compile_options_size = options.len};
    struct stet_reload r;
    bool made = stet_reload_try(&r, p, &args, &unknown, NULL), placed = false;

    if (made)
        code->compile_ns = r.load_ns;
    else
        made = compile(p, &args, code, why);
    if (made) {
        code->loaded = args.executable;
        placed = find_devices(p, args.executable, code) &&
                 (code->device_count == 1 ||
                  stet_intercept_lift_same_places(code->family, args.executable,
                                                  code->plan.argument_count));
    }
    if (placed && code->compiled)
        keep(l, &r, &args, code);
    stet_reload_end(&r);
    return placed ||
           (made && stet_fail(why, STET_REFUSED, "its arrays are on other devices") == STET_OK);
}

/* Writes and compiles the lifted program of a family for what `m` found. */
static bool lift(struct stet_lifting *l, struct stet_lift_family *f,
                 const struct stet_lift_plan *earlier, const struct stet_lift_candidate *other,
                 const struct stet_lift_match *m, const PJRT_Client_Compile_Args *args,
                 struct stet_lift_code *code, struct stet_err *why)
{
    struct stet_buf text = STET_BUF_INIT, options = STET_BUF_INIT;
    struct stet_view own = stet_view_of(args->compile_options, args->compile_options_size);
    bool made = stet_lift_plan_make(&code->plan, m, earlier, why) == STET_OK;

    made = made &&
           stet_lift_values(&code->plan, m, STET_LIFT_BASE, &code->arena, &code->base, why) ==
               STET_OK &&
           stet_lift_write(&text, &f->base, &other->program, m, &code->plan, why) == STET_OK;
    if (made && !stet_intercept_lift_options(own, f->base.argument_count, code->plan.argument_count,
                                             &options))
        made = stet_fail(why, STET_REFUSED, "its compile options count the arguments") == STET_OK;
    made = made && load_or_compile(l, f->plugin, args, stet_buf_as_view(&text),
                                   options.len ? stet_buf_as_view(&options) : own, code, why);
    stet_buf_release(&text);
    stet_buf_release(&options);
    return made;
}

/* The values of `m` point into the programs, so the base's are copied. */
static bool own_values(struct stet_lift_code *code)
{
    for (uint32_t i = 0; i < code->plan.argument_count; i++)
        code->base[i].bytes = stet_arena_copy(&code->arena, code->base[i].bytes);
    return !code->arena.failed;
}

struct stet_lift_code *stet_intercept_lift_code_new(struct stet_lifting *l,
                                                    struct stet_lift_family *f,
                                                    const struct stet_lift_plan *earlier,
                                                    const struct stet_lift_candidate *other,
                                                    const struct stet_lift_match *m,
                                                    const PJRT_Client_Compile_Args *args)
{
    struct stet_lift_code *code = stet_mem_calloc(1, sizeof *code), *old;
    struct stet_err why = STET_ERR_INIT;
    bool made;

    if (!code)
        return NULL;
    stet_arena_init(&code->arena, (size_t)1 << 30);
    code->family = f;
    code->index = l->index;
    code->refs = 1;
    stet_intercept_lift_lock();
    f->refs++;
    stet_intercept_lift_unlock();
    made = lift(l, f, earlier, other, m, args, code, &why) && own_values(code);
    if (!made) {
        stet_intercept_lift_quarantine(f, l->index, code->rejected, why.text);
        stet_intercept_lift_code_put(code);
        return NULL;
    }
    stet_intercept_lift_lock();
    old = f->code;
    f->code = f->gone ? NULL : code;
    code->refs += !f->gone;
    f->lifts++;
    stet_intercept_lift_unlock();
    if (old)
        stet_intercept_lift_code_put(old);
    return code;
}
