/* Launchers, messages, and a folder as a channel. */
#include "test.h"

#include "base/fs.h"
#include "pod/channel.h"
#include "pod/launcher.h"
#include "pod/pod_launch.h"
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
    stet_pod_message_batch(&bytes, "k", &b);
    EXPECT_INT(STET_OK, stet_pod_message_read_batch(&back, "k", stet_buf_as_view(&bytes)));
    EXPECT(!memcmp(&b, &back, sizeof b));
    bytes.len = 0;
    snprintf(r.flags, sizeof r.flags, "A=1\nB=2\n");
    stet_pod_message_report(&bytes, "k", &r);
    EXPECT_INT(STET_OK, stet_pod_message_read_report(&again, "k", stet_buf_as_view(&bytes)));
    EXPECT_INT(3, again.rank);
    EXPECT(again.certain && !again.went_on);
    EXPECT_STR("A=1\nB=2\n", again.flags);
    EXPECT_STR("b", again.theirs.name);
    EXPECT_INT(STET_BAD_INPUT, stet_pod_message_read_batch(&back, "k", stet_buf_as_view(&bytes)));
    bytes.len = 0;
    stet_pod_message_bytes(&bytes, "k", STET_POD_HERE, stet_view_of("\x03\xff", 2));
    EXPECT_INT(STET_OK,
               stet_pod_message_read_bytes(&bits, "k", STET_POD_HERE, stet_buf_as_view(&bytes)));
    EXPECT(bits.len == 2 && bits.ptr[0] == 3);
    EXPECT_INT(STET_BAD_INPUT,
               stet_pod_message_read_bytes(&bits, "k", STET_POD_TEXT, stet_buf_as_view(&bytes)));
    EXPECT_INT(STET_BAD_INPUT, stet_pod_message_read_bytes(&bits, "another key", STET_POD_HERE,
                                                           stet_buf_as_view(&bytes)));
    stet_buf_release(&bytes);
}

/* With a right checksum, so that the parts themselves are read. */
static void reseal(struct stet_buf *b)
{
    b->len -= 8;
    stet_buf_u64(
        b, stet_hash_mix(stet_hash_bytes(stet_buf_as_view(b)), stet_hash_bytes(STET_VIEW("k"))).lo);
}

TEST(damaged_messages_are_none)
{
    static struct stet_pod_batch b, back;
    struct stet_buf bytes = STET_BUF_INIT;
    size_t whole, refused = 0;

    make_batch(&b);
    stet_pod_message_batch(&bytes, "k", &b);
    whole = bytes.len;
    for (size_t n = 0; n < whole; n++)
        EXPECT_INT(STET_BAD_INPUT,
                   stet_pod_message_read_batch(&back, "k", stet_view_of(bytes.ptr, n)));
    for (size_t i = 0; i < whole; i++) {
        bytes.ptr[i] ^= 0x20;
        EXPECT(stet_pod_message_read_batch(&back, "k", stet_buf_as_view(&bytes)) != STET_OK);
        bytes.ptr[i] ^= 0x20;
    }
    for (size_t i = 9; i < whole - 8; i++) {
        char before = bytes.ptr[i];

        for (unsigned v = 0; v < 256; v += 51) {
            bytes.ptr[i] = (char)v;
            reseal(&bytes);
            refused += stet_pod_message_read_batch(&back, "k", stet_buf_as_view(&bytes)) != STET_OK;
            for (size_t k = 0; k < back.entry_count && k < STET_POD_BATCH_ENTRIES; k++)
                EXPECT(memchr(back.entries[k].name, '\0', sizeof back.entries[k].name) != NULL);
        }
        bytes.ptr[i] = before;
    }
    EXPECT(refused > 0);
    reseal(&bytes);
    bytes.ptr[7] = STET_POD_VERSION + 1;
    reseal(&bytes);
    EXPECT_INT(STET_UNSUPPORTED, stet_pod_message_read_batch(&back, "k", stet_buf_as_view(&bytes)));
    stet_buf_release(&bytes);
}

