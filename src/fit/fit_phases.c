/* See fit_phases.h. The messages are written and read by their field numbers
 * (xla/pjrt/proto/pjrt_partial_program.proto, compile_options.proto). */
#include "fit/fit_phases.h"

#include "decode/proto.h"

#include <string.h>

enum {
    PARTIAL_PROGRAM = 1,
    PARTIAL_FORMAT = 2,
    PARTIAL_CONSUMERS = 4,
    PARTIAL_NAME = 6,
    OPTIONS_OVERRIDES = 7,
    ENTRY_KEY = 1,
    ENTRY_VALUE = 2,
    OVERRIDE_TEXT = 1,
};

static void put_bytes(struct stet_buf *out, unsigned field, struct stet_view v)
{
    stet_buf_varint(out, field << 3 | 2);
    stet_buf_varint(out, v.len);
    stet_buf_view(out, v);
}

static bool has_phase(const struct stet_fit_phases *p, const char *name)
{
    PJRT_PhaseCompile_Get_PhaseNames_Args names = {
        .struct_size = PJRT_PhaseCompile_Get_PhaseNames_Args_STRUCT_SIZE,
        .phase_compiler = p->compiler};
    PJRT_PhaseCompile_C_Buffers_Destroy_Args destroy = {
        .struct_size = PJRT_PhaseCompile_C_Buffers_Destroy_Args_STRUCT_SIZE};
    PJRT_Error *error = p->extension->phase_compile_get_phase_names(&names);
    bool found = false;

    if (error) {
        p->api->PJRT_Error_Destroy(&(PJRT_Error_Destroy_Args){
            .struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error});
        return false;
    }
    for (size_t i = 0; i < names.num_phase_names && !found; i++)
        found = names.phase_names_sizes[i] == strlen(name) &&
                !memcmp(names.phase_names[i], name, strlen(name));
    destroy.char_buffers = names.phase_names;
    destroy.char_buffer_sizes = names.phase_names_sizes;
    destroy.num_char_buffers = names.num_phase_names;
    p->extension->phase_compile_c_buffers_destroy(&destroy);
    return found;
}

bool stet_fit_phases_open(struct stet_fit_phases *p, const PJRT_Api *api,
                          PJRT_TopologyDescription *topology)
{
    const PJRT_Extension_Base *base = stet_api_extension(api, PJRT_Extension_Type_PhaseCompile);
    PJRT_PhaseCompile_Get_Compiler_Args get = {.struct_size =
                                                   PJRT_PhaseCompile_Get_Compiler_Args_STRUCT_SIZE};
    PJRT_Error *error;

    *p = (struct stet_fit_phases){.api = api, .topology = topology};
    if (!base || !topology || base->struct_size < PJRT_PhaseCompile_Extension_STRUCT_SIZE)
        return false;
    p->extension = (const PJRT_PhaseCompile_Extension *)base;
    error = p->extension->phase_compile_get_compiler(&get);
    if (error) {
        api->PJRT_Error_Destroy(&(PJRT_Error_Destroy_Args){
            .struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE, .error = error});
        return false;
    }
    p->compiler = get.phase_compiler;
    if (has_phase(p, STET_FIT_PHASE_OPTIMIZE))
        return true;
    stet_fit_phases_close(p);
    return false;
}

void stet_fit_phases_close(struct stet_fit_phases *p)
{
    PJRT_PhaseCompile_Destroy_Compiler_Args destroy = {
        .struct_size = PJRT_PhaseCompile_Destroy_Compiler_Args_STRUCT_SIZE,
        .phase_compiler = p->compiler};

    if (p->compiler)
        p->extension->phase_compile_destroy_compiler(&destroy);
    p->compiler = NULL;
}

enum { MOST_INPUTS = 4096 };

