/* Resolves names over all files: modules, functions, classes, methods, and re-exports. */
#include "flow/linker.h"

#include "base/mem.h"
#include "flow/walk.h"

/* `owner` is the file of a name, and for a method also its class; 0 for modules, which are
 * global. */
static struct stet_hash key_of(enum entry_kind kind, uint64_t owner, struct stet_view name)
{
    return stet_hash_mix_u64(stet_hash_mix_u64(stet_hash_bytes(name), (uint64_t)kind), owner);
}

static uint64_t class_owner(uint32_t file, uint32_t index)
{
    return (uint64_t)file << 32 | index;
}

static const struct entry *find(const struct linker *l, struct stet_hash key)
{
    uint32_t at = 0, i;

    while ((i = stet_map_next(&l->places, key.lo, &at)) != STET_MAP_NONE)
        if (stet_hash_eq(l->names.items[i].key, key))
            return &l->names.items[i];
    return NULL;
}

/* The first definition of a name is kept. */
static void put(struct linker *l, enum entry_kind kind, uint64_t owner, struct stet_view name,
                struct stet_flow_place at)
{
    struct stet_hash key = key_of(kind, owner, name);

    if (find(l, key))
        return;
    stet_map_add(&l->places, key.lo, (uint32_t)l->names.count);
    STET_VEC_PUSH(&l->names, (struct entry){key, at});
}

static const struct entry *get(struct linker *l, enum entry_kind kind, uint64_t owner,
                               struct stet_view name)
{
    l->steps++;
    return find(l, key_of(kind, owner, name));
}

static bool names_itself(const struct stet_flow_summary *s, const struct stet_flow_import *i)
{
    size_t at = s->module.len;

    return i->target.len == at + 1 + i->local.len &&
           stet_view_eq(stet_view_of(i->target.ptr, at), s->module) && i->target.ptr[at] == '.' &&
           stet_view_eq(stet_view_of(i->target.ptr + at + 1, i->local.len), i->local);
}

static void index_file(struct linker *l, uint32_t f)
{
    const struct stet_flow_summary *s = l->files[f].code;

    if (s->module.len)
        put(l, ENTRY_FILE, 0, s->module, (struct stet_flow_place){f, 0});
    for (uint32_t i = 1; i < s->fn_count; i++) {
        if (s->fns[i].class_index != FLOW_NONE)
            put(l, ENTRY_METHOD, class_owner(f, s->fns[i].class_index), s->fns[i].name,
                (struct stet_flow_place){f, i});
        else if (!s->fns[i].nested)
            put(l, ENTRY_FN, f, s->fns[i].name, (struct stet_flow_place){f, i});
    }
    for (uint32_t i = 0; i < s->class_count; i++)
        put(l, ENTRY_CLASS, f, s->classes[i].name, (struct stet_flow_place){f, i});
    for (uint32_t i = 0; i < s->import_count; i++) {
        if (!names_itself(s, &s->imports[i]))
            put(l, ENTRY_IMPORT, f, s->imports[i].local, (struct stet_flow_place){f, i});
    }
}

bool stet_flow_linker_index(struct linker *l)
{
    for (uint32_t f = 0; f < l->file_count; f++)
        index_file(l, f);
    return !l->names.failed && !l->places.failed;
}

/* Resolves "pkg.mod.name" through re-exports; NULL if it is not among the files. */
static const struct entry *resolve(struct linker *l, enum entry_kind kind, struct stet_view dotted,
                                   unsigned depth)
{
    struct stet_view module = dotted, name;
    const struct entry *file, *found, *import;

    while (module.len && module.ptr[module.len - 1] != '.')
        module.len--;
    if (!module.len || depth > 6)
        return NULL;
    name = stet_view_of(module.ptr + module.len, dotted.len - module.len);
    module.len--;
    file = get(l, ENTRY_FILE, 0, module);
    if (!file)
        return NULL;
    found = get(l, kind, file->at.file, name);
    import = found ? NULL : get(l, ENTRY_IMPORT, file->at.file, name);
    return import ? resolve(l, kind, l->files[import->at.file].code->imports[import->at.fn].target,
                            depth + 1)
                  : found;
}

static const struct entry *find_class(struct linker *l, uint32_t file, struct stet_view dotted)
{
    const struct entry *e = get(l, ENTRY_CLASS, file, dotted);

    return e ? e : resolve(l, ENTRY_CLASS, dotted, 0);
}

