/* Programs: what their text asks for, and the arithmetic that stands for running them. */
#include "fake.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    PJRT_Buffer_Type type;
    size_t size;
} types[] = {{"pred", PJRT_Buffer_Type_PRED, 1}, {"s8", PJRT_Buffer_Type_S8, 1},
             {"s16", PJRT_Buffer_Type_S16, 2},   {"s32", PJRT_Buffer_Type_S32, 4},
             {"s64", PJRT_Buffer_Type_S64, 8},   {"u8", PJRT_Buffer_Type_U8, 1},
             {"u16", PJRT_Buffer_Type_U16, 2},   {"u32", PJRT_Buffer_Type_U32, 4},
             {"u64", PJRT_Buffer_Type_U64, 8},   {"f16", PJRT_Buffer_Type_F16, 2},
             {"f32", PJRT_Buffer_Type_F32, 4},   {"f64", PJRT_Buffer_Type_F64, 8},
             {"bf16", PJRT_Buffer_Type_BF16, 2}, {"c64", PJRT_Buffer_Type_C64, 8},
             {"c128", PJRT_Buffer_Type_C128, 16}};

enum { NUM_TYPES = sizeof(types) / sizeof(types[0]) };

size_t fake_shape_bytes(const struct fake_shape *shape)
{
    size_t size = 1;

    for (size_t i = 0; i < NUM_TYPES; i++)
        if (types[i].type == shape->type)
            size = types[i].size;
    for (size_t i = 0; i < shape->rank; i++)
        size *= (size_t)shape->dims[i];
    return size;
}

/* One shape at *p, NUL-terminated text; false at the first thing that is none. */
static bool parse_shape(const char **p, struct fake_shape *shape)
{
    size_t len = strcspn(*p, "[ \n"), k = 0;
    char *end;

    while (k < NUM_TYPES && (strlen(types[k].name) != len || memcmp(types[k].name, *p, len) != 0))
        k++;
    if (k == NUM_TYPES || (*p)[len] != '[')
        return false;
    *shape = (struct fake_shape){.type = types[k].type};
    for (*p += len + 1; **p != ']'; *p = end + (*end == ',')) {
        long long dim = strtoll(*p, &end, 10);

        if (end == *p || dim < 0 || dim > 1 << 24 || shape->rank == FAKE_RANK_MAX)
            return false;
        shape->dims[shape->rank++] = dim;
    }
    ++*p;
    return true;
}

int fake_shapes_parse(const char *text, size_t size, struct fake_shape *shapes, size_t max)
{
    char *copy = strndup(text, size);
    const char *p = copy;
    size_t n = 0;

    for (p += strspn(p, " "); *p && n < max; p += strspn(p, " "), n++)
        if (!parse_shape(&p, &shapes[n]))
            break;
    n = *p ? SIZE_MAX : n;
    free(copy);
    return (int)n;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static uint64_t fold(uint64_t state, const void *data, size_t size)
{
    const unsigned char *p = data;

    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word;

        memcpy(&word, p, 8);
        state = mix(state ^ word) + 0x9e3779b97f4a7c15;
    }
    for (; size; size--)
        state = mix(state ^ *p++) + 1;
    return mix(state + size);
}

void fake_program_run(const struct fake_program *program, size_t index, PJRT_Buffer *const *inputs,
                      size_t num_inputs, unsigned char *out, size_t size)
{
    uint64_t state = mix(program->hash + index);

    for (size_t i = 0; i < num_inputs; i++)
        state = fold(state + i, inputs[i]->data, inputs[i]->size);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = mix(state + i);

        memcpy(out + i, &word, size - i < 8 ? size - i : 8);
    }
}

/* The rest of the line that starts with `word`, in a program of ours; NULL without one. */
static const char *line_of(const char *code, size_t size, const char *word, size_t *len)
{
    size_t n = strlen(word), comment = strlen("// ");

    for (const char *p = code, *end = code + size; p && p < end;
         p = memchr(p, '\n', (size_t)(end - p)), p = p ? p + 1 : NULL) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));

        stop = stop ? stop : end;
        if ((size_t)(stop - p) >= comment && memcmp(p, "// ", comment) == 0)
            p += comment; /* the same may stand in the comments of an MLIR program */
        if ((size_t)(stop - p) >= n && memcmp(p, word, n) == 0) {
            *len = (size_t)(stop - p) - n;
            return p + n;
        }
    }
    return NULL;
}

static PJRT_Error *read_shapes(const char *what, const char *text, size_t len,
                               struct fake_shape **shapes, size_t *count)
{
    int n;

    *shapes = calloc(FAKE_SHAPES_MAX, sizeof(**shapes));
    n = fake_shapes_parse(text, len, *shapes, FAKE_SHAPES_MAX);
    if (n < 0)
        return fake_error(PJRT_Error_Code_INVALID_ARGUMENT, "cannot read %s", what);
    *count = (size_t)n;
    return NULL;
}

