/* Compile, serialise, load, execute. */
#include "fake.h"
#include "fake_hlo.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void take_time(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    if (ms > 0)
        nanosleep(&time, NULL);
}

static void compile_time(void)
{
    const char *until = fake_settings()->compile_until;

    take_time(fake_settings()->compile_ms);
    while (until && access(until, F_OK) != 0)
        take_time(1);
}

/* ---- what C++ calls a function-local static ---- */

/* Made when it is first used, by a compile or a load, and destroyed by exit(3) in the reverse order
 * of making; serialising uses it all the time. */
static pthread_once_t made = PTHREAD_ONCE_INIT;
static atomic_bool destroyed;

static void destroy_static(void)
{
    atomic_store(&destroyed, true);
}

static void make_static(void)
{
    atexit(destroy_static);
}

static void use_static(void)
{
    pthread_once(&made, make_static);
    if (atomic_load(&destroyed)) {
        fprintf(stderr, "fake plugin: a static is used after its destruction\n");
        abort();
    }
}

/* ---- executables ---- */

static PJRT_Executable *executable_new(struct fake_program *adopted)
{
    PJRT_Executable *executable = fake_new(FAKE_executable, sizeof(*executable));

    executable->program = adopted;
    return executable;
}

static PJRT_LoadedExecutable *loaded_new(struct fake_program *adopted, PJRT_Client *client)
{
    PJRT_LoadedExecutable *loaded = fake_new(FAKE_loaded, sizeof(*loaded));

    loaded->program = adopted;
    loaded->client = client;
    return loaded;
}

PJRT_Error *fake_PJRT_Compile(PJRT_Compile_Args *args)
{
    struct fake_program *program;
    PJRT_Error *error =
        fake_program_new(args->program->code, args->program->code_size, args->compile_options,
                         args->compile_options_size, &program);

    compile_time();
    if (!error)
        args->executable = executable_new(program);
    return error;
}

PJRT_Error *fake_PJRT_Client_Compile(PJRT_Client_Compile_Args *args)
{
    struct fake_program *program;
    PJRT_Error *error =
        fake_program_new(args->program->code, args->program->code_size, args->compile_options,
                         args->compile_options_size, &program);

    use_static();
    compile_time();
    if (!error)
        args->executable = loaded_new(program, args->client);
    return error;
}

