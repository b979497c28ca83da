/* Attributes that a loop elsewhere changes. They are found by name before the walk, because a
 * method is usually written above the loop. */
#include "lint/rules.h"
#include "lint/walk.h"

enum { MAX_MOVES = 512 };

static void add_move(struct lint_walk *w, uint32_t object, uint32_t attribute, stet_python_ref at)
{
    if (!object || !attribute || lint_name_is(w, object, "self"))
        return;
    if (w->move_count < MAX_MOVES &&
        lint_room(w, &w->moves, &w->move_room, w->move_count, sizeof *w->moves))
        w->moves[w->move_count++] = (struct lint_move){object, attribute, at};
}

static void add_instance(struct lint_walk *w, uint32_t object, uint32_t class_name)
{
    if (!object || !class_name)
        return;
    if (w->instance_count < MAX_MOVES &&
        lint_room(w, &w->instances, &w->instance_room, w->instance_count, sizeof *w->instances))
        w->instances[w->instance_count++] = (struct lint_instance){object, class_name};
}

static void note_target(struct lint_walk *w, stet_python_ref left)
{
    if (stet_python_kind(w->ast, left) == PY_ATTRIBUTE)
        add_move(w, stet_python_name(w->ast, stet_python_field(w->ast, left, PY_FIELD_OBJECT)),
                 stet_python_name(w->ast, stet_python_field(w->ast, left, PY_FIELD_ATTRIBUTE)),
                 left);
}

/* eqx.tree_at(lambda m: m.rate, model, …) */
static void note_tree_at(struct lint_walk *w, stet_python_ref call)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref where = lint_arg_at(w, call, 0), object = lint_arg_at(w, call, 1), body;

    if (stet_python_kind(a, where) != PY_LAMBDA || !object)
        return;
    body = stet_python_field(a, where, PY_FIELD_BODY);
    if (stet_python_kind(a, body) == PY_ATTRIBUTE)
        add_move(w, stet_python_name(a, object),
                 stet_python_name(a, stet_python_field(a, body, PY_FIELD_ATTRIBUTE)), call);
}

void lint_note_moves(struct lint_walk *w, stet_python_ref n, bool in_loop)
{
    const struct stet_python_ast *a = w->ast;
    stet_python_ref left = stet_python_field(a, n, PY_FIELD_LEFT), right;

    switch (stet_python_kind(a, n)) {
    case PY_ASSIGNMENT:
        right = stet_python_field(a, n, PY_FIELD_RIGHT);
        if (stet_python_kind(a, right) == PY_CALL)
            add_instance(w, stet_python_name(a, left),
                         stet_python_name(a, stet_python_field(a, right, PY_FIELD_FUNCTION)));
        if (in_loop)
            note_target(w, left);
        break;
    case PY_AUGMENTED:
        if (in_loop)
            note_target(w, left);
        break;
    case PY_FOR:
        note_target(w, left);
        break;
    case PY_CALL:
        if (in_loop && stet_view_is(lint_callee_name(w, n), "tree_at"))
            note_tree_at(w, n);
        break;
    default:
        break;
    }
}

bool lint_object_attribute_moved(const struct lint_walk *w, uint32_t object, uint32_t attribute)
{
    for (uint32_t i = 0; i < w->move_count && lint_spend(w); i++) {
        if (w->moves[i].object == object && w->moves[i].attribute == attribute)
            return true;
    }
    return false;
}

bool lint_class_attribute_moved(const struct lint_walk *w, uint32_t owner, uint32_t attribute)
{
    for (uint32_t i = 0; i < w->move_count && lint_spend(w); i++) {
        if (w->moves[i].attribute != attribute)
            continue;
        for (uint32_t k = 0; k < w->instance_count && lint_spend(w); k++) {
            if (w->instances[k].object == w->moves[i].object &&
                w->instances[k].class_name == w->classes[owner].name)
                return true;
        }
    }
    return false;
}
