/* The parameters of the kernels. Planning creates and checks them; kernels only read them. Buffers
 * are numbered among the step's (operands, results, temporary memory). */
#ifndef STET_BACKEND_PARAMS_H
#define STET_BACKEND_PARAMS_H

#include "backend/fft.h"
#include "backend/graph.h"

/* A block of elements that moves from one strided area to another. */
struct stet_move {
    uint32_t from; /* buffer */
    uint32_t rank;
    int64_t from_offset, to_offset;
    int64_t dims[STET_MAX_RANK], from_strides[STET_MAX_RANK], to_strides[STET_MAX_RANK];
    /* set by stet_backend_move_ready, which merges dimensions */
    bool ready;
    int64_t elements;
    bool line; /* one run that is adjacent on both sides */
};

/* k_copy: concatenate, pad, dynamic_slice, dynamic_update_slice, a view that must be dense. */
struct stet_copy {
    size_t bytes; /* of an element */
    uint32_t out;
    uint64_t out_elements;
    int32_t fill; /* buffer with the element that fills the rest, or -1 */
    int32_t base; /* buffer with the result before the moves, or -1 */
    struct stet_move *moves;
    uint32_t move_count;
    /* dynamic starts: buffers first_start + i, clamped to [0, limit], added through the strides */
    uint32_t first_start, start_count;
    enum stet_dtype start_type;
    int64_t limit[STET_MAX_RANK], from_step[STET_MAX_RANK], to_step[STET_MAX_RANK];
};

/* An index of any integer type, clamped. */
int64_t stet_backend_index_at(const void *p, enum stet_dtype t, uint64_t i);
/* memcpy, in parts on the pool. */
void stet_backend_copy_bytes(void *to, const void *from, uint64_t bytes, struct stet_pool *pool);
/* Prepares a move once for all its runs; a run prepares one that is not. */
void stet_backend_move_ready(struct stet_move *m);
void stet_backend_move_run(const struct stet_move *m, size_t bytes, const char *from, char *to,
                           struct stet_pool *pool);

/* Converts elements of the compute type `type` to their type in memory; for k_dot and k_conv. */
void stet_backend_unpack(char *d, const char *s, uint64_t n, enum stet_dtype type,
                         enum stet_dtype memory);

/* k_dot: batches of matrix products. */
struct stet_dot {
    enum stet_dtype dtype; /* of the product, as computed: f32, f64, c64, c128, or integers */
    enum stet_dtype
        operand; /* of both operands, as computed: the same, or s16 if they are narrow */
    enum stet_dtype a_type, b_type, out_type; /* in memory */
    uint32_t batch_rank;
    int64_t batch, m, n, k;
    /* element strides of each operand over its groups of dimensions */
    int64_t batch_dims[STET_MAX_RANK], a_batch[STET_MAX_RANK], b_batch[STET_MAX_RANK];
    struct stet_tile_view a_rows, a_cols, b_rows, b_cols; /* M, K of a; K, N of b */
    int64_t a_offset, b_offset;
    /* if the operand is a matrix: its leading dimension; else 0, and it is packed */
    int64_t lda, ldb;
    bool a_trans, b_trans;
    uint32_t lanes;                  /* blocks of temporary memory */
    uint64_t pack_a, pack_b, pack_c; /* bytes of each in a lane */
};

enum { STET_MAX_SPATIAL = STET_MAX_RANK - 2 };

enum stet_conv_way {
    STET_CONV_COLUMNS,  /* a matrix of what each position reads, times the kernel */
    STET_CONV_SWAPPED,  /* images are adjacent elements: the gradient of a kernel */
    STET_CONV_CHANNELS, /* each group has one feature, and groups are adjacent elements */
};

/* k_conv, with the dimension numbers resolved: everything as element strides. */
struct stet_conv {
    enum stet_conv_way way;
    enum stet_dtype dtype, memory; /* computed in, and in memory */
    enum stet_dtype out_type;
    uint32_t spatial;
    int64_t batch, groups, batch_groups, in_features, out_features; /* features: of a group */
    int64_t in[STET_MAX_SPATIAL], window[STET_MAX_SPATIAL], out[STET_MAX_SPATIAL];
    int64_t stride[STET_MAX_SPATIAL], low[STET_MAX_SPATIAL];
    int64_t in_dilation[STET_MAX_SPATIAL], window_dilation[STET_MAX_SPATIAL];
    bool reversal[STET_MAX_SPATIAL];
    int64_t x_batch, x_feature, x_spatial[STET_MAX_SPATIAL], x_offset;
    int64_t w_in, w_out, w_spatial[STET_MAX_SPATIAL], w_offset;
    int64_t y_batch, y_feature, y_spatial[STET_MAX_SPATIAL];
    int64_t positions, taps; /* of the output, of the window */
    int64_t block;           /* positions (SWAPPED: images) done at once */
    uint32_t lanes;
    /* bytes of temporary memory: weights and lists of taps once, the others a lane */
    uint64_t pack_w, lists, pack_x, pack_y;
};