/* "CODE text" */
static PJRT_Error *refuse(const char *text, size_t len)
{
    int code = atoi(text);
    size_t digits = strspn(text, "0123456789 ");

    digits = digits < len ? digits : len;
    return fake_error((PJRT_Error_Code)code, "%.*s", (int)(len - digits), text + digits);
}

/* "hang" and "signal N": what else a compile may do instead of ending. */
static void misbehave(const struct fake_program *program)
{
    size_t len;
    const char *number = line_of(program->code, program->code_size, "signal ", &len);

    if (number)
        raise(atoi(number));
    while (line_of(program->code, program->code_size, "hang", &len))
        pause();
}

/* A program that starts with "fake program", after "// " or not, says itself what it takes and
 * gives, and may ask to be refused: "error CODE text". Of any other bytes only FAKE_PARAMS and
 * FAKE_OUTPUTS know. */
static PJRT_Error *read_program(struct fake_program *program)
{
    const char *params = fake_settings()->params, *outputs = fake_settings()->outputs, *text;
    size_t params_size, outputs_size, len;
    PJRT_Error *error;

    if (getenv("FAKE_EACH")) /* a test sets them anew before each compile */
        params = getenv("FAKE_PARAMS"), outputs = getenv("FAKE_OUTPUTS");
    params = params ? params : "";
    outputs = outputs ? outputs : "f32[]";
    params_size = strlen(params), outputs_size = strlen(outputs);
    snprintf(program->name, sizeof(program->name), "%s",
             getenv("FAKE_NAME") ? getenv("FAKE_NAME") : "fake");
    text = line_of(program->code, program->code_size, "fake program ", &len);
    if (text && text <= program->code + strlen("// fake program ")) {
        snprintf(program->name, sizeof(program->name), "%.*s", (int)len, text);
        params = outputs = "", params_size = outputs_size = 0;
        misbehave(program);
        text = line_of(program->code, program->code_size, "error ", &len);
        if (text)
            return refuse(text, len);
        text = line_of(program->code, program->code_size, "temporaries ", &len);
        program->temporaries = text ? atoll(text) : 0;
        text = line_of(program->code, program->code_size, "in ", &len);
        if (text)
            params = text, params_size = len;
        text = line_of(program->code, program->code_size, "out ", &len);
        if (text)
            outputs = text, outputs_size = len;
    }
    error = read_shapes("parameters", params, params_size, &program->params, &program->num_params);
    if (!error)
        error =
            read_shapes("outputs", outputs, outputs_size, &program->outputs, &program->num_outputs);
    return error;
}

/* The same facts once more in the form the interface hands them out. */
static void flatten(struct fake_program *program)
{
    size_t n = program->num_outputs, kinds = n > program->num_params ? n : program->num_params;

    program->output_types = calloc(n + 1, sizeof(*program->output_types));
    program->output_ranks = calloc(n + 1, sizeof(*program->output_ranks));
    program->output_dims = calloc(n * FAKE_RANK_MAX + 1, sizeof(*program->output_dims));
    program->memory_kinds = calloc(kinds + 1, sizeof(*program->memory_kinds));
    program->memory_kind_sizes = calloc(kinds + 1, sizeof(*program->memory_kind_sizes));
    for (size_t i = 0; i < kinds; i++) {
        program->memory_kinds[i] = "device";
        program->memory_kind_sizes[i] = strlen("device");
    }
    for (size_t i = 0; i < n; i++) {
        program->output_types[i] = program->outputs[i].type;
        program->output_ranks[i] = program->outputs[i].rank;
        for (size_t d = 0; d < program->outputs[i].rank; d++)
            program->output_dims[program->num_dims++] = program->outputs[i].dims[d];
    }
}

static void program_free(struct fake_program *program)
{
    free(program->params);
    free(program->outputs);
    free(program->output_types);
    free(program->output_ranks);
    free(program->output_dims);
    free(program->memory_kinds);
    free(program->memory_kind_sizes);
    free(program->code);
    free(program->options);
    free(program);
}

PJRT_Error *fake_program_new(const char *code, size_t code_size, const char *options,
                             size_t options_size, struct fake_program **out)
{
    struct fake_program *program = calloc(1, sizeof(*program));
    PJRT_Error *error;

    atomic_init(&program->refs, 1);
    program->maker = pthread_self();
    program->code = malloc(code_size + 1);
    program->options = malloc(options_size + 1);
    program->code_size = code_size;
    program->options_size = options_size;
    memcpy(program->code, code_size ? code : "", code_size);
    memcpy(program->options, options_size ? options : "", options_size);
    program->code[code_size] = 0;
    program->hash = fold(1, program->code, code_size); /* options differ in order each process */
    snprintf(program->fingerprint, sizeof(program->fingerprint), "%016llx",
             (unsigned long long)program->hash);
    error = read_program(program);
    if (error) {
        program_free(program);
        return error;
    }
    flatten(program);
    *out = program;
    return NULL;
}

struct fake_program *fake_program_ref(struct fake_program *program)
{
    atomic_fetch_add(&program->refs, 1);
    return program;
}

void fake_program_unref(struct fake_program *program)
{
    if (atomic_fetch_sub(&program->refs, 1) == 1)
        program_free(program);
}
