/* Extensions: Layouts (dense, major to minor), MemoryDescriptions, and one nobody knows. */
#include "abi/pjrt_ext.h"
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct PJRT_Layouts_MemoryLayout {
    char text[64];
};

/* "{1,0}", as XLA writes a dense layout. */
static PJRT_Layouts_MemoryLayout *layout_new(size_t rank)
{
    PJRT_Layouts_MemoryLayout *layout = fake_new(FAKE_layout, sizeof(*layout));
    size_t at = 1;

    layout->text[0] = '{';
    for (size_t i = rank; i-- > 0 && at < sizeof(layout->text) - 8;)
        at += (size_t)snprintf(layout->text + at, sizeof(layout->text) - at, i ? "%zu," : "%zu", i);
    snprintf(layout->text + at, sizeof(layout->text) - at, "}");
    return layout;
}

static PJRT_Error *layout_destroy(PJRT_Layouts_MemoryLayout_Destroy_Args *args)
{
    fake_free(FAKE_layout, args->layout);
    return NULL;
}

static void keep(PJRT_Layouts_SerializedLayout *serialized)
{
    (void)serialized; /* the text is the layout's */
}

static PJRT_Error *layout_serialize(PJRT_Layouts_MemoryLayout_Serialize_Args *args)
{
    args->serialized_bytes = args->layout->text;
    args->serialized_bytes_size = strlen(args->layout->text);
    args->serialized_layout = NULL;
    args->serialized_layout_deleter = keep;
    return NULL;
}

static PJRT_Error *client_layout(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args *args)
{
    args->layout = layout_new(args->num_dims);
    return NULL;
}

static PJRT_Error *topology_layout(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args *args)
{
    args->layout = layout_new(args->num_dims);
    return NULL;
}

static PJRT_Error *buffer_layout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *args)
{
    args->layout = layout_new(args->buffer->shape.rank);
    return NULL;
}

/* The list is the executable's, the layouts in it are the caller's. */
static PJRT_Layouts_MemoryLayout **layout_list(PJRT_Layouts_MemoryLayout ***list,
                                               const struct fake_shape *shapes, size_t count)
{
    if (!*list)
        *list = calloc(count + 1, sizeof(**list));
    for (size_t i = 0; i < count; i++)
        (*list)[i] = layout_new(shapes[i].rank);
    return *list;
}

static PJRT_Error *output_layouts(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args *args)
{
    const struct fake_program *program = args->executable->program;

    args->num_outputs = program->num_outputs;
    args->layouts =
        layout_list(&args->executable->output_layouts, program->outputs, program->num_outputs);
    return NULL;
}

static PJRT_Error *parameter_layouts(PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args *args)
{
    const struct fake_program *program = args->executable->program;

    args->num_parameters = program->num_params;
    args->layouts =
        layout_list(&args->executable->param_layouts, program->params, program->num_params);
    return NULL;
}

static const char device_kind[] = "device";

static PJRT_Error *memory_descriptions(PJRT_DeviceDescription_MemoryDescriptions_Args *args)
{
    static const PJRT_MemoryDescription *const list[] = {
        (const PJRT_MemoryDescription *)device_kind};

    args->memory_descriptions = list;
    args->num_memory_descriptions = 1;
    args->default_memory_index = 0;
    return NULL;
}

static PJRT_Error *memory_kind(PJRT_MemoryDescription_Kind_Args *args)
{
    args->kind = device_kind;
    args->kind_size = strlen(device_kind);
    args->kind_id = 1;
    return NULL;
}

static PJRT_MemoryDescriptions_Extension memories = {
    .base = {PJRT_MemoryDescriptions_Extension_STRUCT_SIZE, PJRT_Extension_Type_MemoryDescriptions,
             NULL},
    .PJRT_DeviceDescription_MemoryDescriptions = memory_descriptions,
    .PJRT_MemoryDescription_Kind = memory_kind,
};

static PJRT_Layouts_Extension layouts = {
    .base = {PJRT_Layouts_Extension_STRUCT_SIZE, PJRT_Extension_Type_Layouts, &memories.base},
    .PJRT_Layouts_MemoryLayout_Destroy = layout_destroy,
    .PJRT_Layouts_MemoryLayout_Serialize = layout_serialize,
    .PJRT_Layouts_PJRT_Client_GetDefaultLayout = client_layout,
    .PJRT_Layouts_PJRT_Buffer_MemoryLayout = buffer_layout,
    .PJRT_Layouts_PJRT_Topology_GetDefaultLayout = topology_layout,
    .PJRT_Layouts_PJRT_Executable_GetOutputLayouts = output_layouts,
    .PJRT_Layouts_PJRT_Executable_GetParameterLayouts = parameter_layouts,
};

/* Of a type from the future, with a body whose meaning nobody here knows. */
static struct {
    PJRT_Extension_Base base;
    unsigned char body[40];
} unknown = {.base = {sizeof(unknown), (PJRT_Extension_Type)4711, &layouts.base}, .body = "future"};

PJRT_Extension_Base *fake_extensions(void)
{
#ifdef FAKE_LONGER
    return &unknown.base;
#else
    (void)unknown;
    return &layouts.base;
#endif
}
