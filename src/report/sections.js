"use strict";
// Causes, lines, families, shapes, memory, what was saved: one function each, an element or nothing.
(() => {
  const { el, svg, seconds, bytes, count, place, section, table, swatch, bar, asTable } = Stet;

  function excerpt(p) {
    if (!p || !p.excerpt.length) return null;
    return el("pre", { class: "code", tabindex: "0", "aria-label": "Source of " + place(p) }, el("code", {}, p.excerpt.map(([n, text]) =>
      el(n === p.line ? "mark" : "span", {}, el("i", { text: n }), text))));
  }
  function change(c) {
    return el("div", {}, c.from === null && c.to !== null ? "+ " : c.to === null && c.from !== null ? "− " : "", c.what, " ",
      c.from !== null ? el("span", { class: "from mono", text: c.from }) : "", c.from !== null && c.to !== null ? " → " : " ",
      c.to !== null ? el("span", { class: "to mono", text: c.to }) : "",
      c.count > 1 ? el("span", { class: "muted", text: " (" + c.count + " places)" }) : "");
  }
  const row = (name, ...what) => [el("dt", { text: name }), el("dd", {}, ...what)];
  const sure = { certain: "evidence", likely: "likely", guess: "a guess" };

  function causeCard(run, item, total) {
    const c = item.cause, shown = c.changes.filter((x) => !x.follows).slice(0, 6);
    const more = c.changes.length - shown.length + c.left_out;
    const steps = c.first_step === null ? "" : c.first_step === c.last_step ? " at step " + c.first_step
      : " at steps " + c.first_step + "…" + c.last_step;
    return el("article", { class: "cause e" + run.colour(item.index), "data-class": c.class },
      el("header", {}, el("h3", {}, swatch(run, item.index), c.class, c.also ? el("span", { class: "muted", text: " and " + c.also.split(" ").join(", ") }) : "",
        el("span", { class: "muted", text: " in " }), el("code", { text: c.names })),
      el("span", { class: "cost", text: (item.times === 1 ? "once" : count(item.times, "time")) + steps + ", waited " + seconds(item.cost) + (c.benign ? " (harmless)" : "") })),
      total > 0 && !c.benign ? bar(item.cost / total) : null,
      el("dl", {},
        shown.length ? row("what moved", shown.map(change), more > 0 ? el("div", { class: "muted", text: "and " + more + " more that follow" }) : null) : null,
        c.values.length > 2 ? row("values seen", c.values.map((v) => el("span", { class: "chip mono", text: v })),
          c.more_values ? el("span", { class: "muted", text: "and " + c.more_values + " more" }) : null) : null,
        c.source ? row("line to edit", el("code", { text: place(c.source), title: c.source.file }), c.source.function ? " in " + c.source.function : "", excerpt(c.source),
          c.source.excerpt.length ? null : el("div", { class: "muted", text: "The file is not where it was." })) : null,
        c.origin ? row("origin", el("details", {}, el("summary", {}, el("code", { text: place(c.origin), title: c.origin.file }),
          c.origin.function ? " in " + c.origin.function : ""), excerpt(c.origin) || "The file is not where it was.")) : null,
        c.trigger ? row("waited for by", el("details", {}, el("summary", {}, el("code", { text: place(c.trigger), title: c.trigger.file }),
          c.trigger.function ? " in " + c.trigger.function : ""), excerpt(c.trigger) || "The file is not where it was.")) : null,
        c.evidence ? row(sure[c.sure] || "evidence", c.evidence) : null,
        c.temp_bytes_more ? row("memory", bytes(Math.abs(c.temp_bytes_more)) + " of temporaries " + (c.temp_bytes_more > 0 ? "more" : "less") + " than before") : null),
      c.fix && !c.benign ? el("p", { class: "fix" }, el("b", { text: "Fix: " }), c.fix, " ", el("code", { class: "more", text: "stet help " + c.class })) : null);
  }

  // Ranks that did not compile the same, or did not come.
  const listed = (ranks) => (ranks.length === 1 ? "rank " : "ranks ") + ranks.join(", ");
  function divergenceCard(d) {
    const shown = (d.changes || []).filter((x) => !x.follows).slice(0, 6), where = (p) => [el("code", { text: place(p), title: p.file }), p.function ? " in " + p.function : ""];
    const both = d.trigger && d.other_trigger && place(d.trigger) === place(d.other_trigger);
    const title = d.finding === "differs" ? "rank " + d.rank + " compiled a different " + d.function + " than rank " + d.other
      : d.finding === "late" ? "rank " + d.other + " did not reach " + d.function : listed(d.missing) + " did not reach " + d.function;
    return el("article", { class: "cause", "data-class": "rank-divergence" },
      el("header", {}, el("h3", {}, title), el("span", { class: "cost", text: (d.class && d.class !== "unknown" ? d.class + ", " : "") + (d.certain ? "" : "may be intended, ") + "after " + seconds(d.after_s) })),
      el("dl", {},
        shown.length && !d.reordered ? row("rank " + d.other + " → rank " + d.rank, shown.map(change)) : null,
        d.source || d.origin ? row("line", ...where(d.source || d.origin)) : null,
        both ? row("called by both", ...where(d.trigger)) : null,
        d.trigger && !both ? row("rank " + d.rank, ...where(d.trigger)) : null,
        both ? null : d.other_trigger ? row("rank " + d.other, ...where(d.other_trigger)) : d.other_at ? row("rank " + (d.other === null ? d.missing[0] : d.other), ...where(d.other_at), " when it was asked") : null,
        d.reordered ? row("likely", "the same operations in another order, as when Python goes through a set") : null,
        d.like_other && d.like_other.length ? row("others", listed(d.like_other) + " had the program of rank " + d.other) : null,
        d.went_on ? row("evidence", "rank " + d.other + " executed further programs of these ranks without compiling this one") : null),
      d.fix ? el("p", { class: "fix" }, el("b", { text: "Fix: " }), d.fix) : null);
  }
  Stet.ranks = (run) => run.divergences.length
    ? section("ranks", "Ranks that differ", "the certain ones first", run.divergences.map(divergenceCard)) : null;

  const CARDS = 24;
  Stet.causes = (run, all) => {
    const items = Stet.state.causes, total = items.reduce((s, i) => s + (i.cause.benign ? 0 : i.cost), 0);
    if (!items.length)
      return section("causes", "Causes and fixes", null, el("p", { text: run.causes.some((c) => !c.benign) ? "No cause passes the filters." : run.causes.length ? "Nothing but harmless compiles." : run.totals.compiles + run.totals.torch_compiles ? "Nothing was compiled again."
        : "Nothing was compiled. A framework on its own CPU client is not seen: run it with stet run --cpu, or set JAX_PLATFORMS=cpu before stet run." }));
    const shown = all ? items : items.slice(0, CARDS);
    const rest = items.length - shown.length;
    const s = section("causes", "Causes and fixes", "dearest first; " + seconds(total) + " in all", shown.map((i) => causeCard(run, i, total)));
    if (rest)
      s.append(el("p", {}, el("button", { type: "button", text: "Show " + rest + " more", onclick: () => s.replaceWith(Stet.causes(run, true)) })));
    if (run.beyond.times)
      s.append(el("p", { class: "muted", text: count(run.beyond.times, "recompile") + " of further causes, waited " + seconds(run.beyond.wait_s) + " (stet explain --format=json has them)" }));
    return s;
  };

  Stet.lines = (run) => {
    const of = new Map();
    for (const item of Stet.state.causes) {
      const c = item.cause, at = c.source;
      if (c.benign) continue;
      const key = at ? at.file + ":" + at.line : "";
      const l = of.get(key) || { at, cost: 0, times: 0, causes: new Map() };
      l.cost += item.cost;
      l.times += item.times;
      l.causes.set(c.class, item.index);
      of.set(key, l);
    }
    if (!of.size) return null;
    const lines = [...of.values()].sort((a, b) => b.cost - a.cost), most = Math.max(...lines.map((l) => l.cost));
    const source = (at) => {
      const own = at && at.excerpt.find(([n]) => n === at.line);
      return own ? el("div", { class: "mono muted wrap", text: own[1].trim() }) : null;
    };
    return section("lines", "Cost by line", null, el("div", { class: "scroll" }, table("Where recompiles enter the programs",
      [{ text: "line", wrap: true }, { text: "causes" }, { text: "times", num: true }, { text: "waited", num: true }, { text: "" }],
      lines.slice(0, 60).map((l) => [el("div", {}, el("code", { text: l.at ? place(l.at) : "no line known", title: l.at ? l.at.file : null }), source(l.at)),
        el("div", {}, [...l.causes].map(([k, i]) => el("div", {}, swatch(run, i), k))), String(l.times), seconds(l.cost),
        el("div", { class: "barcell" }, bar(l.cost / most))]))));
  };

  // ---- families ----
  const CHILDREN = 40;
  function programItem(run, p, events) {
    const e = run.events, first = events[0], cause = run.causes[e.cause[first]], from = run.programs.against[p];
    const temp = Math.max(...events.map((i) => e.temp_bytes[i]));
    const times = events.length, ran = events.reduce((s, i) => s + e.executions[i], 0);
    return el("li", {}, swatch(run, e.cause[first]), el("code", { text: run.programs.hash[p].slice(0, 12) }), " ",
      e.step[first] >= 0 ? "step " + e.step[first] + ", " : "", "waited " + seconds(events.reduce((s, i) => s + e.wait_us[i], 0) / 1e6),
      times > 1 ? ", compiled " + times + " times" : "", ran ? ", run " + (ran === 1 ? "once" : ran.toLocaleString("en") + " times") : "",
      temp >= 0 ? ", " + bytes(temp) + " of temporaries" : "",
      cause ? el("span", { class: "muted", text: " · " + cause.class + (from >= 0 ? " since " + run.programs.hash[from].slice(0, 12) : "") }) : "");
  }
  function list(items, make) {
    const ul = el("ul", {}, items.slice(0, CHILDREN).map(make)), rest = items.slice(CHILDREN);
    if (rest.length)
      ul.append(el("li", {}, el("button", { type: "button", text: count(rest.length, "more"), onclick: (ev) => {
        ev.target.parentNode.remove();
        ul.append(...rest.slice(0, 2000).map(make));
      } })));
    return ul;
  }
  Stet.families = (run) => {
    const e = run.events, functions = new Map();
    for (const i of Stet.state.events) {
      const f = run.families[e.family[i]];
      if (!f) continue;
      const key = f.lane + f.function;
      const fn = functions.get(key) || { name: run.functionName(f.function), lane: f.lane, cost: 0, events: 0, families: new Map() };
      const members = fn.families.get(e.family[i]) || new Map();
      const p = e.program[i] >= 0 ? e.program[i] : -1 - i;
      members.set(p, (members.get(p) || []).concat(i));
      fn.families.set(e.family[i], members);
      fn.cost += e.wait_us[i];
      fn.events++;
      functions.set(key, fn);
    }
    if (!functions.size) return null;
    const sorted = [...functions.values()].sort((a, b) => b.cost - a.cost);
    const event = (i) => el("li", {}, swatch(run, e.cause[i]), Stet.describe(run, i));
    const family = (run, id, members) => {
      const items = [...members].sort((a, b) => a[1][0] - b[1][0]), f = run.families[id];
      const inner = list(items, ([p, events]) => (p >= 0 ? programItem(run, p, events) : event(events[0])));
      if (f.lane === "torch" || f.skeleton < 0) return inner;
      return el("details", { open: items.length < 12 }, el("summary", {}, "family ", el("code", { text: run.name(f.skeleton).slice(0, 8) }),
        el("span", { class: "muted", text: " " + count(items.length, "program") })), inner);
    };
    const item = (fn) => el("li", {}, el("details", { open: sorted.length < 6 }, el("summary", {}, el("b", { class: "mono", text: fn.name || "(no name)" }),
      el("span", { class: "muted", text: " " + (fn.lane === "torch" ? "torch frame, " : fn.families.size > 1 ? fn.families.size + " families, " : "") + count(fn.events, "compile") + ", waited " + seconds(fn.cost / 1e6) })),
    [...fn.families].map(([id, members]) => family(run, id, members))));
    return section("families", "Program families", "programs of one skeleton are a family", el("div", { class: "tree" }, list(sorted, item)),
      run.totals.undecoded ? el("p", { class: "muted", text: count(run.totals.undecoded, "program") + " too many to be read: told by name only." }) : null);
  };

  // ---- shapes ----
  // The dims that are not those of the cell before, marked.
  function cellText(now, before) {
    const cut = (t) => /^([a-z0-9]+)[[]([^]]*)[]](.*)$/.exec(t), a = cut(now), b = before && cut(before);
    if (!a || !b || now === before) return [now];
    const dims = a[2].split(","), old = b[2].split(",");
    const out = [a[1] === b[1] ? a[1] : el("b", { text: a[1] }), "["];
    dims.forEach((d, k) => out.push(k ? "," : "", dims.length === old.length && d === old[k] ? d : el("b", { text: d })));
    out.push("]", a[3]);
    return out;
  }
  function heat(run, g) {
    const e = run.events, head = el("tr", {}, el("th", { scope: "col" }, el("span", { class: "sr", text: "argument" })), g.events.map((i, k) =>
      el("th", { scope: "col", title: Stet.describe(run, i) }, e.step[i] >= 0 ? "step " + e.step[i] : "#" + k)));
    const rows = g.rows.map((r) => {
      const seen = new Map();
      return el("tr", {}, el("th", { scope: "row", title: run.name(r.name), text: run.name(r.name) }), r.cells.map((c, k) => {
        if (c < 0) return el("td", { class: "none" }, el("span", { "aria-label": "absent", text: "–" }));
        if (!seen.has(c)) seen.set(c, seen.size);
        return el("td", { class: "v" + Math.min(4, seen.get(c)) }, cellText(run.name(c), k && r.cells[k - 1] >= 0 ? run.name(r.cells[k - 1]) : null));
      }));
    });
    return el("table", { class: "heat" }, el("caption", {}, el("b", { class: "mono", text: run.functionName(g.function) }),
      " " + (g.lane === "torch" ? g.events.length + " entries" : count(g.events.length, "program")) +
      (g.steady ? ", " + count(g.steady, "argument") + " that never moved" : "") + (g.more ? ", " + count(g.more, "program") + " more not shown" : "")),
    el("thead", {}, head), el("tbody", {}, rows));
  }
  Stet.shapes = (run) => {
    const wanted = new Set(Stet.state.events.map((i) => run.events.family[i]));
    const grids = run.shapes.filter((g) => g.rows.length && g.events.some((i) => wanted.has(run.events.family[i])));
    if (!grids.length) return null;
    return section("shapes", "Shapes and values by argument", "deeper: another value; underlined: what moved",
      grids.slice(0, 30).map((g) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Arguments of " + run.functionName(g.function) }, heat(run, g))),
      grids.length > 30 ? el("p", { class: "muted", text: count(grids.length - 30, "function") + " more; filter by family to see them." }) : null);
  };

  // ---- memory ----
  function deviceChart(run, d) {
    const W = 640, H = 150, end = run.end / 1e6, top = Math.max(1, ...d.samples.map((s) => Math.max(s[1], s[2])));
    const px = (t) => (t / end) * W, py = (b) => H - 20 - (b / top) * (H - 40);
    const line = (k) => d.samples.map((s) => px(s[0]).toFixed(1) + "," + py(s[k]).toFixed(1)).join(" ");
    return svg("svg", { viewBox: "0 0 " + W + " " + H, role: "img", "aria-label": "Memory of device " + d.device + " over time, highest " + bytes(top) },
      svg("line", { x1: 0, x2: W, y1: H - 20, y2: H - 20, stroke: "currentColor", "stroke-opacity": 0.25 }),
      svg("polyline", { points: line(2), fill: "none", stroke: "currentColor", "stroke-opacity": 0.4, "stroke-dasharray": "4 3" }),
      svg("polyline", { points: line(1), fill: "none", stroke: "currentColor", "stroke-width": 2 }),
      ...[[0, H - 6, "0"], [W - 60, H - 6, seconds(end)], [0, 12, bytes(top) + (d.limit_bytes ? " of " + bytes(d.limit_bytes) : "")]].map(([a, b, text]) => {
        const t = svg("text", { x: a, y: b });
        t.textContent = text;
        return t;
      }));
  }
  Stet.memory = (run) => {
    const e = run.events, most = new Map();
    for (const i of Stet.state.events)
      if (e.temp_bytes[i] >= 0 && e.program[i] >= 0 && !most.has(e.program[i])) most.set(e.program[i], i);
    const top = [...most.values()].sort((a, b) => e.temp_bytes[b] - e.temp_bytes[a]).slice(0, 20);
    const devices = run.devices.filter((d) => d.samples.length);
    if (!top.length && !devices.length) return null;
    const highest = top.length ? e.temp_bytes[top[0]] : 0;
    return section("memory", "Memory", null, el("div", { class: "two" },
      top.length ? el("div", { class: "scroll" }, table("Temporaries of compiled programs, largest first", [{ text: "program", wrap: true }, { text: "temporaries", num: true }, { text: "" }],
        top.map((i) => [el("div", {}, swatch(run, e.cause[i]), run.functionOf(i), " ", el("code", { class: "muted", text: run.programs.hash[e.program[i]].slice(0, 8) })),
          bytes(e.temp_bytes[i]), el("div", { class: "barcell" }, bar(highest ? e.temp_bytes[i] / highest : 0))]))) : null,
      devices.length ? el("div", {}, devices.slice(0, 16).map((d) => el("div", {}, el("h3", { text: "Device " + d.device + (run.processes.length > 1 ? ", " + Stet.processLabel(run, d.process) : "") }), deviceChart(run, d),
        asTable("As a table", table("Samples of device " + d.device, [{ text: "after", num: true }, { text: "in use", num: true }, { text: "highest so far", num: true }],
          d.samples.filter((s, k) => k % Math.ceil(d.samples.length / 40) === 0).map((s) => [seconds(s[0]), bytes(s[1]), bytes(s[2])])))))) : null));
  };

  // ---- what a topology would say ----
  const flops = (n) => {
    let k = 0;
    for (; n >= 1000 && k < 6; k++) n /= 1000;
    return Number(n.toPrecision(3)) + " " + ["", "k", "M", "G", "T", "P", "E"][k] + "FLOP";
  };
  const short = (text) => (text.length > 60 ? text.slice(0, 60) + "…" : text);
  const made = (l) => short(l.operation.split("/").pop() || l.opcode) + " " + short(l.shape) + (l.buffers > 1 ? " and " + (l.buffers - 1) + " more" : "");
  const grew = (l) => (l.bytes_before === null || l.bytes_before === l.bytes ? ""
    : (l.bytes > l.bytes_before ? "+" : "−") + bytes(Math.abs(l.bytes - l.bytes_before)) + (l.shape_before !== l.shape ? ", was " + l.shape_before : ""));
  const lineOf = (l) => el("code", { text: l.line ? place(l) : "no line", title: l.file });
  const remedy = (a) => a.text + (a.line ? " (largest from " + place(a) + ")" : a.argument ? " (" + a.argument + ")" : "") + ": saves at most " + bytes(a.saves_bytes);
  // The remedy to try first: one that is enough, by what it costs the user.
  const order = ["donate", "shard", "rematerialise", "smaller batch"];
  const first = (p) => p.advice.filter((a) => a.saves_bytes >= p.exceeds_bytes).sort((a, b) => order.indexOf(a.what) - order.indexOf(b.what))[0] || p.advice[0];
  function fitLines(p) {
    if (!p.temporaries.length) return null;
    const most = p.temporaries[0].bytes;
    return el("div", { class: "scroll" }, table("Temporaries of " + p.program + (p.temporaries_peak === null ? "" : " at its peak") + ", by line", [{ text: "line", wrap: true }, { text: "operation", wrap: true }, { text: "bytes", num: true }, { text: "" }, { text: "since the last fit" }],
      p.temporaries.slice(0, 10).map((l) => [lineOf(l), el("span", { class: "mono", text: made(l) }),
        bytes(l.bytes), el("div", { class: "barcell" }, bar(most ? l.bytes / most : 0)), grew(l)])));
  }
  function fitCosts(p) {
    const c = p.compile, r = c.repeated, parts = c.fragments === null;
    if (!c.lines.length && !r) return [];
    const saved = r && r.without_copies_cpu_s !== null ? r.whole_cpu_s - r.without_copies_cpu_s : 0;
    return [c.lines.length ? el("div", { class: "scroll" }, table("Compile time of " + p.program + " by line" + (parts ? ": what it takes less without the line" : ""), [{ text: "line", wrap: true }, { text: "operations", num: true }, { text: "processor time", num: true }, { text: "" }],
      c.lines.slice(0, 10).map((l) => [lineOf(l), String(l.instructions), seconds(l.cpu_s), el("div", { class: "barcell" }, bar(l.cpu_s / c.lines[0].cpu_s))]))) : null,
    r && r.blocks.length && r.without_copies_cpu_s !== null ? el("p", { text: "Repeated code: " + r.blocks.map((b) => b.copies + " times " + b.operations + " operations" + (b.line ? " at " + place(b) + (b.end_line > b.line ? "–" + b.end_line : "") : "")).join(", ") +
      ". With one copy of each, compiling took " + seconds(r.without_copies_cpu_s) + " instead of " + seconds(r.whole_cpu_s) + (saved > r.noise_cpu_s ? ": a loop over them (scan) saves about " + seconds(saved) + "." : ": a loop (scan) saves nothing.") }) : null];
  }
  function fitHead(f, peak) {
    const t = f.topology, over = f.programs.filter((p) => p.verdict === "exceeds").sort((a, b) => b.exceeds_bytes - a.exceeds_bytes)[0], p = over || peak, l = p && p.temporaries[0] && p.temporaries[0].bytes >= p.memory.total / 100 ? p.temporaries[0] : null;
    const bad = f.programs.filter((q) => q.verdict === "failed" || q.verdict === "unknown").length;
    const failed = f.exit_code ? "exit code " + f.exit_code : f.signal ? "signal " + f.signal : "";
    const verdict = f.verdict === "fits" ? (failed ? "fits so far, but the command failed" : "fits") : f.verdict === "exceeds" ? "does not fit" + (f.exceeds_bytes ? ": " + bytes(f.exceeds_bytes) + " too much" : "") : "not known: " + bad + " of " + count(f.programs.length, "program") + " could not be judged";
    return [el("header", {}, el("h3", {}, t.name, el("span", { class: "muted", text: " " + t.devices + " × " + t.kind })), el("span", { class: "cost", text: verdict })),
      peak && t.memory_bytes ? bar(f.peak_bytes / t.memory_bytes) : null,
      el("dl", {},
        peak ? row("needs", bytes(f.peak_bytes) + " at the peak, in ", el("code", { text: f.peak_program }), peak.beside_bytes ? " with " + bytes(peak.beside_bytes) + " beside it" : "", t.memory_bytes === null ? "" : "; a device has " + bytes(t.memory_bytes)) : null,
        l ? row("largest", bytes(p.temporaries_peak === null ? l.largest_bytes : l.bytes) + " of temporaries from ", lineOf(l), " ", el("span", { class: "mono", text: made(l) }), grew(l) ? " (" + grew(l) + " since the last fit)" : "") : null,
        f.step ? row("step", "at least " + seconds(f.step.bound_s) + " on one device: " + flops(f.step.flops) + ", " + bytes(f.step.memory_traffic_bytes) + " of memory traffic, " + bytes(f.step.sent_bytes) + " sent") : null,
        failed ? row("command", "ended with " + failed + "; the verdict is about what it compiled until then") : null,
        f.shardings_guessed ? row("shardings", "The compiler did not say how it shards some results, so they are a guess.") : null,
        f.contract ? row("contract", !f.contract.checked ? "could not be checked" : f.contract.kept ? "kept" : "broken: " + f.contract.first) : null),
      over && over.advice.length ? el("p", { class: "fix" }, el("b", { text: first(over).saves_bytes >= over.exceeds_bytes ? "Try: " : "Not enough alone: " }), remedy(first(over))) : null];
  }
  function fitCard(f) {
    const peak = f.programs.find((p) => p.program === f.peak_program && p.memory.total + (p.beside_bytes || 0) === f.peak_bytes), over = f.programs.filter((p) => p.advice.length > 1);
    return el("article", { class: "cause fit", "data-verdict": f.verdict === "fits" && !f.fits ? "partly" : f.verdict }, fitHead(f, peak),
      el("div", { class: "scroll" }, table("Memory of one device, by program", [{ text: "program", wrap: true }, { text: "verdict" }, { text: "needs", num: true }, { text: "arguments", num: true }, { text: "outputs", num: true }, { text: "temporaries", num: true }, { text: "code", num: true }, { text: "beside it", num: true }, { text: "compile", num: true }],
        f.programs.slice(0, 40).map((p) => [el("code", { text: p.program }), p.verdict, bytes(p.memory.total), bytes(p.memory.arguments), bytes(Math.max(0, p.memory.outputs - p.memory.aliased)), bytes(p.memory.temporaries),
          p.memory.code === null ? "–" : bytes(p.memory.code), p.beside_bytes === null ? "–" : bytes(p.beside_bytes), p.compile.cpu_s ? seconds(p.compile.cpu_s) : "–"]))),
      f.programs.filter((p) => p.error || p.why_unknown).slice(0, 5).map((p) => el("p", { class: "mono wrap", text: p.program + ": " + [p.why_unknown, p.error].filter(Boolean).join(": ").slice(0, 400) })),
      peak ? fitLines(peak) : null,
      over.slice(0, 3).map((p) => el("div", {}, el("p", { text: "What would help " + p.program + ":" }), el("ul", {}, p.advice.map((a) => el("li", { text: remedy(a) }))))),
      f.step && f.step.collectives.length ? el("div", { class: "scroll" }, table("Collectives of a step", [{ text: "kind" }, { text: "in the program", num: true }, { text: "times", num: true }, { text: "bytes", num: true }, { text: "sent", num: true }],
        f.step.collectives.map((c) => [c.kind, String(c.sites), String(c.times), bytes(c.bytes), bytes(c.sent_bytes)]))) : null,
      f.programs.flatMap(fitCosts));
  }
  // A run's folder may come from elsewhere, with fits of another form.
  const safely = (f) => { try { return fitCard(f); } catch (e) { return el("p", { class: "muted", text: "A fit of this run cannot be shown." }); } };
  Stet.fit = (run) => (run.fits.length ? section("fit", "Fit", "what each topology's compiler says", run.fits.map(safely)) : null);

  // ---- the start, part after part ----
  const startParts = [["imports", "Python, imports, the script before its first client"], ["client", "creating the client"], ["tracing", "the framework traces functions"],
    ["lowering", "and lowers them"], ["framework", "its other work for programs"], ["compiling", "inside the compiler"], ["loading", "programs from a store or cache"],
    ["other", "running programs, data, the script's own code"]];
  Stet.startup = (run) => {
    const s = run.startup;
    if (!s) return null;
    let before = 0;
    const rows = startParts.filter(([name]) => s[name + "_s"] > 0).map(([name, what]) => {
      const part = s[name + "_s"], b = bar(part / s.total_s);
      b.style.marginLeft = (100 * Math.min(before, s.total_s - part) / s.total_s).toFixed(1) + "%";
      before += part;
      return [name, el("span", { class: "muted", text: what }), seconds(part), el("div", { class: "barcell" }, b)];
    });
    return section("startup", "Until the first step", seconds(s.total_s) + ", " + count(s.programs, "program") + (run.processes.length > 1 ? ", " + Stet.processLabel(run, s.process) : ""),
      el("div", { class: "scroll" }, table("Where the time until the first step went", [{ text: "part" }, { text: "", wrap: true }, { text: "took", num: true }, { text: "" }], rows)));
  };

  // What compiling had cost and what was saved, of one kind or of one line.
  const times = (n, known, took, instead) => [known ? seconds(took) : "not known",
    known ? seconds(instead) + (known < n ? " (" + known + " known)" : "") : "not known",
    known ? (instead > took ? seconds(instead - took) : "nothing") : "not known"];
  const timesHead = [{ text: "serving took", num: true }, { text: "compiling had cost", num: true }, { text: "saved", num: true }];

  function savedLines(avoided) {
    const words = (by) => Object.entries(by).map(([k, s]) => s.compiles + (k === "lifted" ? " " : " from ") + k).join(", ");
    return el("div", { class: "scroll" }, table("By the line that did not wait", [{ text: "line", wrap: true }, { text: "served" }, ...timesHead],
      avoided.lines.slice(0, 60).map((l) => [el("code", { text: l.file ? place(l) : "no line known", title: l.file }), words(l.by),
        ...times(l.compiles, l.known, l.took_s, l.instead_of_s)])));
  }

  // Compiles that lifting itself makes.
  const costs = (l) => [
    l && l.in_background ? count(l.in_background, "lifted program") + " compiled in the background: " + seconds(l.in_background_s) : "",
    l && l.plain ? count(l.plain, "lifted program") + " compiled as written too, to compare results: " + seconds(l.plain_s) +
      (l.plain_waited_s ? ", of which " + seconds(l.plain_waited_s) + " were waited for" : " in the background") : "",
  ].filter(Boolean).map((text) => el("p", { text }));

  Stet.saved = (run) => {
    const t = run.totals, loads = t.loads ? count(t.loads, "executable") + " came from the framework's own cache. " : "";
    const named = (f) => f.function + (f.file ? " (" + place(f) + ")" : ""), not = run.not_compiled || {};
    const rounding = (d) => d.ulp ? "by at most " + count(d.ulp, "unit") + " in the last place" : "in signs of zeros or bits of NaNs";
    const unlifted = (not.unlifted || []).map((u) => el("p", { text: named(u) + " is not lifted, so each of its programs is compiled: " + u.why }))
      .concat((not.lifting && not.lifting.different || []).map((d) =>
        el("p", { text: named(d) + " is lifted, and its results differ from the plain program's " + rounding(d) })), costs(not.lifting));
    if (!run.saved.length)
      return section("saved", "What Stet saved", null, el("p", { text: loads + "No compile was served by a store in this run." }), unlifted);
    return section("saved", "What Stet saved", null, loads ? el("p", { text: loads }) : null, unlifted, el("div", { class: "scroll" },
      table("Compiles that a store or lifting answered", [{ text: "served from" }, { text: "times", num: true }, ...timesHead],
      run.saved.map((s) => [s.served, String(s.times), ...times(s.times, s.known, s.load_s, s.compile_s)]))), savedLines(run.not_compiled.avoided));
  };
})();
