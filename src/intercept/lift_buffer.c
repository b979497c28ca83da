/* Buffers of the plugin that hold the values of a lifted program. */
#include "intercept/lift_family.h"
#include "program/hlo.h"

static PJRT_Buffer_Type type_of(const struct stet_type *t)
{
    static const PJRT_Buffer_Type types[STET_ELEMENTS] = {
#define INTEGER(name, text, python, bits, sign)  [STET_ELEMENT_##name] = PJRT_Buffer_Type_##name,
#define FLOAT(name, text, python, bits)          [STET_ELEMENT_##name] = PJRT_Buffer_Type_##name,
#define COMPLEX(name, text, python, bits, parts) [STET_ELEMENT_##name] = PJRT_Buffer_Type_##name,
#include "program/elements.def"
    };

    return types[stet_hlo_element_of(t)];
}

static void end_event(struct stet_plugin *p, PJRT_Event *event)
{
    PJRT_Event_Destroy_Args args = {.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE,
                                    .event = event};

    if (event)
        stet_plugin_drop(p, stet_plugin_real(p)->PJRT_Event_Destroy(&args));
}

PJRT_Buffer *stet_intercept_lifted_buffer(struct stet_lift_code *code, uint32_t argument,
                                          struct stet_view bytes, PJRT_Device *device)
{
    struct stet_plugin *p = code->family->plugin;
    const struct stet_type *type = code->plan.arguments[argument].type;
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE,
        .client = code->family->client,
        .data = bytes.ptr,
        .type = type_of(type->element),
        .dims = type->dims,
        .num_dims = type->rank,
        .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
        .device = device};

    if (args.type == PJRT_Buffer_Type_INVALID ||
        stet_plugin_drop(p, stet_plugin_real(p)->PJRT_Client_BufferFromHostBuffer(&args)))
        return NULL;
    end_event(p, args.done_with_host_buffer);
    return args.buffer;
}

void stet_intercept_lifted_buffer_free(struct stet_plugin *p, PJRT_Buffer *buffer)
{
    PJRT_Buffer_Destroy_Args args = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                     .buffer = buffer};

    if (buffer)
        stet_plugin_drop(p, stet_plugin_real(p)->PJRT_Buffer_Destroy(&args));
}
