/* Launchers, messages, and a folder as a channel. */
#include "test.h"

#include "base/fs.h"
#include "pod/channel.h"
#include "pod/launcher.h"
#include "pod/pod_message.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- launchers ---- */

static struct stet_pod_place place_of(const char *variables)
{
    struct stet_view list[24];
    struct stet_pod_place p;
    size_t n = 0;

    while (*variables) {
        size_t len = strcspn(variables, "|");

        list[n++] = stet_view_of(variables, len);
        variables += len + (variables[len] == '|');
    }
    stet_pod_launcher_listed(&p, list, n);
    return p;
}

static void expect_place(const char *variables, const char *launcher, int64_t rank, int64_t world)
{
    struct stet_pod_place p = place_of(variables);

    EXPECT_STR(launcher, p.launcher);
    EXPECT_INT(rank, p.rank);
    EXPECT_INT(world, p.world);
}

TEST(launchers_are_recognised)
{
    expect_place("RANK=3|WORLD_SIZE=8|LOCAL_RANK=1|LOCAL_WORLD_SIZE=2|MASTER_ADDR=a|MASTER_PORT=1",
                 "torchrun", 3, 8);
    expect_place("JAX_PROCESS_ID=1|JAX_NUM_PROCESSES=4|JAX_COORDINATOR_ADDRESS=a:1", "jax", 1, 4);
    expect_place("OMPI_COMM_WORLD_RANK=2|OMPI_COMM_WORLD_SIZE=4|OMPI_COMM_WORLD_LOCAL_RANK=0",
                 "mpirun", 2, 4);
    expect_place("PMI_RANK=0|PMI_SIZE=16|MPI_LOCALRANKID=0|MPI_LOCALNRANKS=8", "mpiexec", 0, 16);
    expect_place("MV2_COMM_WORLD_RANK=5|MV2_COMM_WORLD_SIZE=6", "mvapich", 5, 6);
    expect_place("SLURM_PROCID=5|SLURM_NTASKS=512|SLURM_LOCALID=5|SLURM_JOB_ID=77|SLURM_STEP_ID=0",
                 "slurm", 5, 512);
    expect_place("JOB_COMPLETION_INDEX=2|NUM_PROCESSES=3", "kubernetes", 2, 3);
    expect_place("JOB_COMPLETION_INDEX=2", "kubernetes", 2, 0);
    expect_place("TPU_WORKER_ID=1|TPU_WORKER_HOSTNAMES=t-0,t-1,t-2,t-3", "tpu pod", 1, 4);
    expect_place("TPU_WORKER_ID=1|TPU_WORKER_HOSTNAMES=t-0,t-1|MEGASCALE_SLICE_ID=2|"
                 "MEGASCALE_NUM_SLICES=4|MEGASCALE_COORDINATOR_ADDRESS=t-0",
                 "tpu pod", 5, 8);
    expect_place("TPU_WORKER_ID=1|TPU_PROCESS_ADDRESSES=a:1,b:1,c:1", "tpu pod", 1, 3);
    expect_place("CLOUD_TPU_TASK_ID=0|TPU_WORKER_HOSTNAMES=x,y", "cloud tpu", 0, 2);
}

TEST(a_launcher_inside_another_counts)
{
    /* torchrun in a step of Slurm; Slurm's tasks are its nodes */
    expect_place("SLURM_PROCID=1|SLURM_NTASKS=2|RANK=12|WORLD_SIZE=16|SLURM_JOB_ID=9", "torchrun",
                 12, 16);
}

TEST(what_is_not_a_rank_is_not_believed)
{
    static const char *const wrong[] = {"",
                                        "RANK=",
                                        "RANK=x|WORLD_SIZE=2",
                                        "RANK=-1|WORLD_SIZE=2",
                                        "RANK=2|WORLD_SIZE=2",
                                        "RANK=1x|WORLD_SIZE=2",
                                        "RANK=99999999999999999999|WORLD_SIZE=2",
                                        "WORLD_SIZE=2",
                                        "XRANK=1|WORLD_SIZE=2"};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct stet_pod_place p = place_of(wrong[i]);

        EXPECT(!p.launcher);
        EXPECT_INT(-1, p.rank);
        EXPECT_INT(0, p.world);
    }
}

