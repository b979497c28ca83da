/* Compile: bytes → program → plan, and what frameworks query about the result. */
#include "backend/api/cpu_api.h"

#include "backend/sharding.h"
#include "base/mem.h"
#include "base/reader.h"
#include "decode/decode.h"

#include <stdio.h>

static char *copy_bytes(const char *bytes, size_t size)
{
    char *p = stet_mem_alloc(size);

    if (p && size)
        memcpy(p, bytes, size);
    return p;
}

void stet_cpu_code_unref(struct stet_cpu_code *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    stet_cpu_fallback_release(c);
    if (c->plan)
        stet_plan_free(c->plan);
    if (c->program.module)
        stet_program_release(&c->program);
    stet_mem_free(c->bytes);
    stet_mem_free(c->options);
    stet_mem_free(c->assignment.ids);
    stet_mem_free(c->output_types);
    stet_mem_free(c->output_dims);
    stet_mem_free(c->output_ranks);
    stet_mem_free(c->memories);
    stet_mem_free(c->memory_kinds);
    stet_mem_free(c->memory_kind_sizes);
    stet_buf_release(&c->optimized);
    stet_buf_release(&c->assignment_proto);
    stet_buf_release(&c->sharding_bytes);
    stet_mem_free(c->shardings);
    stet_mem_free(c->sharding_sizes);
    pthread_mutex_destroy(&c->optimized_lock);
    stet_mem_free(c);
}

struct stet_cpu_code *stet_cpu_code_ref(struct stet_cpu_code *c)
{
    atomic_fetch_add(&c->refs, 1);
    return c;
}

/* The memory space of an argument or result. */
static uint8_t memory_in(const struct stet_attr *attrs)
{
    const struct stet_attr *a = attrs ? stet_attr_field(attrs, "mhlo.memory_kind") : NULL;
    bool host = a && a->kind == STET_ATTR_STRING && stet_view_is(stet_attr_text(a), "pinned_host");

    return host ? STET_HOST_MEMORY : STET_DEVICE_MEMORY;
}

static bool make_memories(struct stet_cpu_code *c)
{
    size_t outputs = c->outputs, inputs = c->inputs, n = outputs + inputs;

    c->memories = stet_mem_calloc(n, sizeof *c->memories);
    c->memory_kinds = stet_mem_calloc(n, sizeof *c->memory_kinds);
    c->memory_kind_sizes = stet_mem_calloc(n, sizeof *c->memory_kind_sizes);
    if (!c->memories || !c->memory_kinds || !c->memory_kind_sizes)
        return false;
    /* a tuple has no attributes for its elements */
    for (size_t i = 0; i < outputs && outputs == c->program.output_count; i++)
        c->memories[i] = memory_in(c->program.outputs[i].attrs);
    for (size_t i = 0; i < inputs && inputs == c->program.argument_count; i++)
        c->memories[outputs + i] = memory_in(c->program.arguments[i].attrs);
    for (size_t i = 0; i < n; i++) {
        c->memory_kinds[i] = stet_cpu_memory_kinds[c->memories[i]];
        c->memory_kind_sizes[i] = strlen(c->memory_kinds[i]);
    }
    return true;
}

static bool make_shardings(struct stet_cpu_code *c)
{
    size_t n = (size_t)c->outputs + c->inputs, at = 0;

    if (!c->info->output_shardings || !c->outputs) /* JAX reads no list of none */
        return true;
    c->shardings = stet_mem_calloc(n + 1, sizeof *c->shardings);
    c->sharding_sizes = stet_mem_calloc(n + 1, sizeof *c->sharding_sizes);
    if (!c->shardings || !c->sharding_sizes)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct stet_sharding *s = i < c->outputs ? &c->info->output_shardings[i]
                                                       : &c->info->input_shardings[i - c->outputs];

        stet_sharding_write(&c->sharding_bytes, s, c->assignment.count);
        c->sharding_sizes[i] = c->sharding_bytes.len - at;
        at = c->sharding_bytes.len;
    }
    for (size_t i = 0, from = 0; i < n && !c->sharding_bytes.failed; i++) {
        c->shardings[i] = c->sharding_bytes.ptr + from;
        from += c->sharding_sizes[i];
    }
    return !c->sharding_bytes.failed;
}