/* What a peer writes is printed: it must not control a terminal. */
TEST(names_of_peers_have_no_control_characters)
{
    static struct stet_pod_batch b, back;
    struct stet_buf bytes = STET_BUF_INIT;

    make_batch(&b);
    snprintf(b.entries[0].name, sizeof b.entries[0].name, "\x1b[31mred\a");
    stet_pod_message_batch(&bytes, "k", &b);
    EXPECT_INT(STET_OK, stet_pod_message_read_batch(&back, "k", stet_buf_as_view(&bytes)));
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
    stet_pod_channel_init(c, &stet_pod_folder_kind, f, "", STET_POD_REACH_ALL);
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

/* ---- launches ---- */

static char launches_at[80];

/* The number of the launch that a rank joins; -1 if it must not. The rank claims it, as `claim`
 * or with this process's own. */
static int join(int64_t rank, const char *claim)
{
    char own[STET_POD_CLAIM], key[32];
    struct stet_pod_channel c;
    struct stet_pod_folder f;
    int number = -1;

    EXPECT_INT(STET_OK, stet_pod_folder_open(&f, launches_at, NULL));
    stet_pod_channel_init(&c, &stet_pod_folder_kind, &f, "job/", STET_POD_REACH_ALL);
    if (stet_pod_launch_join(&c, rank, NULL) != STET_OK)
        return -1;
    EXPECT_INT(1, sscanf(c.prefix, "job/%d/", &number));
    stet_pod_launch_claim(own);
    snprintf(key, sizeof key, "rank/%lld", (long long)rank);
    EXPECT_INT(STET_OK, stet_pod_channel_put(&c, key, stet_view_str(claim ? claim : own)));
    return number;
}

/* Of a process that started so long before this one. */
static const char *claim_of(const char *host, long pid, long long before_s)
{
    static char text[STET_POD_CLAIM];
    unsigned long long ticks;
    long long started;
    char own[80];
    long number;

    stet_pod_launch_claim(text);
    EXPECT_INT(4, sscanf(text, "%79s %ld %llu %lld", own, &number, &ticks, &started));
    snprintf(text, sizeof text, "%s %ld %llu %lld", host ? host : own, pid ? pid : number, ticks,
             started - before_s);
    return text;
}

static void begin_launches(const char *name)
{
    struct stet_pod_channel c;
    struct stet_pod_folder f;

    open_channel(&c, &f);
    snprintf(launches_at, sizeof launches_at, "%s/%s", root, name);
}

TEST(ranks_of_one_launch_meet_and_those_of_the_next_do_too)
{
    begin_launches("local");
    EXPECT_INT(0, join(0, claim_of(NULL, 2147483646, 0))); /* a process that has ended */
    EXPECT_INT(1, join(2, claim_of(NULL, 2147483646, 0))); /* rank 0 has ended: the next launch */
    EXPECT_INT(2, join(2, NULL));                          /* this rank was in it */
    EXPECT_INT(2, join(0, NULL));
    EXPECT_INT(2, join(1, NULL));
    EXPECT_INT(-1, join(1, NULL)); /* a second process of the rank, while the first runs */
}

/* They cannot be asked, and their clocks differ by minutes. */
TEST(ranks_of_other_hosts_count_as_ended_when_they_started_long_before)
{
    begin_launches("hosts");
    EXPECT_INT(0, join(0, claim_of("a", 77, 0)));
    EXPECT_INT(0, join(1, claim_of("b", 77, 500))); /* its clock is eight minutes behind */
    EXPECT_INT(0, join(2, claim_of("c", 77, -500)));
    EXPECT_INT(0, join(3, claim_of("d", 77, 700)));
    EXPECT_INT(1, join(4, claim_of("e", 77, 0))); /* rank 3 started more than ten minutes before */
    EXPECT_INT(1, join(0, claim_of("a", 78, 0)));
}

TEST(the_last_of_many_launches_is_found_with_few_questions)
{
    struct stet_pod_channel c;
    struct stet_pod_folder f;

    begin_launches("many");
    EXPECT_INT(STET_OK, stet_pod_folder_open(&f, launches_at, NULL));
    stet_pod_channel_init(&c, &stet_pod_folder_kind, &f, "job/", STET_POD_REACH_ALL);
    for (int i = 0; i < 1000; i++) {
        char key[32];

        snprintf(key, sizeof key, "launch/%d", i);
        EXPECT_INT(STET_OK, stet_pod_channel_put(&c, key, STET_VIEW("1")));
    }
    EXPECT_INT(STET_OK, stet_pod_launch_join(&c, 5, NULL));
    EXPECT_STR("job/999/", c.prefix);
    EXPECT(c.traffic.gets < 30);
}

TEST(claims_that_are_damaged_are_of_no_running_process)
{
    begin_launches("damaged");
    EXPECT_INT(0, join(0, "\x01\xff nonsense"));
    EXPECT_INT(1, join(0, "a b c d"));
    EXPECT_INT(2, join(0, ""));
    EXPECT_INT(3, join(0, NULL));
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

    stet_pod_channel_init(&c, &kind, NULL, "", STET_POD_REACH_JOB);
    EXPECT_INT(STET_OK, stet_pod_channel_put(&c, "k", STET_VIEW("v")));
    EXPECT_INT(STET_NOT_FOUND, stet_pod_channel_get(&c, "k", 0, &out));
    EXPECT_INT(2, calls);
    atomic_store(&c.closed, true);
    EXPECT_INT(STET_IO, stet_pod_channel_put(&c, "k", STET_VIEW("v")));
    EXPECT_INT(STET_IO, stet_pod_channel_get(&c, "k", 0, &out));
    EXPECT_INT(2, calls);
    EXPECT(!atomic_load(&c.given_up)); /* it is over, not broken */
}

/* A channel that answers every question with something. */
static enum stet_rc lying_get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                              struct stet_err *err)
{
    (void)self, (void)key, (void)wait_ms, (void)err;
    calls++;
    stet_buf_str(out, "STETPOD\2\1 not what was written");
    return STET_OK;
}