/* All ranks of a job have one name, and a restarted job has another. */
TEST(a_job_has_a_name)
{
    struct stet_hash a =
        place_of("SLURM_PROCID=0|SLURM_NTASKS=2|SLURM_JOB_ID=7|SLURM_STEP_ID=0").job;

    EXPECT(!stet_hash_is_zero(a));
    EXPECT(stet_hash_eq(
        a, place_of("SLURM_PROCID=1|SLURM_NTASKS=2|SLURM_JOB_ID=7|SLURM_STEP_ID=0").job));
    EXPECT(!stet_hash_eq(
        a, place_of("SLURM_PROCID=0|SLURM_NTASKS=2|SLURM_JOB_ID=7|SLURM_STEP_ID=1").job));
    EXPECT(!stet_hash_eq(a, place_of("SLURM_PROCID=0|SLURM_NTASKS=2|SLURM_JOB_ID=7|SLURM_STEP_ID=0|"
                                     "SLURM_RESTART_COUNT=1")
                                .job));
    EXPECT(stet_hash_is_zero(place_of("RANK=0|WORLD_SIZE=2").job));
}

TEST(the_journal_keeps_what_launchers_set)
{
    EXPECT(stet_pod_launcher_reads(STET_VIEW("RANK")));
    EXPECT(stet_pod_launcher_reads(STET_VIEW("PMIX_NAMESPACE")));
    EXPECT(stet_pod_launcher_reads(STET_VIEW("MEGASCALE_SLICE_ID")));
    EXPECT(!stet_pod_launcher_reads(STET_VIEW("HOME")));
    EXPECT(!stet_pod_launcher_reads(STET_VIEW("")));
}

/* ---- messages ---- */

static struct stet_pod_entry entry(const char *name)
{
    struct stet_pod_entry e = {.number = 7, .place = 3, .position = 12345678901, .scope = {1, 2}};

    for (size_t i = 0; i < STET_POD_PARTS; i++)
        e.part[i] = (struct stet_hash){i + 1, 99};
    e.bytes = (struct stet_hash){5, 6};
    snprintf(e.name, sizeof e.name, "%s", name);
    return e;
}

static void make_batch(struct stet_pod_batch *b)
{
    memset(b, 0, sizeof *b);
    b->rank = 4095;
    b->number = 17;
    b->state = (struct stet_pod_state){
        .executions = 9, .compiling = true, .overlaps = true, .line = 41, .pid = 77, .loads = 2};
    snprintf(b->state.file, sizeof b->state.file, "train.py");
    b->count_count = 1;
    b->counts[0] = (struct stet_pod_count){{1, 2}, 8};
    b->entry_count = 2;
    b->entries[0] = entry("train_step");
    b->entries[1] = entry("évalue");
}

TEST(messages_come_back_as_they_were)
{
    static struct stet_pod_batch b, back;
    struct stet_pod_report r = {.rank = 3,
                                .own = entry("a"),
                                .theirs = entry("b"),
                                .certain = true},
                           again;
    struct stet_buf bytes = STET_BUF_INIT;
    struct stet_view bits;

    make_batch(&b);
    stet_pod_message_batch(&bytes, &b);
    EXPECT_INT(STET_OK, stet_pod_message_read_batch(&back, stet_buf_as_view(&bytes)));
    EXPECT(!memcmp(&b, &back, sizeof b));
    bytes.len = 0;
    snprintf(r.flags, sizeof r.flags, "A=1\nB=2\n");
    stet_pod_message_report(&bytes, &r);
    EXPECT_INT(STET_OK, stet_pod_message_read_report(&again, stet_buf_as_view(&bytes)));
    EXPECT_INT(3, again.rank);
    EXPECT(again.certain && !again.went_on);
    EXPECT_STR("A=1\nB=2\n", again.flags);
    EXPECT_STR("b", again.theirs.name);
    EXPECT_INT(STET_BAD_INPUT, stet_pod_message_read_batch(&back, stet_buf_as_view(&bytes)));
    bytes.len = 0;
    stet_pod_message_here(&bytes, stet_view_of("\x03\xff", 2));
    EXPECT_INT(STET_OK, stet_pod_message_read_here(&bits, stet_buf_as_view(&bytes)));
    EXPECT(bits.len == 2 && bits.ptr[0] == 3);
    stet_buf_release(&bytes);
}