/* Under the names that XLA uses. */
static void make_cost(struct stet_cpu_code *c)
{
    const struct stet_plan_cost *cost = &c->info->cost;
    const struct {
        const char *name;
        double value;
    } values[] = {{"flops", cost->flops},
                  {"transcendentals", cost->transcendentals},
                  {"bytes accessed", cost->bytes}};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        c->cost[i] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                       .name = values[i].name,
                                       .name_size = strlen(values[i].name),
                                       .type = PJRT_NamedValue_kFloat,
                                       .float_value = (float)values[i].value,
                                       .value_size = 1};
}

/* The lists that the interface returns pointers into. */
static bool make_lists(struct stet_cpu_code *c)
{
    const struct stet_plan_info *info = c->info;
    size_t n = c->outputs, dims = 0;

    for (size_t i = 0; i < n; i++)
        dims += info->outputs[i].rank;
    c->output_types = stet_mem_calloc(n, sizeof *c->output_types);
    c->output_ranks = stet_mem_calloc(n, sizeof *c->output_ranks);
    c->output_dims = stet_mem_calloc(dims, sizeof *c->output_dims);
    if (!c->output_types || !c->output_ranks || !c->output_dims || !make_memories(c) ||
        !make_shardings(c))
        return false;
    for (size_t i = 0, at = 0; i < n; i++) {
        const struct stet_shape *s = &info->outputs[i];

        c->output_types[i] = stet_dtype_to_pjrt(s->dtype);
        c->output_ranks[i] = s->rank;
        memcpy(c->output_dims + at, s->dims, s->rank * sizeof *s->dims);
        at += s->rank;
    }
    make_cost(c);
    return true;
}

static void fingerprint(struct stet_cpu_code *c)
{
    struct stet_hash h = stet_hash_bytes(stet_view_of(c->bytes, c->size));

    c->bytes_hash = h;
    h = stet_hash_mix(h, stet_hash_bytes(stet_view_str(stet_cpu_version)));
    if (c->assignment.count > 1)
        h = stet_hash_mix(h, stet_hash_bytes(stet_buf_as_view(&c->assignment_proto)));
    stet_hash_format(h, c->fingerprint);
}

/* DeviceAssignmentProto: replica_count, computation_count, the replicas of each computation. */
static void put_assignment(struct stet_buf *b, const struct stet_cpu_assignment *a)
{
    stet_buf_char(b, 1 << 3);
    stet_buf_varint(b, a->replicas);
    stet_buf_char(b, 2 << 3);
    stet_buf_varint(b, a->partitions);
    for (uint32_t p = 0; p < a->partitions; p++) {
        struct stet_buf ids = STET_BUF_INIT, list = STET_BUF_INIT;

        for (uint32_t r = 0; r < a->replicas; r++)
            stet_buf_varint(&ids, (uint64_t)a->ids[r * a->partitions + p]);
        stet_buf_char(&list, 1 << 3 | 2);
        stet_buf_varint(&list, ids.len);
        stet_buf_view(&list, stet_buf_as_view(&ids));
        stet_buf_char(b, 3 << 3 | 2);
        stet_buf_varint(b, list.len);
        stet_buf_view(b, stet_buf_as_view(&list));
        b->failed |= ids.failed || list.failed;
        stet_buf_release(&ids);
        stet_buf_release(&list);
    }
}

static enum stet_rc plan(struct stet_cpu_code *c, struct stet_err *err)
{
    struct stet_plan_devices on = {c->assignment.replicas, c->assignment.partitions, NULL};
    enum stet_rc rc = stet_decode(&c->program, stet_view_of(c->bytes, c->size), err);
    struct stet_arena answers;

    if (rc != STET_OK)
        return rc;
    c->meets = stet_program_meets(&c->program);
    c->zeros = stet_zeros_wanted();
    stet_arena_init(&answers, (size_t)1 << 28);
    on.results = stet_oracle_shardings(c, &answers);
    rc = (c->zeros ? stet_plan_new_border : stet_plan_new_on)(&c->plan, &c->program, &on, err);
    stet_arena_release(&answers);
    return rc;
}

