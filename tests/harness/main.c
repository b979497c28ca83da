/* pjrt_harness: does to a plugin what it is told and prints what came of it as JSON. "results"
 * holds what must not depend on who stands between; "plugin" what the fake plugin counted. */
#include "harness.h"

#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 64, OUTPUTS_MAX = 1024, HEX_MAX = 64 };

static const char usage[] =
    "usage: pjrt_harness [options] PLUGIN PROGRAM...\n"
    "  --format NAME       of the programs (mlir)\n"
    "  --options FILE      a serialised CompileOptionsProto\n"
    "  --input TYPE[DIMS]  an argument, f32[2,3] or the like; may be repeated\n"
    "  --execute N         times each program runs (1)\n"
    "  --repeat N          times each program is compiled (1)\n"
    "  --roundtrip         serialise, load back and run that as well\n"
    "  --set NAME=VALUE    a client or topology option, as text\n"
    "  --set-file NAME=F   the same, the text is in a file\n"
    "  --aot NAME          no client: compile for the topology of that name\n"
    "  --setenv AT:N=VALUE set a variable AT a moment: open (the table is there), initialize, "
    "client,\n"
    "                      first (a program is compiled) or each; may be repeated\n"
    "  --shell AT:COMMAND  run a command at such a moment\n"
    "  --keep              destroy nothing at the end, as torch_xla does\n"
    "  --counts PATH       the fake plugin whose counts to print, when PLUGIN is a layer over it\n"
    "HARNESS_UNTIL=ENTRY=N in the environment: compile nothing before the fake plugin saw N "
    "calls\n";

struct job {
    const char *plugin, *format, *counts, *topology;
    const char *inputs[LIST_MAX];
    char *const *programs;         /* in argv */
    const char *moments[LIST_MAX]; /* AT:N=VALUE, or !AT:COMMAND */
    size_t num_programs, num_inputs, num_options, num_moments;
    PJRT_NamedValue options[LIST_MAX];
    char *compile_options;
    size_t compile_options_size;
    long executes, repeats;
    bool roundtrip, keep;
};

static char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *bytes = NULL;
    size_t n = 0, got;

    if (!f) {
        perror(path);
        exit(2);
    }
    do {
        bytes = realloc(bytes, n + 65536 + 1);
        if (!bytes)
            exit(3);
        got = fread(bytes + n, 1, 65536, f);
        n += got;
    } while (got);
    fclose(f);
    bytes[n] = 0;
    *size = n;
    return bytes;
}

static void print_text(const char *key, const char *text, size_t size)
{
    printf("\"%s\":\"", key);
    for (size_t i = 0; i < size; i++)
        if (text[i] == '"' || text[i] == '\\')
            printf("\\%c", text[i]);
        else
            printf((unsigned char)text[i] < 32 ? "\\u%04x" : "%c", (unsigned char)text[i]);
    printf("\"");
}

static uint64_t checksum(const unsigned char *bytes, size_t size)
{
    uint64_t h = 0xcbf29ce484222325;

    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 0x100000001b3;
    return h;
}

/* Small values in hex, large ones by size and checksum. */
static void print_bytes(const unsigned char *bytes, size_t size)
{
    if (size > HEX_MAX) {
        printf("\"%zu bytes %016llx\"", size, (unsigned long long)checksum(bytes, size));
        return;
    }
    printf("\"");
    for (size_t i = 0; i < size; i++)
        printf("%02x", bytes[i]);
    printf("\"");
}

/* Some plugins give text, others bytes. */
static void print_fingerprint(const char *bytes, size_t size)
{
    bool text = true;

    for (size_t i = 0; i < size; i++)
        text &= bytes[i] >= ' ' && bytes[i] <= '~';
    if (text) {
        print_text("fingerprint", bytes, size);
    } else {
        printf("\"fingerprint\":");
        print_bytes((const unsigned char *)bytes, size);
    }
    printf(",");
}

static void print_error(struct harness *h, const char *doing)
{
    printf("{\"failed\":\"%s\",\"code\":%d,", doing, h->code);
    print_text("text", h->text, strlen(h->text));
    printf("}");
}

static const struct {
    const char *name;
    PJRT_Buffer_Type type;
    size_t size;
} types[] = {{"f32", PJRT_Buffer_Type_F32, 4}, {"f64", PJRT_Buffer_Type_F64, 8},
             {"s32", PJRT_Buffer_Type_S32, 4}, {"s64", PJRT_Buffer_Type_S64, 8},
             {"u8", PJRT_Buffer_Type_U8, 1},   {"bf16", PJRT_Buffer_Type_BF16, 2}};