/* With a right checksum, so that the parts themselves are read. */
static void reseal(struct stet_buf *b)
{
    b->len -= 8;
    stet_buf_u64(b, stet_hash_bytes(stet_buf_as_view(b)).lo);
}

TEST(damaged_messages_are_none)
{
    static struct stet_pod_batch b, back;
    struct stet_buf bytes = STET_BUF_INIT;
    size_t whole, refused = 0;

    make_batch(&b);
    stet_pod_message_batch(&bytes, &b);
    whole = bytes.len;
    for (size_t n = 0; n < whole; n++)
        EXPECT_INT(STET_BAD_INPUT, stet_pod_message_read_batch(&back, stet_view_of(bytes.ptr, n)));
    for (size_t i = 0; i < whole; i++) {
        bytes.ptr[i] ^= 0x20;
        EXPECT(stet_pod_message_read_batch(&back, stet_buf_as_view(&bytes)) != STET_OK);
        bytes.ptr[i] ^= 0x20;
    }
    for (size_t i = 9; i < whole - 8; i++) {
        char before = bytes.ptr[i];

        for (unsigned v = 0; v < 256; v += 51) {
            bytes.ptr[i] = (char)v;
            reseal(&bytes);
            refused += stet_pod_message_read_batch(&back, stet_buf_as_view(&bytes)) != STET_OK;
            for (size_t k = 0; k < back.entry_count && k < STET_POD_BATCH_ENTRIES; k++)
                EXPECT(memchr(back.entries[k].name, '\0', sizeof back.entries[k].name) != NULL);
        }
        bytes.ptr[i] = before;
    }
    EXPECT(refused > 0);
    reseal(&bytes);
    bytes.ptr[7] = STET_POD_VERSION + 1;
    reseal(&bytes);
    EXPECT_INT(STET_UNSUPPORTED, stet_pod_message_read_batch(&back, stet_buf_as_view(&bytes)));
    stet_buf_release(&bytes);
}

/* What a peer writes is printed: it must not control a terminal. */
TEST(names_of_peers_have_no_control_characters)
{
    static struct stet_pod_batch b, back;
    struct stet_buf bytes = STET_BUF_INIT;

    make_batch(&b);
    snprintf(b.entries[0].name, sizeof b.entries[0].name, "\x1b[31mred\a");
    stet_pod_message_batch(&bytes, &b);
    EXPECT_INT(STET_OK, stet_pod_message_read_batch(&back, stet_buf_as_view(&bytes)));
    EXPECT_STR("?[31mred?", back.entries[0].name);
    stet_buf_release(&bytes);
}

/* ---- the folder ---- */

static char root[] = "/tmp/stet-pod-XXXXXX";

static void open_channel(struct stet_pod_channel *c, struct stet_pod_folder *f)
{
    static bool made;
    char path[64];

    if (!made)
        made = mkdtemp(root) != NULL;
    snprintf(path, sizeof path, "%s/job", root);
    EXPECT_INT(STET_OK, stet_pod_folder_open(f, path, NULL));
    stet_pod_channel_init(c, &stet_pod_folder_kind, f, "");
}

TEST(a_message_in_a_folder_is_written_once)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_pod_channel c;
    struct stet_pod_folder f;

    open_channel(&c, &f);
    EXPECT_INT(STET_NOT_FOUND, stet_pod_channel_get(&c, "log/0/0", 0, &out));
    EXPECT_INT(STET_OK, stet_pod_channel_put(&c, "log/0/0", STET_VIEW("one")));
    EXPECT_INT(STET_REFUSED, stet_pod_channel_put(&c, "log/0/0", STET_VIEW("two")));
    EXPECT_INT(STET_OK, stet_pod_channel_get(&c, "log/0/0", 0, &out));
    EXPECT_STR("one", out.ptr);
    EXPECT_INT(0, c.traffic.failures);
    stet_buf_release(&out);
}