PJRT_Error *fake_PJRT_Client_Load(PJRT_Client_Load_Args *args)
{
    args->loaded_executable = loaded_new(fake_program_ref(args->executable->program), args->client);
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_Destroy(PJRT_Executable_Destroy_Args *args)
{
    if (args->executable) {
        free(args->executable->param_layouts);
        free(args->executable->output_layouts);
        fake_program_unref(args->executable->program);
    }
    fake_free(FAKE_executable, args->executable);
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_Name(PJRT_Executable_Name_Args *args)
{
    args->executable_name = args->executable->program->name;
    args->executable_name_size = strlen(args->executable_name);
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args *args)
{
    args->num_replicas = 1;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args *args)
{
    args->num_partitions = 1;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args)
{
    args->num_outputs = args->executable->program->num_outputs;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_SizeOfGeneratedCodeInBytes(
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *args)
{
    args->size_in_bytes = (int64_t)args->executable->program->code_size;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args *args)
{
    static const PJRT_NamedValue flops = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                          .name = "flops",
                                          .name_size = 5,
                                          .type = PJRT_NamedValue_kFloat,
                                          .float_value = 1,
                                          .value_size = 1};

    args->properties = &flops;
    args->num_properties = 1;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args *args)
{
    args->num_outputs = args->executable->program->num_outputs;
    args->memory_kinds = args->executable->program->memory_kinds;
    args->memory_kind_sizes = args->executable->program->memory_kind_sizes;
    return NULL;
}

PJRT_Error *
fake_PJRT_Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args *args)
{
    args->num_parameters = args->executable->program->num_params;
    args->memory_kinds = args->executable->program->memory_kinds;
    args->memory_kind_sizes = args->executable->program->memory_kind_sizes;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args *args)
{
    args->output_types = args->executable->program->output_types;
    args->num_output_types = args->executable->program->num_outputs;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args *args)
{
    args->num_outputs = args->executable->program->num_outputs;
    args->dims = args->executable->program->output_dims;
    args->dim_sizes = args->executable->program->output_ranks;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args)
{
    args->executable_fingerprint = args->executable->program->fingerprint;
    args->executable_fingerprint_size = strlen(args->executable_fingerprint);
    return NULL;
}

static int64_t bytes_of(const struct fake_shape *shapes, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += fake_shape_bytes(&shapes[i]);
    return (int64_t)size;
}

/* FAKE_STATS_AFTER_MAKER: other threads wait for the first question of the thread that compiled,
 * which gets `*first`. A caller of the plugin can ask only after its compile has returned. */
static bool wait_for_maker(struct fake_program *program, bool *first)
{
    if (pthread_equal(pthread_self(), program->maker))
        *first = !atomic_exchange(&program->maker_asked, true);
    for (int ms = 0; fake_settings()->stats_after_maker && !atomic_load(&program->maker_asked);
         ms++) {
        if (ms == 60000)
            return false;
        take_time(1);
    }
    return true;
}

static int64_t temp_of(const struct fake_program *program)
{
    int64_t times = fake_settings()->temp_times;

    if (program->temporaries)
        return program->temporaries;
    return times ? times * bytes_of(program->params, program->num_params) : 64;
}

PJRT_Error *
fake_PJRT_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args *args)
{
    struct fake_program *program = args->executable->program;
    bool first = false;

    if (!wait_for_maker(program, &first))
        return fake_error(PJRT_Error_Code_DEADLINE_EXCEEDED, "the compile has not returned");
    take_time(fake_settings()->stats_ms);
    args->generated_code_size_in_bytes = (int64_t)program->code_size;
    args->argument_size_in_bytes = bytes_of(program->params, program->num_params);
    args->output_size_in_bytes = bytes_of(program->outputs, program->num_outputs);
    args->alias_size_in_bytes = 0;
    args->temp_size_in_bytes = fake_settings()->stats_after_maker && first ? 65 : temp_of(program);
    if (KNOWS(args, host_temp_size_in_bytes, 43))
        args->host_generated_code_size_in_bytes = args->host_argument_size_in_bytes =
            args->host_output_size_in_bytes = args->host_alias_size_in_bytes =
                args->host_temp_size_in_bytes = 0;
    if (KNOWS(args, peak_memory_in_bytes, 72))
        args->peak_memory_in_bytes =
            args->argument_size_in_bytes + args->output_size_in_bytes + args->temp_size_in_bytes;
    if (KNOWS(args, total_size_in_bytes, 90))
        args->total_size_in_bytes = args->peak_memory_in_bytes;
    if (KNOWS(args, peak_unpadded_heap_bytes, 104))
        args->total_allocation_bytes = args->indefinite_allocations =
            args->peak_unpadded_heap_bytes = 0;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args *args)
{
    static const char format[] = "hlo_with_config";
    size_t size = fake_hlo_write(args->executable->program, NULL);

    args->program->format = format;
    args->program->format_size = sizeof(format) - 1;
    if (!args->program->code) {
        args->program->code_size = size;
        return NULL;
    }
    if (args->program->code_size < size)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "%zu bytes needed", size);
    fake_hlo_write(args->executable->program, (unsigned char *)args->program->code);
    return NULL;
}

/* ---- serialise and load ---- */

static const char magic[8] = {'F', 'A', 'K', 'E', 'E', 'X', 'E', '1'};

struct header {
    char magic[8];
    uint64_t code_size, options_size;
};

static void free_executable_bytes(PJRT_SerializedExecutable *bytes)
{
    fake_free(FAKE_serialized, bytes);
}

PJRT_Error *fake_PJRT_Executable_Serialize(PJRT_Executable_Serialize_Args *args)
{
    const struct fake_program *program = args->executable->program;
    struct header header = {.code_size = program->code_size, .options_size = program->options_size};
    size_t size = sizeof(header) + program->code_size + program->options_size;
    char *bytes = fake_new(FAKE_serialized, size);

    take_time(fake_settings()->serialize_ms);
    use_static();
    memcpy(header.magic, magic, sizeof(magic));
    memcpy(bytes, &header, sizeof(header));
    memcpy(bytes + sizeof(header), program->code, program->code_size);
    memcpy(bytes + sizeof(header) + program->code_size, program->options, program->options_size);
    args->serialized_bytes = bytes;
    args->serialized_bytes_size = size;
    args->serialized_executable = (PJRT_SerializedExecutable *)bytes;
    args->serialized_executable_deleter = free_executable_bytes;
    return NULL;
}

PJRT_Error *fake_PJRT_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args *args)
{
    struct header header;
    struct fake_program *program;
    const char *code = args->serialized_executable + sizeof(header);
    PJRT_Error *error;

    take_time(fake_settings()->load_ms);
    use_static();
    if (args->serialized_executable_size >= sizeof(header))
        memcpy(&header, args->serialized_executable, sizeof(header));
    if (args->serialized_executable_size < sizeof(header) ||
        memcmp(header.magic, magic, sizeof(magic)) != 0 ||
        header.code_size > args->serialized_executable_size ||
        header.options_size > args->serialized_executable_size ||
        sizeof(header) + header.code_size + header.options_size != args->serialized_executable_size)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "not an executable of this plugin");
    error = fake_program_new(code, header.code_size, code + header.code_size, header.options_size,
                             &program);
    if (!error)
        args->loaded_executable = loaded_new(program, args->client);
    return error;
}

