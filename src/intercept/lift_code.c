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

/* What was compiled is stored once it serves the framework. */
static void keep(struct stet_reload *r, const PJRT_Client_Compile_Args *args,
                 struct stet_lift_code *code)
{
    code->pending = (struct stet_lift_pending){
        .keep = stet_intercept_pending_new(
            r, args->program, stet_view_of(args->compile_options, args->compile_options_size),
            code->index, code->compile_ns),
        .loaded = code->loaded,
        .entry = r->key,
        .bytes = r->bytes,
        .program = r->program};
}

static bool load_or_compile(struct stet_lift_code *code, struct stet_view text,
                            struct stet_view options, struct stet_err *why)
{
    static const char format[] = "mlir";
    struct stet_plugin *p = code->family->plugin;
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)text.ptr,
                            .code_size = text.len,
                            .format = format,
                            .format_size = sizeof format - 1};
    PJRT_Client_Compile_Args args = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                     .client = code->family->client,
                                     .program = &program,
                                     .compile_options = options.ptr,
                                     .compile_options_size = options.len};
    struct stet_reading reading;
    struct stet_reload r;
    bool made, placed = false;

    stet_intercept_reading_init(&reading, &program, false);
    made = stet_reload_try(&r, p, &args, &reading, NULL);
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
        keep(&r, &args, code);
    stet_reload_end(&r);
    stet_intercept_reading_release(&reading);
    return placed ||
           (made && stet_fail(why, STET_REFUSED, "its arrays are on other devices") == STET_OK);
}

/* Writes and compiles the lifted program of a family for what `m` found. */
static bool lift(struct stet_lift_code *code, const struct stet_lift_plan *earlier,
                 const struct stet_program *other, const struct stet_lift_match *m,
                 struct stet_view own, struct stet_err *why)
{
    struct stet_buf text = STET_BUF_INIT, options = STET_BUF_INIT;
    const struct stet_program *base = &code->family->base;
    bool made = stet_lift_plan_make(&code->plan, m, earlier, why) == STET_OK;

    made = made &&
           stet_lift_values(&code->plan, m, STET_LIFT_BASE, &code->arena, &code->base, why) ==
               STET_OK &&
           stet_lift_write(&text, base, other, m, &code->plan, why) == STET_OK;
    if (made && !stet_intercept_lift_options(own, base->argument_count, code->plan.argument_count,
                                             &options))
        made = stet_fail(why, STET_REFUSED, "its compile options count the arguments") == STET_OK;
    made = made && load_or_compile(code, stet_buf_as_view(&text),
                                   options.len ? stet_buf_as_view(&options) : own, why);
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

/* Of the executable that answers for all lifted ones. */
static struct stet_hash print_of(const struct stet_lift_family *f)
{
    struct stet_executable_facts facts;
    struct stet_arena arena;
    struct stet_hash hash;

    stet_arena_init(&arena, (size_t)1 << 20);
    stet_executables_ask(f->plugin, f->plain, NULL, &arena, &facts);
    hash = stet_hash_bytes(facts.fingerprint);
    stet_arena_release(&arena);
    return hash;
}

struct stet_lift_code *stet_intercept_lift_code_new(struct stet_lift_family *f, uint64_t index,
                                                    const struct stet_lift_plan *earlier,
                                                    const struct stet_program *other,
                                                    const struct stet_lift_match *m,
                                                    struct stet_view options, bool *rejected,
                                                    struct stet_err *why)
{
    struct stet_lift_code *code = stet_mem_calloc(1, sizeof *code), *old;
    bool made;

    if (!code) {
        stet_fail(why, STET_NO_MEMORY, "out of memory");
        return NULL;
    }
    stet_arena_init(&code->arena, (size_t)1 << 30);
    stet_arena_init(&code->due_arena, (size_t)1 << 30);
    code->family = f;
    code->index = index;
    code->checked = f->checked;
    code->loops_end = stet_lift_loops_end(&f->base);
    code->refs = 1;
    stet_intercept_lift_lock();
    f->refs++;
    stet_intercept_lift_unlock();
    made = lift(code, earlier, other, m, options, why) && own_values(code);
    *rejected = code->rejected;
    if (!made) {
        stet_intercept_lift_code_put(code);
        return NULL;
    }
    code->plain_print = print_of(f);
    stet_intercept_lift_lock();
    old = f->code;
    f->code = f->gone ? NULL : code;
    code->refs += !f->gone;
    stet_intercept_lift_unlock();
    if (old)
        stet_intercept_lift_code_put(old);
    return code;
}