struct writer {
    struct stet_pod_channel *channel;
    pthread_barrier_t *start;
    char value;
    enum stet_rc rc;
};

static void *write_it(void *context)
{
    struct writer *w = context;

    pthread_barrier_wait(w->start);
    w->rc = stet_pod_channel_put(w->channel, "decision", stet_view_of(&w->value, 1));
    return NULL;
}

TEST(of_many_writers_one_wins)
{
    enum { WRITERS = 16 };
    struct writer w[WRITERS];
    pthread_t threads[WRITERS];
    pthread_barrier_t start;
    struct stet_buf out = STET_BUF_INIT;
    struct stet_pod_channel c;
    struct stet_pod_folder f;
    int won = 0;

    open_channel(&c, &f);
    pthread_barrier_init(&start, NULL, WRITERS);
    for (int i = 0; i < WRITERS; i++) {
        w[i] = (struct writer){&c, &start, (char)('a' + i), STET_IO};
        EXPECT_INT(0, pthread_create(&threads[i], NULL, write_it, &w[i]));
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    EXPECT_INT(STET_OK, stet_pod_channel_get(&c, "decision", 0, &out));
    for (int i = 0; i < WRITERS; i++) {
        won += w[i].rc == STET_OK;
        EXPECT(w[i].rc == (w[i].value == out.ptr[0] ? STET_OK : STET_REFUSED));
    }
    EXPECT_INT(1, won);
    pthread_barrier_destroy(&start);
    stet_buf_release(&out);
}

TEST(a_folder_that_others_may_write_to_is_refused)
{
    struct stet_err err = STET_ERR_INIT;
    struct stet_pod_folder f;
    struct stet_pod_channel c;
    char path[64];

    open_channel(&c, &f);
    snprintf(path, sizeof path, "%s/open", root);
    EXPECT_INT(0, mkdir(path, 0700));
    EXPECT_INT(0, chmod(path, 0777));
    EXPECT_INT(STET_REFUSED, stet_pod_folder_open(&f, path, &err));
    EXPECT(strstr(err.text, "others must not write") != NULL);
    snprintf(path, sizeof path, "%s/link", root);
    EXPECT_INT(0, symlink(root, path));
    EXPECT_INT(STET_REFUSED, stet_pod_folder_open(&f, path, NULL));
}

/* Two jobs, one after the other, in one folder. */
TEST(a_second_job_has_a_folder_of_its_own)
{
    struct stet_pod_folder first, second, third;
    struct stet_pod_channel c;
    char path[64], claim[128], host[64] = "";

    open_channel(&c, &first);
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s/jobs", root);
    EXPECT_INT(STET_OK, stet_pod_folder_join(&first, path, 0, NULL));
    EXPECT_INT(STET_OK, stet_pod_folder_join(&second, path, 1, NULL));
    EXPECT_STR(first.path, second.path);
    stet_pod_channel_init(&c, &stet_pod_folder_kind, &first, "");
    snprintf(claim, sizeof claim, "%s %ld", host, (long)getpid());
    EXPECT_INT(STET_OK, stet_pod_channel_put(&c, "rank/0", stet_view_str(claim)));
    EXPECT_INT(STET_OK, stet_pod_folder_join(&second, path, 1, NULL));
    EXPECT_STR(first.path, second.path); /* the other rank of the same job */
    EXPECT_INT(STET_OK, stet_pod_folder_join(&third, path, 0, NULL));
    EXPECT(strcmp(first.path, third.path) != 0); /* this rank was there */
    snprintf(claim, sizeof claim, "%s 2147483646", host);
    EXPECT_INT(STET_OK, stet_pod_channel_put(&c, "rank/2", stet_view_str(claim)));
    EXPECT_INT(STET_OK, stet_pod_folder_join(&second, path, 1, NULL));
    EXPECT_STR(third.path, second.path); /* a process of the first job has ended */
    snprintf(claim, sizeof claim, "elsewhere 2147483646");
    stet_pod_channel_init(&c, &stet_pod_folder_kind, &third, "");
    EXPECT_INT(STET_OK, stet_pod_channel_put(&c, "rank/2", stet_view_str(claim)));
    EXPECT_INT(STET_OK, stet_pod_folder_join(&second, path, 1, NULL));
    EXPECT_STR(third.path, second.path); /* processes of other hosts are not known */
}

TEST(what_is_not_a_file_is_not_a_message)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_pod_channel c;
    struct stet_pod_folder f;
    char path[5000];

    open_channel(&c, &f);
    snprintf(path, sizeof path, "%s/pipe", f.path);
    EXPECT_INT(0, mkfifo(path, 0600));
    EXPECT_INT(STET_BAD_INPUT, stet_pod_channel_get(&c, "pipe", 0, &out));
    snprintf(path, sizeof path, "%s/folder", f.path);
    EXPECT_INT(0, mkdir(path, 0700));
    EXPECT_INT(STET_BAD_INPUT, stet_pod_channel_get(&c, "folder", 0, &out));
    EXPECT_INT(2, c.traffic.failures);
    stet_buf_release(&out);
}