PJRT_Error *stet_fit_phases_run(const struct stet_fit_phases *p, const char *phase,
                                const struct stet_view *in, size_t count, struct stet_view options,
                                struct stet_fit_partials *out)
{
    const char *programs[MOST_INPUTS], *phases[1] = {phase};
    size_t sizes[MOST_INPUTS], phase_sizes[1] = {strlen(phase)};
    PJRT_PhaseCompile_Run_Phase_Args run = {
        .struct_size = PJRT_PhaseCompile_Run_Phase_Args_STRUCT_SIZE,
        .phase_compiler = p->compiler,
        .input_programs = programs,
        .input_programs_sizes = sizes,
        .num_input_programs = count < MOST_INPUTS ? count : MOST_INPUTS,
        .phases_to_run = phases,
        .phases_to_run_sizes = phase_sizes,
        .num_phases_to_run = 1,
        .compile_options = options.ptr,
        .compile_options_size = options.len,
        .topology = p->topology,
    };
    PJRT_Error *error;

    for (size_t i = 0; i < run.num_input_programs; i++) {
        programs[i] = in[i].ptr;
        sizes[i] = in[i].len;
    }
    error = p->extension->phase_compile_run_phases(&run);
    *out = (struct stet_fit_partials){0};
    if (!error)
        *out = (struct stet_fit_partials){run.output_programs, run.output_programs_sizes,
                                          run.num_output_programs};
    return error;
}

void stet_fit_phases_release(const struct stet_fit_phases *p, struct stet_fit_partials *out)
{
    PJRT_PhaseCompile_C_Buffers_Destroy_Args destroy = {
        .struct_size = PJRT_PhaseCompile_C_Buffers_Destroy_Args_STRUCT_SIZE,
        .char_buffers = out->items,
        .char_buffer_sizes = out->sizes,
        .num_char_buffers = out->count};

    if (out->items)
        p->extension->phase_compile_c_buffers_destroy(&destroy);
    *out = (struct stet_fit_partials){0};
}

bool stet_fit_phases_is_hlo(struct stet_view program)
{
    return program.len < 4 || memcmp(program.ptr, "ML\xefR", 4) != 0;
}

void stet_fit_phases_begin(struct stet_buf *out, struct stet_view program)
{
    put_bytes(out, PARTIAL_PROGRAM, program);
    put_bytes(out, PARTIAL_FORMAT,
              stet_fit_phases_is_hlo(program) ? STET_VIEW("hlo") : STET_VIEW("stablehlo"));
    put_bytes(out, PARTIAL_CONSUMERS, STET_VIEW(STET_FIT_PHASE_OPTIMIZE));
}

struct stet_fit_partial stet_fit_phases_part(const struct stet_fit_partials *p, size_t i)
{
    struct stet_fit_partial part = {.whole = stet_view_of(p->items[i], p->sizes[i])};
    struct stet_proto_fault fault = {0};
    struct stet_proto_field f;
    struct stet_proto r;

    stet_proto_init(&r, part.whole, &fault);
    while (stet_proto_next(&r, &f)) {
        if (f.number == PARTIAL_PROGRAM)
            part.program = f.bytes;
        else if (f.number == PARTIAL_FORMAT)
            part.format = f.bytes;
        else if (f.number == PARTIAL_NAME)
            part.name = f.bytes;
    }
    return part;
}

void stet_fit_phases_override(struct stet_buf *options, const char *name, const char *value)
{
    struct stet_buf text = STET_BUF_INIT, entry = STET_BUF_INIT;

    put_bytes(&text, OVERRIDE_TEXT, stet_view_str(value));
    put_bytes(&entry, ENTRY_KEY, stet_view_str(name));
    put_bytes(&entry, ENTRY_VALUE, stet_buf_as_view(&text));
    put_bytes(options, OPTIONS_OVERRIDES, stet_buf_as_view(&entry));
    options->failed |= text.failed || entry.failed;
    stet_buf_release(&text);
    stet_buf_release(&entry);
}
