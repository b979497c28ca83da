/* See fit_inspect.h. */
#include "fit/fit_inspect.h"

#include "base/fs.h"
#include "fit/fit_fragments.h"
#include "fit/fit_phases.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void stet_fit_inspect_path(char *out, size_t room, const char *folder, size_t number,
                           const char *kind)
{
    snprintf(out, room, "%s/%zu.%s", folder, number, kind);
}

static void keep(const struct stet_fit_inspection *n, const struct stet_warm_subject *s,
                 const char *kind, struct stet_view bytes)
{
    struct stet_err err = STET_ERR_INIT;
    char path[PATH_MAX];

    stet_fit_inspect_path(path, sizeof path, n->folder, s->number, kind);
    if (stet_fs_write_unsynced(path, bytes, &err) != STET_OK)
        snprintf(s->item->detail, sizeof s->item->detail, "%.180s", err.text);
}

/* Keeps the message. Returns whether memory ran out. */
static bool keep_error(const struct stet_fit_inspection *n, const struct stet_warm_subject *s,
                       PJRT_Error *error)
{
    PJRT_Error_Message_Args m = {.struct_size = PJRT_Error_Message_Args_STRUCT_SIZE,
                                 .error = error};
    PJRT_Error_Destroy_Args d = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                 .error = error};
    bool exhausted;

    s->item->code = stet_warm_topology_code(s->api, error);
    exhausted = s->item->code == PJRT_Error_Code_RESOURCE_EXHAUSTED;
    s->api->PJRT_Error_Message(&m);
    if (exhausted)
        keep(n, s, "error", stet_view_of(m.message, m.message_size));
    snprintf(s->item->detail, sizeof s->item->detail, "%.*s",
             (int)(m.message_size < sizeof s->item->detail ? m.message_size
                                                           : sizeof s->item->detail - 1),
             m.message);
    s->api->PJRT_Error_Destroy(&d);
    return exhausted;
}

/* ---- the first phase ---- */

static void keep_parts(const struct stet_fit_inspection *n, const struct stet_warm_subject *s,
                       const struct stet_fit_phases *p, struct stet_fit_partials *out)
{
    for (size_t i = 0; i < out->count; i++) {
        struct stet_fit_partial part = stet_fit_phases_part(out, i);

        if (stet_view_is(part.name, "opt_hlo"))
            keep(n, s, "hlo", part.program);
        else if (stet_view_is(part.name, "buffer_assignment"))
            keep(n, s, "buffers", part.program);
    }
    stet_fit_phases_release(p, out);
}

/* A program that does not fit is refused; asked again without that check, the compiler says what it
 * would need. */
static void ask_unlimited(const struct stet_fit_inspection *n, const struct stet_warm_subject *s,
                          const struct stet_fit_phases *p, struct stet_view begin)
{
    struct stet_buf options = STET_BUF_INIT;
    struct stet_fit_partials out;
    PJRT_Error *error;

    stet_buf_view(&options, s->options);
    stet_fit_phases_override(&options, "xla_tpu_no_crash_on_oom", "true");
    error = stet_fit_phases_run(p, STET_FIT_PHASE_OPTIMIZE, &begin, 1, stet_buf_as_view(&options),
                                &out);
    if (error)
        s->api->PJRT_Error_Destroy(&(PJRT_Error_Destroy_Args){
            .struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error});
    else
        keep_parts(n, s, p, &out);
    stet_buf_release(&options);
}

enum asked { NOT_ASKED, FITS, TOO_LARGE };

static enum asked ask_phase(const struct stet_fit_inspection *n, const struct stet_warm_subject *s)
{
    struct stet_buf begin = STET_BUF_INIT;
    struct stet_fit_partials out;
    struct stet_fit_phases p;
    enum asked asked = NOT_ASKED;
    struct stet_view in;
    PJRT_Error *error;

    if (!stet_fit_phases_open(&p, s->api, s->topology))
        return NOT_ASKED;
    stet_fit_phases_begin(&begin, s->code);
    in = stet_buf_as_view(&begin);
    error = stet_fit_phases_run(&p, STET_FIT_PHASE_OPTIMIZE, &in, 1, s->options, &out);
    if (!error) {
        if (n->lines)
            stet_fit_fragments_measure(&p, &out, s->options, n->folder, s->number);
        keep_parts(n, s, &p, &out);
        asked = FITS;
    } else if (keep_error(n, s, error)) {
        ask_unlimited(n, s, &p, in);
        asked = TOO_LARGE;
    }
    stet_fit_phases_close(&p);
    stet_buf_release(&begin);
    return asked;
}

/* ---- a compiler without phases ---- */

const PJRT_Api *stet_fit_inspect_plugin(const struct stet_warm_subject *s)
{
    union {
        void *symbol;
        stet_get_pjrt_api *get;
    } entry;
    void *library = dlopen(s->item->plugin, RTLD_NOW | RTLD_NOLOAD);

    entry.symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
    return entry.symbol ? entry.get() : NULL;
}