TEST(a_folder_that_went_away_is_given_up)
{
    struct stet_buf out = STET_BUF_INIT;
    struct stet_pod_channel c;
    struct stet_pod_folder f;

    open_channel(&c, &f);
    EXPECT_INT(0, stet_fs_remove_tree(root));
    for (int i = 0; i < 5; i++)
        EXPECT(stet_pod_channel_put(&c, "x", STET_VIEW("y")) == STET_IO);
    EXPECT(c.given_up);
    EXPECT_INT(3, c.traffic.puts);
    EXPECT_INT(STET_IO, stet_pod_channel_get(&c, "x", 0, &out));
    stet_buf_release(&out);
}

static int calls;

static enum stet_rc counted_put(void *self, const char *key, struct stet_view value,
                                struct stet_err *err)
{
    (void)self, (void)key, (void)value, (void)err;
    calls++;
    return STET_OK;
}

static enum stet_rc counted_get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                                struct stet_err *err)
{
    (void)self, (void)key, (void)wait_ms, (void)out, (void)err;
    calls++;
    return STET_NOT_FOUND;
}

/* JAX has freed its store when it destroys the client. */
TEST(a_closed_channel_is_not_called)
{
    const struct stet_pod_channel_kind kind = {
        .word = "lent", .value_most = 8, .lent = true, .put = counted_put, .get = counted_get};
    struct stet_buf out = STET_BUF_INIT;
    struct stet_pod_channel c;

    stet_pod_channel_init(&c, &kind, NULL, "");
    EXPECT_INT(STET_OK, stet_pod_channel_put(&c, "k", STET_VIEW("v")));
    EXPECT_INT(STET_NOT_FOUND, stet_pod_channel_get(&c, "k", 0, &out));
    EXPECT_INT(2, calls);
    atomic_store(&c.closed, true);
    EXPECT_INT(STET_IO, stet_pod_channel_put(&c, "k", STET_VIEW("v")));
    EXPECT_INT(STET_IO, stet_pod_channel_get(&c, "k", 0, &out));
    EXPECT_INT(2, calls);
    EXPECT(!atomic_load(&c.given_up)); /* it is over, not broken */
}

TEST(keys_and_values_have_limits)
{
    static char big[(16 << 20) + 1];
    struct stet_pod_channel c;
    struct stet_pod_folder f = {.path = "/nowhere"};
    char key[STET_POD_KEY + 8];

    stet_pod_channel_init(&c, &stet_pod_folder_kind, &f, "prefix/");
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    EXPECT_INT(STET_IO, stet_pod_channel_put(&c, key, STET_VIEW("x")));
    EXPECT_INT(STET_IO, stet_pod_channel_put(&c, "x", stet_view_of(big, sizeof big)));
    EXPECT_INT(0, c.traffic.puts);
}