static void free_options(PJRT_SerializedCompileOptions *options)
{
    fake_free(FAKE_serialized, options);
}

PJRT_Error *fake_PJRT_Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args *args)
{
    const struct fake_program *program = args->executable->program;
    char *bytes = fake_new(FAKE_serialized, program->options_size + 1);

    memcpy(bytes, program->options, program->options_size);
    args->serialized_bytes = bytes;
    args->serialized_bytes_size = program->options_size;
    args->serialized_compile_options = (PJRT_SerializedCompileOptions *)bytes;
    args->serialized_compile_options_deleter = free_options;
    return NULL;
}

/* ---- loaded executables ---- */

PJRT_Error *fake_PJRT_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args *args)
{
    if (args->executable)
        fake_program_unref(args->executable->program);
    fake_free(FAKE_loaded, args->executable);
    return NULL;
}

PJRT_Error *fake_PJRT_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args *args)
{
    args->executable = executable_new(fake_program_ref(args->loaded_executable->program));
    return NULL;
}

PJRT_Error *
fake_PJRT_LoadedExecutable_AddressableDevices(PJRT_LoadedExecutable_AddressableDevices_Args *args)
{
    args->addressable_devices = args->executable->client->device_list;
    args->num_addressable_devices = 1;
    return NULL;
}

PJRT_Error *fake_PJRT_LoadedExecutable_AddressableDeviceLogicalIds(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args *args)
{
    args->addressable_device_logical_ids = args->executable->logical;
    args->num_addressable_device_logical_ids = 1;
    return NULL;
}

static void keep_assignment(PJRT_DeviceAssignmentSerialized *assignment)
{
    (void)assignment; /* static */
}

/* DeviceAssignmentProto: one replica, one computation, device 0. */
PJRT_Error *
fake_PJRT_LoadedExecutable_GetDeviceAssignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args *args)
{
    static const char proto[] = {0x08, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, 0};

    args->serialized_bytes = proto;
    args->serialized_bytes_size = sizeof(proto);
    args->serialized_device_assignment = NULL;
    args->serialized_device_assignment_deleter = keep_assignment;
    return NULL;
}

PJRT_Error *fake_PJRT_LoadedExecutable_Delete(PJRT_LoadedExecutable_Delete_Args *args)
{
    atomic_store(&args->executable->deleted, true);
    return NULL;
}

PJRT_Error *fake_PJRT_LoadedExecutable_IsDeleted(PJRT_LoadedExecutable_IsDeleted_Args *args)
{
    args->is_deleted = atomic_load(&args->executable->deleted);
    return NULL;
}

PJRT_Error *fake_PJRT_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args *args)
{
    args->executable_fingerprint = args->executable->program->fingerprint;
    args->executable_fingerprint_size = strlen(args->executable_fingerprint);
    return NULL;
}

PJRT_Error *fake_PJRT_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    const struct fake_program *program = args->executable->program;

    if (atomic_load_explicit(&args->executable->deleted, memory_order_relaxed))
        return fake_error(PJRT_Error_Code_FAILED_PRECONDITION, "executable was deleted");
    for (size_t d = 0; d < args->num_devices; d++) {
        for (size_t i = 0; i < args->num_args; i++)
            if (atomic_load(&args->argument_lists[d][i]->deleted))
                return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "argument %zu was deleted", i);
    }
    for (size_t d = 0; d < args->num_devices; d++) {
        PJRT_Device *device =
            args->execute_device ? args->execute_device : args->executable->client->device_list[d];

        for (size_t i = 0; i < program->num_outputs; i++) {
            PJRT_Buffer *out = fake_buffer_new(&program->outputs[i], device);

            fake_program_run(program, i, args->num_args ? args->argument_lists[d] : NULL,
                             args->num_args, out->data, out->size);
            out->failed = fake_settings()->memory && temp_of(program) > fake_settings()->memory;
            args->output_lists[d][i] = out;
        }
        if (args->device_complete_events)
            args->device_complete_events[d] = fake_event_ready();
    }
    return NULL;
}

PJRT_Error *fake_PJRT_ExecuteContext_Create(PJRT_ExecuteContext_Create_Args *args)
{
    args->context = fake_new(FAKE_context, 1);
    return NULL;
}

PJRT_Error *fake_PJRT_ExecuteContext_Destroy(PJRT_ExecuteContext_Destroy_Args *args)
{
    fake_free(FAKE_context, args->context);
    return NULL;
}
