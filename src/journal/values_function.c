/* Which function a compile is of, from the values that Python held. */
#include "journal/values_record.h"

#include "base/path.h"

enum {
    SEEN_MOST = 128,
    CHAIN_MOST = 3,    /* functions that close over functions */
    HELD_MOST = 2,     /* fields of what the called function closes over */
    ARGUMENT_MOST = 3, /* fields of arguments */
};

/* Is it JAX's stand-in for an argument of a function that a transformation calls? */
static bool is_tracer(const struct stet_journal_value *v)
{
    return v->scope == STET_SCOPE_ARGUMENT && v->kind == STET_VALUE_OBJECT &&
           stet_view_ends(v->type, "Tracer");
}

/* A function made anew may get the address of the one before it, which is gone; what it closes over
 * shows that it is another one. Fields below the first may be replaced as the program runs. */
static void holds(struct stet_journal_function *f, const struct stet_journal_value *v)
{
    struct stet_hash class = stet_hash_mix(stet_hash_bytes(v->path), stet_hash_bytes(v->type));
    const char *dot = v->path.len ? memchr(v->path.ptr, '.', v->path.len) : NULL;
    size_t head = dot ? (size_t)(dot - v->path.ptr) + 1 : 0;

    if (v->path.len && (memchr(v->path.ptr, '[', v->path.len) ||
                        memchr(v->path.ptr + head, '.', dot ? v->path.len - head : 0)))
        return;
    f->held = stet_hash_mix_u64(class, f->held).lo;
    if (!dot && f->object)
        f->object = stet_hash_mix_u64(stet_hash_bytes(v->path), f->object ^ v->address).lo | 1;
}

/* Is it in a container that a field holds? Such a container (functions that were compiled, hooks)
 * is filled as the program runs, and does not distinguish the function. */
static bool is_collected(const struct stet_journal_value *v)
{
    const char *dot = v->path.len ? memchr(v->path.ptr, '.', v->path.len) : NULL;

    return v->scope == STET_SCOPE_CLOSURE && dot &&
           memchr(dot, '[', (size_t)(v->path.ptr + v->path.len - dot));
}

/* The functions that were read so far, by scope and path: what is below them is what they close
 * over. */
struct seen {
    uint64_t hashes[SEEN_MOST];
    size_t count;
};

static uint64_t hash_of(enum stet_journal_value_scope scope, struct stet_view path)
{
    return stet_hash_mix_u64(stet_hash_bytes(path), (uint64_t)scope).lo;
}

static bool has(const struct seen *s, enum stet_journal_value_scope scope, struct stet_view path)
{
    uint64_t hash = hash_of(scope, path);

    for (size_t i = 0; i < s->count; i++)
        if (s->hashes[i] == hash)
            return true;
    return false;
}

/* Does the function distinguish the called one? What functions in fields and arguments close over,
 * and what is far down in an object, may be replaced as the program runs. A function in a closure
 * distinguishes, and so do those that it closes over itself. */
static bool distinguishes(const struct seen *s, const struct stet_journal_value *v)
{
    unsigned dots = 0, functions = 0;

    for (size_t i = 1; i < v->path.len; i++) {
        if (v->path.ptr[i] != '.' && v->path.ptr[i] != '[')
            continue;
        dots += v->path.ptr[i] == '.';
        functions += has(s, v->scope, stet_view_of(v->path.ptr, i));
    }
    if (functions)
        return v->scope == STET_SCOPE_CLOSURE && functions == dots && dots <= CHAIN_MOST;
    return dots <= (v->scope == STET_SCOPE_CLOSURE ? HELD_MOST : ARGUMENT_MOST);
}

static void mix_function(struct stet_journal_function *f, struct stet_hash *hash,
                         const struct stet_journal_value *v, bool fun)
{
    *hash = stet_hash_mix_u64(stet_hash_mix(*hash, stet_hash_bytes(v->file)), v->line);
    if (stet_path_is_installed(v->file))
        return;
    f->library = false;
    if (fun || !f->line) {
        f->name = v->text;
        f->file = v->file;
        f->line = v->line;
    }
}

/* Closures come after the function that owns them, before what the user's frames hold. */
static bool is_of_frame(const struct stet_journal_value *v)
{
    return v->scope == STET_SCOPE_LOCAL || v->scope == STET_SCOPE_PASSED;
}

struct stet_journal_function stet_journal_values_function(struct stet_view bytes)
{
    struct stet_journal_function f = {.library = true};
    struct stet_hash hash = stet_hash_bytes(STET_VIEW("function"));
    struct stet_journal_values_reader r;
    struct stet_journal_value v;
    struct seen seen = {.count = 0};
    bool called = false, traced = false;

    stet_journal_values_open(&r, bytes);
    while (stet_journal_values_next(&r, &v) && !is_of_frame(&v)) {
        bool fun = v.scope == STET_SCOPE_CALLED && stet_view_is(v.path, "fun");

        called |= fun;
        if (fun && v.kind == STET_VALUE_FUNCTION) { /* from the outermost wrapper inwards */
            f.wrapper = f.object ? f.wrapper : v.address;
            f.object = v.address;
        }
        if (v.scope == STET_SCOPE_CLOSURE && v.kind == STET_VALUE_OBJECT)
            holds(&f, &v);
        /* vmap(f) and grad(f) of a jitted f make programs of their own. */
        if (is_tracer(&v) && !traced) {
            traced = true;
            hash = stet_hash_mix(hash, stet_hash_bytes(v.type));
        }
        if (v.kind != STET_VALUE_FUNCTION ||
            (!fun && v.scope != STET_SCOPE_CLOSURE && v.scope != STET_SCOPE_ARGUMENT))
            continue;
        /* A wrapper may take the user's function as an argument, as equinox's does. */
        if (fun || (distinguishes(&seen, &v) && !is_collected(&v) &&
                    !(v.scope == STET_SCOPE_ARGUMENT && stet_path_is_installed(v.file))))
            mix_function(&f, &hash, &v, fun);
        if (seen.count < SEEN_MOST)
            seen.hashes[seen.count++] = hash_of(v.scope, v.path);
    }
    f.identity = called ? hash.lo | 1 : 0;
    f.library &= called;
    return f;
}

bool stet_journal_values_borrowed(struct stet_view bytes, struct stet_view name)
{
    struct stet_journal_value v;
    struct stet_journal_values_reader r;
    bool found = false;

    stet_journal_values_open(&r, bytes);
    while (stet_journal_values_next(&r, &v) && !is_of_frame(&v)) {
        const char *dot = v.kind == STET_VALUE_FUNCTION && v.text.len
                              ? memrchr(v.text.ptr, '.', v.text.len)
                              : NULL;
        size_t skip = dot ? (size_t)(dot - v.text.ptr) + 1 : 0;

        if (v.kind != STET_VALUE_FUNCTION || v.scope == STET_SCOPE_GLOBAL ||
            !stet_view_eq(stet_view_of(v.text.ptr + skip, v.text.len - skip), name))
            continue;
        if (!stet_path_is_installed(v.file))
            return false;
        found = true;
    }
    return found;
}