static PJRT_Buffer *make_input(struct harness *h, const char *text, unsigned seed)
{
    int64_t dims[8];
    size_t rank = 0, len = strcspn(text, "["), bytes = 1;
    char *p = (char *)(uintptr_t)text + len;

    for (; *p && *p != ']' && rank < 8; rank++) {
        if (p[1] == ']')
            break;
        dims[rank] = strtol(p + 1, &p, 10);
        bytes *= (size_t)dims[rank];
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strlen(types[i].name) == len && memcmp(types[i].name, text, len) == 0)
            return harness_buffer(h, types[i].type, dims, rank, bytes * types[i].size, seed);
    fprintf(stderr, "what is %s?\n", text);
    exit(2);
}

/* Runs `loaded` and prints its last outputs as a list, or the failure. */
static void run_program(struct harness *h, const struct job *job, PJRT_LoadedExecutable *loaded,
                        size_t num_outputs)
{
    PJRT_Buffer *inputs[LIST_MAX] = {0}, *outputs[OUTPUTS_MAX] = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < job->num_inputs; i++)
        ok = (inputs[i] = make_input(h, job->inputs[i], (unsigned)i)) != NULL;
    for (long n = 0; ok && n < job->executes; n++) {
        for (size_t i = 0; n && i < num_outputs; i++)
            harness_buffer_destroy(h, outputs[i]);
        memset(outputs, 0, sizeof(outputs));
        ok = harness_execute(h, loaded, inputs, job->num_inputs, outputs);
    }
    printf(ok ? "[" : "");
    for (size_t i = 0; ok && job->executes && i < num_outputs; i++) {
        size_t size = 0;
        unsigned char *bytes = harness_read(h, outputs[i], &size);

        printf(i ? "," : "");
        if (bytes)
            print_bytes(bytes, size);
        else
            print_error(h, "read");
        free(bytes);
    }
    if (ok)
        printf("]");
    else
        print_error(h, "execute");
    for (size_t i = 0; i < num_outputs; i++)
        if (outputs[i])
            harness_buffer_destroy(h, outputs[i]);
    for (size_t i = 0; i < job->num_inputs; i++)
        if (inputs[i])
            harness_buffer_destroy(h, inputs[i]);
}

/* What an executable says of itself; returns its number of outputs. */
static size_t print_executable(struct harness *h, PJRT_Executable *executable)
{
    ARGS(PJRT_Executable_Name, name, .executable = executable);
    ARGS(PJRT_Executable_NumOutputs, outputs, .executable = executable);
    ARGS(PJRT_Executable_Fingerprint, fingerprint, .executable = executable);
    ARGS(PJRT_Executable_GetCompiledMemoryStats, memory, .executable = executable);
    const PJRT_Api *api = h->api;

    if (stet_api_has(api, PJRT_Executable_Name) &&
        harness_ok(h, api->PJRT_Executable_Name(&name))) {
        print_text("name", name.executable_name, name.executable_name_size);
        printf(",");
    }
    if (stet_api_has(api, PJRT_Executable_Fingerprint) &&
        harness_ok(h, api->PJRT_Executable_Fingerprint(&fingerprint))) {
        print_fingerprint(fingerprint.executable_fingerprint,
                          fingerprint.executable_fingerprint_size);
    }
    if (stet_api_has(api, PJRT_Executable_GetCompiledMemoryStats) &&
        harness_ok(h, api->PJRT_Executable_GetCompiledMemoryStats(&memory)))
        printf("\"code_bytes\":%lld,\"argument_bytes\":%lld,\"output_bytes\":%lld,"
               "\"alias_bytes\":%lld,\"temp_bytes\":%lld,",
               (long long)memory.generated_code_size_in_bytes,
               (long long)memory.argument_size_in_bytes, (long long)memory.output_size_in_bytes,
               (long long)memory.alias_size_in_bytes, (long long)memory.temp_size_in_bytes);
    if (harness_ok(h, api->PJRT_Executable_NumOutputs(&outputs)))
        printf("\"num_outputs\":%zu", outputs.num_outputs);
    else
        print_text("num_outputs", h->text, strlen(h->text));
    return outputs.num_outputs < OUTPUTS_MAX ? outputs.num_outputs : OUTPUTS_MAX;
}

