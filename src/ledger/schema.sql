-- The ledger: what happened in which run, and why. docs/ledger.md describes it; the version is
-- SQLite's user_version. Everything in it comes from the run folders and can be made again.

CREATE TABLE run (
    id TEXT PRIMARY KEY NOT NULL,
    folder TEXT NOT NULL,
    cwd TEXT NOT NULL,
    host TEXT NOT NULL,
    command TEXT NOT NULL,
    started_ns INTEGER NOT NULL,      -- CLOCK_REALTIME
    ended_ns INTEGER,                 -- null while it runs, or when it was cut off
    exit_code INTEGER,
    signal INTEGER,
    processes INTEGER NOT NULL,
    compiles INTEGER NOT NULL,
    loads INTEGER NOT NULL,           -- serialised executables that were loaded instead
    failed INTEGER NOT NULL,
    executions INTEGER NOT NULL,
    compile_ns INTEGER NOT NULL,
    programs INTEGER NOT NULL,        -- distinct ones
    settled_step INTEGER,             -- from which on nothing was compiled; null: not settled
    settled_why TEXT                  -- why not
) WITHOUT ROWID;
CREATE INDEX run_by_time ON run (started_ns);

-- Which journals were read for which lane: a run whose files have grown is read again.
CREATE TABLE fed (
    run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    lane TEXT NOT NULL,               -- xla, torch
    stamp TEXT NOT NULL,
    PRIMARY KEY (run, lane)
) WITHOUT ROWID;

CREATE TABLE process (
    run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    process INTEGER NOT NULL,         -- from 0, in the order they appeared
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    rank INTEGER,
    python TEXT NOT NULL,
    steps INTEGER,                    -- of its loop; null: not known
    executions INTEGER NOT NULL,
    PRIMARY KEY (run, process)
) WITHOUT ROWID;

-- What lies below the programs: plugin builds, versions, flags.
CREATE TABLE part (
    run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    process INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, process, name)
) WITHOUT ROWID;

CREATE TABLE compile (
    run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    process INTEGER NOT NULL,
    compile INTEGER NOT NULL,         -- 0-based index in its process
    time_ns INTEGER NOT NULL,
    function TEXT NOT NULL,
    program TEXT NOT NULL,            -- 32 hex digits: <run folder>/programs/<program>.*
    cost_ns INTEGER NOT NULL,
    executions INTEGER NOT NULL,
    step INTEGER,
    served INTEGER NOT NULL,          -- 0 compiled, 1 memory, 2 disk, 3 remote, 4 lifted
    temp_bytes INTEGER,
    error TEXT,
    wait_ns INTEGER NOT NULL DEFAULT 0, -- what was waited for it, tracing and lowering included
    PRIMARY KEY (run, process, compile)
) WITHOUT ROWID;
CREATE INDEX compile_by_program ON compile (program);

-- Every compile after the first of its kind, in every lane.
CREATE TABLE recompile (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    lane TEXT NOT NULL,
    process INTEGER NOT NULL,
    compile INTEGER NOT NULL,
    rank INTEGER,
    step INTEGER,
    class TEXT NOT NULL,
    also TEXT NOT NULL,               -- further causes, separated by blanks
    function TEXT NOT NULL,
    program TEXT,
    against TEXT,
    origin_file TEXT,
    origin_line INTEGER,
    origin_function TEXT,
    trigger_file TEXT,
    trigger_line INTEGER,
    trigger_function TEXT,
    cost_ns INTEGER NOT NULL,
    served TEXT NOT NULL,
    benign INTEGER NOT NULL,
    sure TEXT NOT NULL,               -- certain, likely, guess
    evidence TEXT NOT NULL,
    temp_bytes INTEGER,
    temp_bytes_more INTEGER,          -- than the program it is compared with
    left_out INTEGER NOT NULL,        -- changes that are not in the table
    fix TEXT NOT NULL,
    advice TEXT,                      -- JSON: what "advice" is in stet.explain/1; null for none
    source_file TEXT,                 -- where the value was made or read back
    source_line INTEGER,
    source_function TEXT,
    wait_ns INTEGER NOT NULL DEFAULT 0, -- what was waited for it; cost_ns is the compiler's part
    event TEXT NOT NULL DEFAULT 'recompile', -- recompile, first-compile, single-operation,
                                      -- graph-break, recording
    turn INTEGER,                     -- of the loop; null: not known
    time_ns INTEGER NOT NULL DEFAULT 0 -- CLOCK_REALTIME of its beginning; 0: not known
);
CREATE INDEX recompile_by_run ON recompile (run, lane, process, compile);
CREATE INDEX recompile_by_class ON recompile (class);

CREATE TABLE change (
    recompile INTEGER NOT NULL REFERENCES recompile (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    what TEXT NOT NULL,
    was TEXT,
    is_now TEXT,
    file TEXT,
    line INTEGER,
    kind TEXT NOT NULL,
    facet TEXT,
    follows TEXT,
    places INTEGER NOT NULL,
    dim INTEGER,                      -- the dimension whose size it is; null for none
    PRIMARY KEY (recompile, number)
) WITHOUT ROWID;

-- What a framework counted itself: compiles, transfers, operations it ran on the CPU.
CREATE TABLE counter (
    run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    process INTEGER NOT NULL,
    framework TEXT NOT NULL,          -- torch_xla
    name TEXT NOT NULL,               -- as the framework names it: UncachedCompile, aten::nonzero
    samples INTEGER NOT NULL,         -- how often
    total INTEGER NOT NULL,           -- of a metric: nanoseconds, or bytes for ...Data
    file TEXT,                        -- of an operation without a lowering, where it is known
    line INTEGER,
    PRIMARY KEY (run, process, framework, name)
) WITHOUT ROWID;

-- What a person asks first: SELECT * FROM cause WHERE run = '…' ORDER BY seconds DESC.
CREATE VIEW cause AS
    SELECT run, lane, class, function, origin_file, origin_line, count(*) AS times,
           sum(wait_ns) / 1e9 AS seconds, min(step) AS first_step, max(step) AS last_step,
           sum(CASE served WHEN 'compiled' THEN cost_ns ELSE 0 END) / 1e9 AS compiler_seconds
    FROM recompile WHERE NOT benign
    GROUP BY run, lane, class, function, origin_file, origin_line;