/* It prints the assignment of buffers to a folder when asked to. */
static void ask_dump(const struct stet_fit_inspection *n, const struct stet_warm_subject *s)
{
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .format = s->item->format,
                            .format_size = strlen(s->item->format),
                            .code = (char *)(uintptr_t)s->code.ptr,
                            .code_size = s->code.len};
    PJRT_Compile_Args args = {
        .struct_size = PJRT_Compile_Args_STRUCT_SIZE, .topology = s->topology, .program = &program};
    PJRT_Executable_Destroy_Args destroy = {.struct_size =
                                                PJRT_Executable_Destroy_Args_STRUCT_SIZE};
    const PJRT_Api *real = stet_fit_inspect_plugin(s);
    struct stet_buf options = STET_BUF_INIT;
    char folder[PATH_MAX];
    PJRT_Error *error;

    stet_fit_inspect_path(folder, sizeof folder, n->folder, s->number, "dump");
    stet_buf_view(&options, s->options);
    stet_fit_phases_override(&options, "xla_dump_to", folder);
    args.compile_options = options.ptr;
    args.compile_options_size = options.len;
    if (real && !options.failed && mkdir(folder, 0700) == 0) {
        error = real->PJRT_Compile(&args);
        destroy.executable = args.executable;
        if (error)
            real->PJRT_Error_Destroy(&(PJRT_Error_Destroy_Args){
                .struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error});
        else
            real->PJRT_Executable_Destroy(&destroy);
    }
    stet_buf_release(&options);
}

bool stet_fit_inspect_optimized(const PJRT_Api *api, PJRT_Executable *executable,
                                struct stet_buf *out)
{
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
    PJRT_Executable_OptimizedProgram_Args args = {
        .struct_size = PJRT_Executable_OptimizedProgram_Args_STRUCT_SIZE,
        .executable = executable,
        .program = &program};
    char ignored[16];
    bool fine;

    if (!stet_api_has(api, PJRT_Executable_OptimizedProgram) ||
        stet_warm_topology_failed(api, api->PJRT_Executable_OptimizedProgram(&args), ignored,
                                  sizeof ignored))
        return false;
    program.code = malloc(program.code_size + 1);
    fine = program.code &&
           !stet_warm_topology_failed(api, api->PJRT_Executable_OptimizedProgram(&args), ignored,
                                      sizeof ignored);
    if (fine)
        stet_buf_view(out, stet_view_of(program.code, program.code_size));
    free(program.code);
    return fine && !out->failed;
}

static void keep_optimized(const struct stet_fit_inspection *n, const struct stet_warm_subject *s)
{
    struct stet_buf hlo = STET_BUF_INIT;

    if (stet_fit_inspect_optimized(s->api, s->executable, &hlo))
        keep(n, s, "hlo", stet_buf_as_view(&hlo));
    stet_buf_release(&hlo);
}

/* ---- the executable ---- */

static bool is_size(int64_t bytes)
{
    return bytes >= 0 && (uint64_t)bytes <= STET_FOOTPRINT_MOST;
}

static void put_memory(struct stet_buf *out, const struct stet_warm_subject *s)
{
    PJRT_Executable_GetCompiledMemoryStats_Args m = {
        .struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE,
        .executable = s->executable};
    char ignored[16];

    if (!stet_api_has(s->api, PJRT_Executable_GetCompiledMemoryStats) ||
        stet_warm_topology_failed(s->api, s->api->PJRT_Executable_GetCompiledMemoryStats(&m),
                                  ignored, sizeof ignored) ||
        !is_size(m.argument_size_in_bytes) || !is_size(m.output_size_in_bytes) ||
        !is_size(m.alias_size_in_bytes) || !is_size(m.temp_size_in_bytes) ||
        !is_size(m.generated_code_size_in_bytes))
        return;
    stet_buf_printf(out,
                    "arguments %lld\noutputs %lld\naliased %lld\ntemporaries %lld\ncode %lld\n",
                    (long long)m.argument_size_in_bytes, (long long)m.output_size_in_bytes,
                    (long long)m.alias_size_in_bytes, (long long)m.temp_size_in_bytes,
                    (long long)m.generated_code_size_in_bytes);
}

static bool before(void *context, const struct stet_warm_subject *s)
{
    const struct stet_fit_inspection *n = context;

    switch (ask_phase(n, s)) {
    case TOO_LARGE:
        return false;
    case FITS:
        return !n->quick;
    default:
        ask_dump(n, s); /* the compile below gives the verdict */
        s->item->detail[0] = '\0';
        s->item->code = 0;
        return true;
    }
}

static void after(void *context, const struct stet_warm_subject *s)
{
    const struct stet_fit_inspection *n = context;
    struct stet_buf out = STET_BUF_INIT;
    char path[PATH_MAX];

    put_memory(&out, s);
    stet_buf_printf(&out, "wall_ns %llu\ncpu_ns %llu\n", (unsigned long long)s->wall_ns,
                    (unsigned long long)s->cpu_ns);
    stet_fit_inspect_path(path, sizeof path, n->folder, s->number, "hlo");
    if (!stet_fs_exists(path))
        keep_optimized(n, s);
    if (!out.failed)
        keep(n, s, "stats", stet_buf_as_view(&out));
    stet_buf_release(&out);
}

const struct stet_warm_inspector stet_fit_inspector = {.before = before, .after = after};