static void print_serialized(struct harness *h, const struct job *job, PJRT_Executable *executable,
                             size_t num_outputs)
{
    size_t size = 0;
    char *bytes = harness_serialize(h, executable, &size);
    PJRT_LoadedExecutable *again = NULL;

    printf(",\"serialized\":");
    if (!bytes) {
        print_error(h, "serialize");
        return;
    }
    print_bytes((const unsigned char *)bytes, size);
    if (!job->topology) {
        printf(",\"reloaded\":");
        again = harness_deserialize(h, bytes, size);
        if (again)
            run_program(h, job, again, num_outputs);
        else
            print_error(h, "deserialize");
        if (again)
            harness_loaded_destroy(h, again);
    }
    free(bytes);
}

static void one_program(struct harness *h, const struct job *job, const char *code, size_t size)
{
    PJRT_LoadedExecutable *loaded = harness_compile(
        h, code, size, job->format, job->compile_options, job->compile_options_size);
    PJRT_Executable *executable = loaded ? harness_executable(h, loaded) : NULL;
    size_t num_outputs;

    if (!executable) {
        print_error(h, loaded ? "executable" : "compile");
    } else {
        printf("{");
        num_outputs = print_executable(h, executable);
        printf(",\"outputs\":");
        run_program(h, job, loaded, num_outputs);
        if (job->roundtrip)
            print_serialized(h, job, executable, num_outputs);
        printf("}");
    }
    if (job->keep)
        return;
    if (executable)
        harness_executable_destroy(h, executable);
    if (loaded)
        harness_loaded_destroy(h, loaded);
}

static void one_program_ahead(struct harness *h, const struct job *job, const char *code,
                              size_t size, const PJRT_TopologyDescription *topology)
{
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = (char *)(uintptr_t)code,
                            .code_size = size,
                            .format = job->format,
                            .format_size = strlen(job->format)};
    ARGS(PJRT_Compile, args, .topology = topology, .program = &program,
         .compile_options = job->compile_options,
         .compile_options_size = job->compile_options_size);

    if (!harness_ok(h, h->api->PJRT_Compile(&args))) {
        print_error(h, "compile");
        return;
    }
    printf("{");
    print_executable(h, args.executable);
    print_serialized(h, job, args.executable, 0);
    printf("}");
    harness_executable_destroy(h, args.executable);
}

/* Does what is to be done at this moment. */
static void at(const struct job *job, const char *moment)
{
    size_t n = strlen(moment);

    for (size_t i = 0; i < job->num_moments; i++) {
        bool shell = job->moments[i][0] == '!';
        const char *text = job->moments[i] + shell, *equals;
        char name[256];

        if (strncmp(text, moment, n) != 0 || text[n] != ':')
            continue;
        text += n + 1;
        equals = strchr(text, '=');
        if (shell ? system(text) != 0 : !equals || equals - text >= (long)sizeof(name)) {
            fprintf(stderr, "pjrt_harness: %s failed\n", text);
            exit(2);
        }
        if (shell)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
        setenv(name, equals + 1, 1);
    }
}

static void all_programs(struct harness *h, const struct job *job,
                         const PJRT_TopologyDescription *topology)
{
    for (size_t i = 0; i < job->num_programs; i++) {
        size_t size;
        char *code = read_file(job->programs[i], &size);

        for (long n = 0; n < job->repeats; n++) {
            printf(i || n ? ",\n  " : "\n  ");
            if (job->topology)
                one_program_ahead(h, job, code, size, topology);
            else
                one_program(h, job, code, size);
            if (!i && !n)
                at(job, "first");
            at(job, "each");
        }
        free(code);
    }
}

static bool ahead(struct harness *h, const struct job *job)
{
    ARGS(PJRT_TopologyDescription_Create, create, .topology_name = job->topology,
         .topology_name_size = strlen(job->topology), .create_options = job->options,
         .num_options = job->num_options);
    ARGS(PJRT_TopologyDescription_Destroy, destroy, );

    if (!harness_ok(h, h->api->PJRT_TopologyDescription_Create(&create)))
        return false;
    all_programs(h, job, create.topology);
    destroy.topology = create.topology;
    return harness_ok(h, h->api->PJRT_TopologyDescription_Destroy(&destroy));
}

static bool with_client(struct harness *h, const struct job *job)
{
    if (!harness_client(h, job->options, job->num_options))
        return false;
    at(job, "client");
    harness_wait_for_calls(h);
    all_programs(h, job, NULL);
    if (!job->keep)
        harness_client_destroy(h);
    return true;
}

