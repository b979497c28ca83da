/* The cost of a program by its operations, counted as XLA does: a loop's body once, a function such
 * as exp as one transcendental and no flop. */
#include "backend/graph.h"
#include "backend/params.h"

static bool is_transcendental(int op)
{
    switch (op) {
    case STET_TILE_EXP:
    case STET_TILE_EXPM1:
    case STET_TILE_LOG:
    case STET_TILE_LOG1P:
    case STET_TILE_TANH:
    case STET_TILE_LOGISTIC:
    case STET_TILE_SIN:
    case STET_TILE_COS:
    case STET_TILE_TAN:
    case STET_TILE_SQRT:
    case STET_TILE_RSQRT:
    case STET_TILE_CBRT:
    case STET_TILE_POW:
    case STET_TILE_ATAN2:
    case STET_TILE_ERF:
        return true;
    default:
        return false;
    }
}

/* Pairs of an output position and a window tap that read an element, not the padding; counts all
 * pairs if exact counting would take long. */
static double pairs(const struct stet_conv *c, uint32_t d)
{
    const double most = 1 << 16;
    double all = (double)c->out[d] * (double)c->window[d], met = 0;

    if (all < 1 || all > most)
        return all;
    for (int64_t i = 0; i < c->out[d]; i++) {
        for (int64_t k = 0; k < c->window[d]; k++) {
            int64_t at = i * c->stride[d] + k * c->window_dilation[d] - c->low[d];

            met += at >= 0 && at % c->in_dilation[d] == 0 && at / c->in_dilation[d] < c->in[d];
        }
    }
    return met;
}

static void node_cost(const struct stet_gnode *n, struct stet_plan_cost *cost)
{
    double elements = n->out_count ? (double)n->out[0]->shape.elements : 0;

    if (n->kind == STET_G_EW && n->ew <= STET_EW_CONVERT) {
        *(is_transcendental(n->ew) ? &cost->transcendentals : &cost->flops) += elements;
    } else if (n->kind == STET_G_REDUCE) {
        cost->flops += (double)n->in[0]->shape.elements - elements;
    } else if (n->kind == STET_G_CALL && n->kernel == &stet_kernel_dot) {
        const struct stet_dot *d = n->params;

        cost->flops += 2 * elements * (double)d->k;
    } else if (n->kind == STET_G_CALL && n->kernel == &stet_kernel_conv) {
        const struct stet_conv *c = n->params;
        double flops = c->positions ? 2 * elements / (double)c->positions : 0;

        for (uint32_t i = 0; i < c->spatial; i++)
            flops *= pairs(c, i);
        cost->flops += flops * (double)c->in_features;
    }
}

void stet_backend_graph_cost(const struct stet_gblock *b, struct stet_plan_cost *cost)
{
    for (const struct stet_gnode *n = b->first; n; n = n->next) {
        if (!n->live)
            continue;
        node_cost(n, cost);
        for (uint32_t i = 0; i < n->block_count; i++)
            stet_backend_graph_cost(n->blocks[i], cost);
    }
}