/* REDUCE: `dims` are those of the operand, outermost first; each is kept or reduced. */
struct stet_reduce {
    uint32_t count; /* operands */
    struct stet_body *body;
    int simple; /* tile op of a one-operand body that folds, or -1 */
    uint32_t rank;
    int64_t dims[STET_MAX_RANK];
    bool reduced[STET_MAX_RANK];
    int64_t kept, folded;   /* elements */
    enum stet_dtype *types; /* in memory */
    /* set when emitted */
    struct stet_tile_prog *prog;
    uint16_t *regs;
    uint32_t first_init, first_out, temp;
    uint64_t chunk;   /* folded elements (of rows) or rows (of columns) done at once; 0: all */
    const void *init; /* the first initial value if it is a constant, else NULL */
};

/* k_window, k_scan, k_select_and_scatter */
struct stet_window {
    uint32_t count, rank;
    struct stet_body *body, *scatter;
    int simple, scatter_simple;
    enum stet_dtype *types;
    struct stet_shape in, out;
    int64_t size[STET_MAX_RANK], stride[STET_MAX_RANK], low[STET_MAX_RANK];
    int64_t base_dilation[STET_MAX_RANK], window_dilation[STET_MAX_RANK];
    uint32_t scan_dim;
    bool backwards;
};

/* k_gather, k_scatter */
struct stet_gather_params {
    uint32_t operands; /* scatter may have several */
    enum stet_dtype index_type;
    size_t *bytes;       /* of an element, per operand */
    int64_t batch;       /* index vectors */
    uint32_t batch_rank; /* dims of the index vectors' grid */
    int64_t batch_dims[STET_MAX_RANK];
    int64_t index_strides[STET_MAX_RANK];  /* in the indices */
    int64_t result_strides[STET_MAX_RANK]; /* in the gather's result, or the updates */
    uint32_t depth;                        /* length of an index vector */
    int64_t depth_stride;
    int64_t limit[STET_MAX_RANK], step[STET_MAX_RANK]; /* of the operand, per element of it */
    int64_t
        batching_step[STET_MAX_RANK]; /* operand step of each batch dim that is a batching one */
    uint32_t window_rank;
    int64_t window_dims[STET_MAX_RANK], window_from[STET_MAX_RANK], window_to[STET_MAX_RANK];
    int64_t window; /* elements */
    struct stet_body *body;
    int simple;
    enum stet_dtype *types;
    struct stet_shape operand;
};

/* k_sort, k_top_k */
struct stet_sort {
    uint32_t count;
    int64_t outer, length, inner; /* the sorted dimension's stride is `inner` */
    size_t *bytes;
    enum stet_dtype *types;
    struct stet_body *body;
    /* the comparator orders by one key: its operand, its tile program, and whether the greater is
     * first */
    int32_t key;
    struct stet_body *key_body;
    bool descending;
    enum stet_dtype key_type;
    int64_t k; /* top_k */
    uint32_t lanes;
    uint64_t lane_bytes;
};

/* k_threefry, k_philox: results are the new state and the bits. */
struct stet_random {
    struct stet_shape bits;
    uint32_t state_words; /* of 64 bits: 2 or 3 */
};

/* STET_G_HOST: elements to the host, or from it. */
struct stet_transfer {
    int64_t channel;
    uint32_t lane;
    bool send;
    uint32_t buffer; /* of the elements, among the step's */
    uint64_t bytes;
};

struct stet_linalg {
    enum stet_dtype dtype;
    int64_t batch, m, n;
    int64_t reflectors;
    bool sort, lower, left, unit, transpose, conjugate;
};

/* k_fft */
enum stet_fft_how {
    STET_FFT_COMPLEX,
    STET_FFT_REAL_EVEN, /* from real numbers to half a spectrum; as pairs if n is even */
    STET_FFT_REAL_ODD,
    STET_FFT_BACK_EVEN, /* and back */
    STET_FFT_BACK_ODD,
};

/* The transforms along one dimension. */
struct stet_fft_axis {
    enum stet_fft_how how;
    bool back;
    int64_t n, outer, inner;
    int64_t from_line, to_line; /* real numbers from one row to the next, where `inner` is 1 */
    uint32_t tasks;
    uint64_t task_bytes;               /* of temporary memory for each */
    const struct stet_fft_line *line;  /* in the lanes, */
    const struct stet_fft_long *whole; /* or one after the other */
    struct stet_fft_roots roots;       /* of n, where pairs are used */
};

struct stet_fft {
    enum stet_dtype real; /* F32 or F64 */
    uint32_t rank;
    struct stet_fft_axis axes[3]; /* in the order in which they are run */
    double scale;
    uint64_t half_bytes; /* of temporary memory for the whole operand */
};

#endif