/* What the fake plugin itself saw, if it is one. */
static void print_counts(void *handle)
{
    long (*calls)(const char *), (*live)(const char *);
    bool first = true;

    *(void **)&calls = dlsym(handle, "FakePlugin_Calls");
    *(void **)&live = dlsym(handle, "FakePlugin_Live");
    if (!calls || !live)
        return;
    printf(",\n \"plugin\":{\"live\":%ld,\"calls\":{", live(NULL));
    for (size_t i = 0; i < STET_ENTRY_COUNT; i++) {
        long n = calls(stet_api_entry_name(i));

        if (n > 0)
            printf("%s\"%s\":%ld", first ? "" : ",", stet_api_entry_name(i), n);
        first &= n <= 0;
    }
    printf("}}");
}

static void add_option(struct job *job, char *text, bool from_file)
{
    PJRT_NamedValue *v = &job->options[job->num_options++];
    char *value = strchr(text, '=');

    if (!value || job->num_options == LIST_MAX) {
        fputs(usage, stderr);
        exit(2);
    }
    *value++ = 0;
    *v = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                           .name = text,
                           .name_size = strlen(text),
                           .type = PJRT_NamedValue_kString,
                           .string_value = value,
                           .value_size = strlen(value)};
    if (from_file)
        v->string_value = read_file(value, &v->value_size);
}

static void read_arguments(int argc, char **argv, struct job *job)
{
    static const struct option options[] = {
        {"format", 1, NULL, 'f'},  {"options", 1, NULL, 'o'},  {"input", 1, NULL, 'i'},
        {"execute", 1, NULL, 'x'}, {"repeat", 1, NULL, 'r'},   {"roundtrip", 0, NULL, 't'},
        {"set", 1, NULL, 's'},     {"set-file", 1, NULL, 'S'}, {"aot", 1, NULL, 'a'},
        {"keep", 0, NULL, 'k'},    {"counts", 1, NULL, 'c'},   {"setenv", 1, NULL, 'e'},
        {"shell", 1, NULL, 'E'},   {NULL, 0, NULL, 0}};
    char *command;
    int c;

    *job = (struct job){.format = "mlir", .executes = 1, .repeats = 1};
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'f')
            job->format = optarg;
        else if (c == 'o')
            job->compile_options = read_file(optarg, &job->compile_options_size);
        else if (c == 'i' && job->num_inputs < LIST_MAX)
            job->inputs[job->num_inputs++] = optarg;
        else if (c == 'x')
            job->executes = atol(optarg);
        else if (c == 'r')
            job->repeats = atol(optarg);
        else if (c == 's' || c == 'S')
            add_option(job, optarg, c == 'S');
        else if (c == 'a')
            job->topology = optarg;
        else if (c == 'c')
            job->counts = optarg;
        else if (c == 'e' && job->num_moments < LIST_MAX)
            job->moments[job->num_moments++] = optarg;
        else if (c == 'E' && job->num_moments < LIST_MAX && asprintf(&command, "!%s", optarg) > 0)
            job->moments[job->num_moments++] = command;
        else if (c != 't' && c != 'k')
            optind = argc;
        job->roundtrip |= c == 't';
        job->keep |= c == 'k';
    }
    if (optind >= argc) {
        fputs(usage, stderr);
        exit(2);
    }
    job->plugin = argv[optind++];
    job->programs = argv + optind;
    job->num_programs = (size_t)(argc - optind);
}

int main(int argc, char **argv)
{
    struct harness h;
    struct job job;
    bool ok;

    read_arguments(argc, argv, &job);
    ok = harness_open(&h, job.plugin);
    if (ok)
        printf("{\"api\":{\"major\":%d,\"minor\":%d,\"struct_size\":%zu},\n \"results\":[",
               h.api->pjrt_api_version.major_version, h.api->pjrt_api_version.minor_version,
               h.api->struct_size);
    else
        printf("{\"results\":[");
    if (ok)
        at(&job, "open");
    ok = ok && harness_initialize(&h);
    if (ok)
        at(&job, "initialize");
    ok = ok && (job.topology ? ahead(&h, &job) : with_client(&h, &job));
    printf("]");
    if (!ok) {
        printf(",\n \"error\":");
        print_error(&h, "start");
    }
    if (job.counts)
        print_counts(dlopen(job.counts, RTLD_NOW));
    else if (h.handle)
        print_counts(h.handle);
    printf("}\n");
    free(job.compile_options);
    return ok ? 0 : 1;
}