/* The border of a program that could not be planned, for another client. */
static bool plan_border(struct stet_cpu_code *c, enum stet_rc rc)
{
    struct stet_plan_devices on = {c->assignment.replicas, c->assignment.partitions};

    return rc != STET_NO_MEMORY && c->program.module && stet_cpu_fallback_exists() &&
           stet_plan_new_border(&c->plan, &c->program, &on, NULL) == STET_OK;
}

PJRT_Error *stet_cpu_code_new(struct stet_cpu_code **out, const char *bytes, size_t size,
                              const char *format, size_t format_size, const char *options,
                              size_t options_size)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_cpu_code *c = stet_mem_calloc(1, sizeof *c);
    PJRT_Error *error;
    enum stet_rc rc;

    if (!c)
        return stet_cpu_api_no_memory();
    atomic_init(&c->refs, 1);
    pthread_mutex_init(&c->optimized_lock, NULL);
    error = stet_cpu_options_read(stet_view_of(options, options_size), &c->assignment);
    if (error) {
        stet_cpu_code_unref(c);
        return error;
    }
    c->bytes = copy_bytes(bytes, size);
    c->options = copy_bytes(options, options_size);
    c->size = size;
    c->options_size = options_size;
    put_assignment(&c->assignment_proto, &c->assignment);
    snprintf(c->format, sizeof c->format, "%.*s", (int)format_size, format_size ? format : "");
    if (!c->bytes || !c->options || c->assignment_proto.failed) {
        stet_cpu_code_unref(c);
        return stet_cpu_api_no_memory();
    }
    rc = plan(c, &err);
    if (rc != STET_OK && !plan_border(c, rc)) {
        /* Includes the module's name, because many are compiled, and an operation may have no
         * line. */
        error = stet_cpu_api_error(
            c->program.module ? stet_op_symbol(c->program.module) : (struct stet_view){0}, &err);
        stet_cpu_code_unref(c);
        return error;
    }
    c->info = stet_plan_info(c->plan);
    c->inputs = c->info->input_count / c->assignment.count;
    c->outputs = c->info->output_count / c->assignment.count;
    snprintf(c->name, sizeof c->name, "%.*s", STET_FMT(c->info->name));
    if (rc != STET_OK && (error = stet_cpu_fallback_compile(c, err.text))) {
        stet_cpu_code_unref(c);
        return error;
    }
    fingerprint(c);
    if (!make_lists(c)) {
        stet_cpu_code_unref(c);
        return stet_cpu_api_no_memory();
    }
    *out = c;
    return NULL;
}

/* ---- executables ---- */

PJRT_Error *stet_cpu_code_executable(struct stet_cpu_code *code, PJRT_Executable **out)
{
    *out = stet_mem_calloc(1, sizeof **out);
    if (!*out) {
        stet_cpu_code_unref(code);
        return stet_cpu_api_no_memory();
    }
    (*out)->code = code;
    return NULL;
}

PJRT_Error *cpu_PJRT_Client_Compile(PJRT_Client_Compile_Args *args)
{
    const PJRT_Program *p = args->program;
    struct stet_cpu_code *code;
    PJRT_Error *error = stet_cpu_code_new(&code, p->code, p->code_size, p->format, p->format_size,
                                          args->compile_options, args->compile_options_size);

    return error ? error : stet_backend_loaded_adopt(code, args->client, &args->executable);
}

PJRT_Error *cpu_PJRT_Compile(PJRT_Compile_Args *args)
{
    const PJRT_Program *p = args->program;
    struct stet_cpu_code *code;
    PJRT_Error *error = stet_cpu_code_new(&code, p->code, p->code_size, p->format, p->format_size,
                                          args->compile_options, args->compile_options_size);

    return error ? error : stet_cpu_code_executable(code, &args->executable);
}

PJRT_Error *cpu_PJRT_Client_Load(PJRT_Client_Load_Args *args)
{
    return stet_backend_loaded_adopt(stet_cpu_code_ref(args->executable->code), args->client,
                                     &args->loaded_executable);
}