bool stet_flow_linker_is_plain(struct linker *l, struct stet_view dotted)
{
    const struct entry *e = resolve(l, ENTRY_CLASS, dotted, 0);

    return e && l->files[e->at.file].code->classes[e->at.fn].is_plain;
}

bool stet_flow_linker_asks_compiling(struct linker *l, struct stet_view dotted)
{
    bool denies = dotted.len && dotted.ptr[0] == FLOW_DENIAL;
    const struct entry *e =
        resolve(l, ENTRY_FN, denies ? stet_view_of(dotted.ptr + 1, dotted.len - 1) : dotted, 0);
    const struct stet_flow_fn *f = e ? &l->files[e->at.file].code->fns[e->at.fn] : NULL;

    return f && (denies ? f->denies_compiling : f->asks_compiling);
}

static enum class_kind known_base(struct stet_view base)
{
    switch (stet_python_library_model(base)) {
    case PY_LANE_TORCH:
        return CLASS_TORCH;
    case PY_LANE_JAX:
        return CLASS_FLAX;
    default:
        return CLASS_PLAIN;
    }
}

/* Deeper than any library's; each level is a recursive call. */
enum { MAX_BASES = 100 };

static enum class_kind kind_of_class(struct linker *l, uint32_t file, uint32_t index,
                                     unsigned depth)
{
    const struct stet_flow_class *c = &l->files[file].code->classes[index];
    uint8_t *kind = &l->classes[file][index];

    if (*kind == CLASS_VISITING)
        return CLASS_PLAIN;
    if (*kind != CLASS_UNSEEN)
        return (enum class_kind) * kind;
    if (depth > MAX_BASES)
        return CLASS_PLAIN;
    *kind = CLASS_VISITING;
    for (uint32_t b = 0; b < c->base_count; b++) {
        enum class_kind k = known_base(c->bases[b]);

        if (k == CLASS_PLAIN) {
            const struct entry *e = find_class(l, file, c->bases[b]);

            if (e)
                k = kind_of_class(l, e->at.file, e->at.fn, depth + 1);
        }
        if (k != CLASS_PLAIN) {
            *kind = (uint8_t)k;
            return k;
        }
    }
    *kind = CLASS_PLAIN;
    return CLASS_PLAIN;
}

enum class_kind stet_flow_linker_class(struct linker *l, uint32_t file, uint32_t index)
{
    return kind_of_class(l, file, index, 0);
}

/* A method of the class or of its bases. `left` limits how many classes are visited, because bases
 * of bases can be reached by more paths than there are classes. */
static struct stet_flow_place find_method(struct linker *l, uint32_t file, uint32_t index,
                                          struct stet_view name, unsigned depth, unsigned *left)
{
    const struct stet_flow_class *c = &l->files[file].code->classes[index];
    const struct entry *own = get(l, ENTRY_METHOD, class_owner(file, index), name);
    struct stet_flow_place none = {FLOW_NONE, FLOW_NONE};

    if (own)
        return own->at;
    for (uint32_t b = 0; b < c->base_count && depth < 8 && *left; b++) {
        const struct entry *e = find_class(l, file, c->bases[b]);

        (*left)--;
        if (e) {
            struct stet_flow_place p = find_method(l, e->at.file, e->at.fn, name, depth + 1, left);

            if (p.file != FLOW_NONE)
                return p;
        }
    }
    return none;
}

bool stet_flow_linker_has_method(struct linker *l, uint32_t file, uint32_t index,
                                 struct stet_view name)
{
    unsigned left = 64;

    return find_method(l, file, index, name, 0, &left).file != FLOW_NONE;
}

struct stet_flow_place stet_flow_linker_callee(struct linker *l, uint32_t file,
                                               const struct stet_flow_call *c)
{
    const struct entry *e;
    unsigned left = 64;

    if (c->callee != FLOW_NONE)
        return (struct stet_flow_place){file, c->callee};
    if (c->class_index != FLOW_NONE)
        return find_method(l, file, c->class_index, c->target, 0, &left);
    e = resolve(l, ENTRY_FN, c->target, 0);
    return e ? e->at : (struct stet_flow_place){FLOW_NONE, FLOW_NONE};
}