static enum stet_rc ended_get(void *self, const char *key, uint32_t wait_ms, struct stet_buf *out,
                              struct stet_err *err)
{
    (void)self, (void)key, (void)wait_ms, (void)out, (void)err;
    calls++;
    return STET_UNSUPPORTED;
}

/* jax.distributed was shut down, and the process goes on for a while. */
TEST(a_channel_that_has_ended_is_not_called_again_and_is_not_broken)
{
    const struct stet_pod_channel_kind kind = {
        .word = "ended", .value_most = 100, .put = counted_put, .get = ended_get};
    struct stet_buf out = STET_BUF_INIT;
    struct stet_pod_channel c;

    calls = 0;
    stet_pod_channel_init(&c, &kind, NULL, "", STET_POD_REACH_JOB);
    for (int i = 0; i < 5; i++)
        EXPECT_INT(STET_IO, stet_pod_channel_get(&c, "k", 0, &out));
    EXPECT_INT(1, calls);
    EXPECT(!c.given_up && !c.traffic.failures);
    EXPECT(stet_pod_channel_is_over(&c));
}

TEST(a_channel_with_damaged_values_is_given_up)
{
    const struct stet_pod_channel_kind kind = {
        .word = "lie", .value_most = 100, .put = counted_put, .get = lying_get};
    struct stet_buf out = STET_BUF_INIT;
    struct stet_pod_channel c;

    calls = 0;
    stet_pod_channel_init(&c, &kind, NULL, "", STET_POD_REACH_JOB);
    for (int i = 0; i < 100; i++) {
        out.len = 0;
        if (stet_pod_channel_get(&c, "k", 0, &out) == STET_OK)
            stet_pod_channel_damaged(&c, STET_BAD_INPUT);
    }
    EXPECT(c.given_up);
    EXPECT_INT(8, calls);
    EXPECT_STR("the channel returns other values than were written", c.why);
    stet_buf_release(&out);
}

TEST(keys_and_values_have_limits)
{
    static char big[(16 << 20) + 1];
    struct stet_pod_channel c;
    struct stet_pod_folder f = {.path = "/nowhere"};
    char key[STET_POD_KEY + 8];

    stet_pod_channel_init(&c, &stet_pod_folder_kind, &f, "prefix/", STET_POD_REACH_ALL);
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    EXPECT_INT(STET_IO, stet_pod_channel_put(&c, key, STET_VIEW("x")));
    EXPECT_INT(STET_IO, stet_pod_channel_put(&c, "x", stet_view_of(big, sizeof big)));
    EXPECT_INT(0, c.traffic.puts);
}