PJRT_Error *cpu_PJRT_Executable_Destroy(PJRT_Executable_Destroy_Args *args)
{
    struct stet_layouts *l, *next;

    if (!args->executable)
        return NULL;
    for (l = atomic_load(&args->executable->layouts); l; l = next) {
        next = l->next;
        stet_mem_free(l);
    }
    stet_cpu_code_unref(args->executable->code);
    stet_mem_free(args->executable);
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_Name(PJRT_Executable_Name_Args *args)
{
    STET_TEXT(args, executable_name, args->executable->code->name);
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_NumReplicas(PJRT_Executable_NumReplicas_Args *args)
{
    args->num_replicas = args->executable->code->assignment.replicas;
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_NumPartitions(PJRT_Executable_NumPartitions_Args *args)
{
    args->num_partitions = args->executable->code->assignment.partitions;
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args)
{
    args->num_outputs = args->executable->code->outputs;
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_SizeOfGeneratedCodeInBytes(
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *args)
{
    args->size_in_bytes = (int64_t)args->executable->code->info->code_bytes;
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args *args)
{
    args->properties = args->executable->code->cost;
    args->num_properties = sizeof args->executable->code->cost / sizeof(PJRT_NamedValue);
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_OutputMemoryKinds(PJRT_Executable_OutputMemoryKinds_Args *args)
{
    args->num_outputs = args->executable->code->outputs;
    args->memory_kinds = args->executable->code->memory_kinds;
    args->memory_kind_sizes = args->executable->code->memory_kind_sizes;
    return NULL;
}

PJRT_Error *
cpu_PJRT_Executable_ParameterMemoryKinds(PJRT_Executable_ParameterMemoryKinds_Args *args)
{
    const struct stet_cpu_code *code = args->executable->code;

    args->num_parameters = code->inputs;
    args->memory_kinds = code->memory_kinds + code->outputs;
    args->memory_kind_sizes = code->memory_kind_sizes + code->outputs;
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_OutputElementTypes(PJRT_Executable_OutputElementTypes_Args *args)
{
    args->output_types = args->executable->code->output_types;
    args->num_output_types = args->executable->code->outputs;
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_OutputDimensions(PJRT_Executable_OutputDimensions_Args *args)
{
    args->num_outputs = args->executable->code->outputs;
    args->dims = args->executable->code->output_dims;
    args->dim_sizes = args->executable->code->output_ranks;
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args)
{
    STET_TEXT(args, executable_fingerprint, args->executable->code->fingerprint);
    return NULL;
}

static int64_t total_bytes(const struct stet_shape *shapes, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += shapes[i].bytes;
    return (int64_t)sum;
}

PJRT_Error *
cpu_PJRT_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args *args)
{
    const struct stet_cpu_code *code = args->executable->code;
    const struct stet_plan_info *info = code->info;
    uint64_t aliased = 0;

    /* The sizes are those of one device, as for any plugin. Temporaries are in the memory of the
     * program's first device. */
    for (uint32_t i = 0; i < code->outputs; i++) {
        if (info->output_alias[i] >= 0)
            aliased += info->outputs[i].bytes;
    }
    args->generated_code_size_in_bytes = (int64_t)info->code_bytes;
    args->argument_size_in_bytes = total_bytes(info->inputs, code->inputs);
    args->output_size_in_bytes = total_bytes(info->outputs, code->outputs);
    args->alias_size_in_bytes = (int64_t)aliased;
    args->temp_size_in_bytes = (int64_t)info->scratch_bytes;
    if (STET_HAS(args, host_temp_size_in_bytes))
        args->host_generated_code_size_in_bytes = args->host_argument_size_in_bytes =
            args->host_output_size_in_bytes = args->host_alias_size_in_bytes =
                args->host_temp_size_in_bytes = 0;
    if (STET_HAS(args, peak_memory_in_bytes))
        args->peak_memory_in_bytes = args->argument_size_in_bytes + args->output_size_in_bytes -
                                     args->alias_size_in_bytes + args->temp_size_in_bytes;
    if (STET_HAS(args, total_size_in_bytes))
        args->total_size_in_bytes = args->peak_memory_in_bytes;
    if (STET_HAS(args, peak_unpadded_heap_bytes))
        args->total_allocation_bytes = args->indefinite_allocations =
            args->peak_unpadded_heap_bytes = 0;
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args *args)
{
    struct stet_cpu_code *c = args->executable->code;
    static const char format[] = "hlo_with_config";

    pthread_mutex_lock(&c->optimized_lock);
    if (!c->optimized.len)
        stet_cpu_api_write_hlo(&c->optimized, c);
    pthread_mutex_unlock(&c->optimized_lock);
    if (c->optimized.failed)
        return stet_cpu_api_no_memory();
    args->program->format = format;
    args->program->format_size = sizeof format - 1;
    if (!args->program->code) {
        args->program->code_size = c->optimized.len;
        return NULL;
    }
    if (args->program->code_size < c->optimized.len)
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT, "stet cpu: %zu bytes needed",
                               c->optimized.len);
    memcpy(args->program->code, c->optimized.ptr, c->optimized.len);
    return NULL;
}

/* ---- serialise and load: the program itself, because planning takes no longer than reading
 * ---- */

#define EXECUTABLE_MAGIC "STETCPU1"

static void free_serialized(PJRT_SerializedExecutable *bytes)
{
    stet_mem_free(bytes);
}

PJRT_Error *cpu_PJRT_Executable_Serialize(PJRT_Executable_Serialize_Args *args)
{
    const struct stet_cpu_code *c = args->executable->code;
    struct stet_buf body = STET_BUF_INIT, out = STET_BUF_INIT;
    struct stet_hash h;

    stet_buf_varint(&body, strlen(c->format));
    stet_buf_str(&body, c->format);
    stet_buf_varint(&body, c->size);
    stet_buf_add(&body, c->bytes, c->size);
    stet_buf_varint(&body, c->options_size);
    stet_buf_add(&body, c->options, c->options_size);
    h = stet_hash_bytes(stet_buf_as_view(&body));
    stet_buf_str(&out, EXECUTABLE_MAGIC);
    stet_buf_u64(&out, h.hi);
    stet_buf_u64(&out, h.lo);
    stet_buf_view(&out, stet_buf_as_view(&body));
    stet_buf_release(&body);
    if (out.failed || body.failed) {
        stet_buf_release(&out);
        return stet_cpu_api_no_memory();
    }
    args->serialized_bytes = out.ptr;
    args->serialized_bytes_size = out.len;
    args->serialized_executable = (PJRT_SerializedExecutable *)out.ptr;
    args->serialized_executable_deleter = free_serialized;
    return NULL;
}

PJRT_Error *cpu_PJRT_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args *args)
{
    struct stet_view all =
        stet_view_of(args->serialized_executable, args->serialized_executable_size);
    struct stet_view magic, format, bytes, options;
    struct stet_hash stored, found;
    struct stet_reader r;
    struct stet_cpu_code *code;
    PJRT_Error *error;

    stet_reader_init(&r, all, 0);
    magic = stet_reader_bytes(&r, strlen(EXECUTABLE_MAGIC));
    stored.hi = stet_reader_u64(&r);
    stored.lo = stet_reader_u64(&r);
    found = stet_hash_bytes(stet_view_of(r.next, stet_reader_left(&r)));
    format = stet_reader_bytes(&r, stet_reader_varint(&r));
    bytes = stet_reader_bytes(&r, stet_reader_varint(&r));
    options = stet_reader_bytes(&r, stet_reader_varint(&r));
    if (!stet_reader_ok(&r) || !stet_view_is(magic, EXECUTABLE_MAGIC))
        return stet_pjrt_error(PJRT_Error_Code_INVALID_ARGUMENT,
                               "stet cpu: not an executable of this plugin");
    if (!stet_hash_eq(stored, found))
        return stet_pjrt_error(PJRT_Error_Code_DATA_LOSS,
                               "stet cpu: the serialised executable is damaged");
    error = stet_cpu_code_new(&code, bytes.ptr, bytes.len, format.ptr, format.len, options.ptr,
                              options.len);
    return error ? error : stet_backend_loaded_adopt(code, args->client, &args->loaded_executable);
}

static void keep_options(PJRT_SerializedCompileOptions *options)
{
    (void)options; /* the executable's */
}

PJRT_Error *cpu_PJRT_Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args *args)
{
    args->serialized_bytes = args->executable->code->options;
    args->serialized_bytes_size = args->executable->code->options_size;
    args->serialized_compile_options = NULL;
    args->serialized_compile_options_deleter = keep_options;
    return NULL;
}
