/* Extensions: Layouts (everything is dense, major to minor), Shardings and MemoryDescriptions. */
#include "backend/api/cpu_api.h"

#include "abi/pjrt_ext.h"
#include "base/mem.h"

#include <stdio.h>

struct PJRT_Layouts_MemoryLayout {
    char text[4 * STET_MAX_RANK + 8];
};

/* "{1,0}", as XLA writes a dense layout. */
static PJRT_Layouts_MemoryLayout *layout_new(size_t rank)
{
    PJRT_Layouts_MemoryLayout *layout = stet_mem_calloc(1, sizeof *layout);
    size_t at = 0;

    if (!layout || rank > STET_MAX_RANK) {
        stet_mem_free(layout);
        return NULL;
    }
    layout->text[at++] = '{';
    for (size_t i = rank; i-- > 0;)
        at += (size_t)snprintf(layout->text + at, sizeof layout->text - at, i ? "%zu," : "%zu", i);
    layout->text[at] = '}';
    return layout;
}

static PJRT_Error *answer(PJRT_Layouts_MemoryLayout **out, size_t rank)
{
    *out = layout_new(rank);
    return *out ? NULL : stet_cpu_api_no_memory();
}

static PJRT_Error *layout_destroy(PJRT_Layouts_MemoryLayout_Destroy_Args *args)
{
    stet_mem_free(args->layout);
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
    return answer(&args->layout, args->num_dims);
}

static PJRT_Error *topology_layout(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args *args)
{
    return answer(&args->layout, args->num_dims);
}

static PJRT_Error *buffer_layout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *args)
{
    return answer(&args->layout, args->buffer->shape.rank);
}

/* The list is valid as long as the executable, but the caller destroys the layouts in it. Each
 * caller gets its own list, because several may ask at once. */
static PJRT_Error *list(PJRT_Executable *executable, const struct stet_shape *shapes, size_t count,
                        PJRT_Layouts_MemoryLayout ***out)
{
    struct stet_layouts *l = stet_mem_calloc(1, sizeof *l + count * sizeof *l->at);

    if (!l)
        return stet_cpu_api_no_memory();
    for (size_t i = 0; i < count; i++) {
        l->at[i] = layout_new(shapes[i].rank);
        if (!l->at[i]) {
            while (i-- > 0)
                stet_mem_free(l->at[i]);
            stet_mem_free(l);
            return stet_cpu_api_no_memory();
        }
    }
    l->next = atomic_load(&executable->layouts);
    while (!atomic_compare_exchange_weak(&executable->layouts, &l->next, l))
        ;
    *out = l->at;
    return NULL;
}

static PJRT_Error *output_layouts(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args *args)
{
    const struct stet_cpu_code *code = args->executable->code;

    args->num_outputs = code->outputs;
    return list(args->executable, code->info->outputs, code->outputs, &args->layouts);
}

static PJRT_Error *parameter_layouts(PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args *args)
{
    const struct stet_cpu_code *code = args->executable->code;

    args->num_parameters = code->inputs;
    return list(args->executable, code->info->inputs, code->inputs, &args->layouts);
}

static PJRT_Error *memory_descriptions(PJRT_DeviceDescription_MemoryDescriptions_Args *args)
{
    static const PJRT_MemoryDescription *const all[STET_MEMORIES] = {
        (const PJRT_MemoryDescription *)&stet_cpu_memory_kinds[STET_DEVICE_MEMORY],
        (const PJRT_MemoryDescription *)&stet_cpu_memory_kinds[STET_HOST_MEMORY]};

    args->memory_descriptions = all;
    args->num_memory_descriptions = STET_MEMORIES;
    args->default_memory_index = STET_DEVICE_MEMORY;
    return NULL;
}

static PJRT_Error *memory_kind(PJRT_MemoryDescription_Kind_Args *args)
{
    const char *const *kind = (const char *const *)args->memory_description;

    STET_TEXT(args, kind, *kind);
    args->kind_id = (int)(kind - stet_cpu_memory_kinds) + 1;
    return NULL;
}

/* One device has everything whole, and no lists. Reporting this here saves JAX from reading
 * OptimizedProgram in each compile. */
static PJRT_Error *parameter_shardings(PJRT_Shardings_PJRT_Executable_ParameterShardings_Args *args)
{
    const struct stet_cpu_code *code = args->executable->code;

    args->num_parameters = code->inputs;
    args->shardings = code->shardings ? code->shardings + code->outputs : NULL;
    args->sharding_sizes = code->shardings ? code->sharding_sizes + code->outputs : NULL;
    return NULL;
}

static PJRT_Error *output_shardings(PJRT_Shardings_PJRT_Executable_OutputShardings_Args *args)
{
    const struct stet_cpu_code *code = args->executable->code;

    args->num_outputs = code->outputs;
    args->shardings = code->shardings;
    args->sharding_sizes = code->sharding_sizes;
    return NULL;
}

static PJRT_MemoryDescriptions_Extension memories = {
    .base = {PJRT_MemoryDescriptions_Extension_STRUCT_SIZE, PJRT_Extension_Type_MemoryDescriptions,
             NULL},
    .PJRT_DeviceDescription_MemoryDescriptions = memory_descriptions,
    .PJRT_MemoryDescription_Kind = memory_kind,
};

static PJRT_Shardings_Extension shardings = {
    .base = {PJRT_Shardings_Extension_STRUCT_SIZE, PJRT_Extension_Type_Shardings, &memories.base},
    .PJRT_Shardings_PJRT_Executable_ParameterShardings = parameter_shardings,
    .PJRT_Shardings_PJRT_Executable_OutputShardings = output_shardings,
};

static PJRT_Layouts_Extension layouts = {
    .base = {PJRT_Layouts_Extension_STRUCT_SIZE, PJRT_Extension_Type_Layouts, &shardings.base},
    .PJRT_Layouts_MemoryLayout_Destroy = layout_destroy,
    .PJRT_Layouts_MemoryLayout_Serialize = layout_serialize,
    .PJRT_Layouts_PJRT_Client_GetDefaultLayout = client_layout,
    .PJRT_Layouts_PJRT_Buffer_MemoryLayout = buffer_layout,
    .PJRT_Layouts_PJRT_Topology_GetDefaultLayout = topology_layout,
    .PJRT_Layouts_PJRT_Executable_GetOutputLayouts = output_layouts,
    .PJRT_Layouts_PJRT_Executable_GetParameterLayouts = parameter_layouts,
};

PJRT_Extension_Base *stet_cpu_api_extensions(void)
{
    memories.base.next = stet_cpu_api_own_extension();
    return &layouts.base;
}
