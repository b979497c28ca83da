"use strict";
// Buckets, torch.compile's frames, the list of compiles, two runs side by side.
(() => {
  const { el, svg, seconds, bytes, count, place, section, table, swatch, asTable } = Stet;
  const PAGE = 50;

  // ---- buckets ----
  const shapeText = (s) => (Array.isArray(s) ? s.join("×") : String(s));
  const costText = (b, v) => (b.unit === "s" ? seconds(v) : v.toLocaleString("en", { maximumFractionDigits: 0 }) + " elements");
  // Steps, waiting and both together by the number of programs.
  function curve(b) {
    const W = 640, H = 190, L = 64, R = 70, n = b.curve.length, all = b.curve.map((s) => [s.steps, s.total - s.steps, s.total]);
    const top = Math.max(...all.map((v) => v[2])), px = (k) => L + (n > 1 ? ((k - 1) / (n - 1)) * (W - L - R) : 0), py = (v) => H - 26 - (v / top) * (H - 46);
    const text = (x, y, t, anchor) => { const e = svg("text", { x, y, "text-anchor": anchor || "start" }); e.textContent = t; return e; };
    const line = (at, attrs) => svg("polyline", { points: all.map((v, i) => px(i + 1).toFixed(1) + "," + py(v[at]).toFixed(1)).join(" "), fill: "none", stroke: "currentColor", ...attrs });
    const timed = b.unit === "s" && b.program_cost > 0, last = all[n - 1], best = b.curve[b.best - 1];
    return svg("svg", { class: "curve", viewBox: "0 0 " + W + " " + H, role: "img", "aria-label": "Cost by number of programs: least with " + b.best + ", " + costText(b, best.total) },
      svg("line", { x1: L, x2: W - R, y1: H - 26, y2: H - 26, stroke: "currentColor", "stroke-opacity": 0.25 }),
      ...(timed ? [line(0, { "stroke-opacity": 0.5, "stroke-dasharray": "5 3" }), line(1, { "stroke-opacity": 0.5, "stroke-dasharray": "2 3" })] : []),
      line(2, { "stroke-width": 2 }), svg("circle", { cx: px(b.best), cy: py(best.total), r: 5, fill: "var(--accent)" }),
      text(L - 6, py(top) + 4, costText(b, top), "end"), text(L - 6, H - 22, "0", "end"), text(px(1), H - 10, "1", "middle"), text(px(n), H - 10, count(n, "program"), "middle"),
      text(px(b.best), py(best.total) - 10, String(b.best), "middle"),
      ...(timed ? [text(W - R + 6, py(last[0]) + 4, "steps"), text(W - R + 6, py(last[1]) + 4, "waiting"), text(W - R + 6, py(last[2]) - 6, "together")] : []));
  }
  Stet.buckets = (run) => {
    const items = (run.buckets || []).filter((b) => !Stet.filters.text.trim() || (b.function || "").toLowerCase().includes(Stet.filters.text.trim().toLowerCase()));
    if (!items.length) return null;
    return section("buckets", "Buckets", "the cheapest sizes to pad to, for each number of programs", items.map((b) => {
      const axes = b.dimensions.filter((d, i) => b.dimensions.findIndex((o) => o.axis === d.axis) === i), best = b.curve[b.best - 1], today = b.today;
      return el("div", {}, el("h3", {}, el("code", { text: b.function }), " " + axes.map((d) => "dimension " + d.dim + " of " + d.argument).join(" and ")),
        el("p", { text: count(b.sizes, "size") + " in " + count(b.runs, "step") + ". Least cost: " + count(b.best, "program") + " of " + best.sizes.map(shapeText).join(", ") +
          (today && best.total < today.total ? "; " + (100 * (1 - best.total / today.total)).toFixed(0) + " % less than today’s " + today.programs + "." : ".") +
          (b.short_last ? " The smaller size is the last batch of each round." : "") }), curve(b),
        asTable("As a table", table("Sets of least cost of " + b.function, [{ text: "programs", num: true }, { text: "steps", num: true }, { text: "together", num: true }, { text: "padding", num: true }, { text: "sizes", wrap: true }],
          b.curve.map((s) => [String(s.programs), costText(b, s.steps), costText(b, s.total), (100 * s.padding).toFixed(1) + " %", s.sizes.map(shapeText).join(" ")]))));
    }));
  };

  // ---- torch ----
  function entry(run, c) {
    const phases = [["forward", c.forward], ["backward", c.backward]].filter(([, p]) => p).map(([n, p]) =>
      n + " " + seconds(p.all_s) + (p.inductor_s ? " (Inductor " + seconds(p.inductor_s) + ")" : "")).join(", ");
    return el("li", {}, el("b", { text: c.class === "first" ? "first compile" : c.class }), " " + seconds(c.cost_s),
      c.cache && c.cache.autograd !== "none" ? el("span", { class: "chip", text: "cache: " + c.cache.autograd }) : "",
      c.eager_from_here ? el("span", { class: "chip bad", text: "runs eagerly from here on" }) : "",
      c.failed ? el("span", { class: "chip bad", text: c.failed }) : "",
      phases ? el("span", { class: "muted", text: " " + phases }) : "",
      c.guards.length ? el("ul", {}, c.guards.slice(0, 8).map((g) => el("li", { class: "mono wrap", title: g.reason, text: (g.against === null ? "" : "entry " + g.against + ": ") + g.guard }))) : "",
      c.specialised.length ? el("ul", {}, c.specialised.slice(0, 4).map((s) => el("li", { text: s.source + " was to be dynamic and became " + s.value + ": " + s.reason }))) : "",
      c.fix && c.class !== "first" ? el("div", { class: "muted", text: c.fix }) : "");
  }
  Stet.torch = (run) => {
    const t = run.torch, text = Stet.filters.text.trim().toLowerCase();
    if (!t) return null;
    const pass = (o, name) => (!Stet.filters.rank || String(o.process) === Stet.filters.rank) && (!text || name.toLowerCase().includes(text));
    const frames = t.frames.filter((f) => pass(f, (f.code ? f.code.function + " " + f.code.file : "") + " " + f.entries.map((c) => c.class).join(" ")));
    const breaks = t.breaks.filter((b) => pass(b, b.reason + " " + (b.at ? b.at.file : "") + " " + b.class));
    const caches = Object.entries(t.cache).filter(([k, n]) => n && k !== "none").map(([k, n]) => n + " " + k).join(", ");
    const damage = t.input.damage.map((d) => d.count + "× " + d.what).join(", ");
    return section("torch", "torch.compile", count(t.input.frames, "frame") + ", " + count(t.input.compiles, "compile") + ", " + count(t.input.graph_breaks, "graph break"),
      el("p", { class: "muted", text: "Inductor " + seconds(t.phases.inductor_s) + ", autograd " + seconds(t.phases.autograd_s) + ", backward " + seconds(t.phases.backward_s) +
        ", thrown away at graph breaks " + seconds(t.phases.thrown_away_s) + (caches ? "; caches: " + caches : "") + (t.limit_hits ? "; " + count(t.limit_hits, "frame") + " at the recompile limit" : "") +
        (damage ? "; could not be read: " + damage : "") }),
      el("h3", { text: "Frames" }),
      el("ul", { class: "tree" }, frames.slice(0, 60).map((f) => el("li", {}, el("details", {}, el("summary", {},
        el("b", { class: "mono", text: f.code ? f.code.function : "frame " + f.frame }), " ", el("code", { class: "muted", text: f.code ? place(f.code) : "" }),
        " " + count(f.compiles, "compile") + ", " + seconds(f.cost_s), f.graph_breaks ? ", " + count(f.graph_breaks, "graph break") : "",
        run.processes.length > 1 ? el("span", { class: "muted", text: ", " + Stet.processLabel(run, f.process) }) : "",
        f.limit ? el("span", { class: "chip bad", text: f.limit }) : ""),
      el("ul", {}, f.entries.map((c) => entry(run, c))))))),
      frames.length > 60 || t.input.frames > t.frames.length ? el("p", { class: "muted", text: count(t.input.frames, "frame") + " in all; the dearest are here. `stet torch frames` lists every one." }) : null,
      breaks.length ? el("div", { class: "scroll" }, el("h3", { text: "Graph breaks" }), table("Where frames were cut", [{ text: "place", wrap: true }, { text: "reason", wrap: true }, { text: "times", num: true }, { text: "fix", wrap: true }],
        breaks.slice(0, 60).map((b) => [el("div", {}, el("code", { text: place(b.at) }), b.code ? el("div", { class: "mono muted wrap", text: b.code.trim() }) : ""), b.reason, String(b.times), b.fix]))) : null);
  };

  // ---- every compile ----
  const columns = [
    { key: "at", text: "after", num: true, of: (r, i) => r.events.at_us[i], show: (r, i) => (r.events.at_us[i] < 0 ? "" : seconds(r.events.at_us[i] / 1e6)) },
    { key: "process", text: "process", rare: true, of: (r, i) => r.events.process[i], show: (r, i) => Stet.processLabel(r, r.events.process[i]) },
    { key: "step", text: "step", num: true, rare: true, of: (r, i) => r.events.step[i], show: (r, i) => (r.events.step[i] < 0 ? "" : String(r.events.step[i])) },
    { key: "function", text: "function", of: (r, i) => r.functionOf(i), show: (r, i) => el("code", { text: r.functionOf(i) }) },
    { key: "cause", text: "why", of: (r, i) => (r.events.cause[i] < 0 ? "" : r.causes[r.events.cause[i]].class),
      show: (r, i) => el("span", {}, swatch(r, r.events.cause[i]), r.events.cause[i] < 0 ? (r.events.kind[i] === 1 ? "loaded" : "first of its kind") : r.causes[r.events.cause[i]].class) },
    { key: "line", text: "line", place: true, of: (r, i) => (r.events.cause[i] < 0 ? "" : place(r.causes[r.events.cause[i]].source)),
      show: (r, i) => (r.events.cause[i] < 0 ? "" : el("code", { text: place(r.causes[r.events.cause[i]].source) })) },
    { key: "served", text: "served", rare: true, of: (r, i) => r.events.served[i], show: (r, i) => (r.events.kind[i] > 1 ? el("span", { class: "bad", text: Stet.kinds[r.events.kind[i]] }) : Stet.served[r.events.served[i]]) },
    { key: "wait", text: "waited", num: true, of: (r, i) => r.events.wait_us[i], show: (r, i) => seconds(r.events.wait_us[i] / 1e6) },
    { key: "cost", text: "compiler", num: true, rare: true, of: (r, i) => r.events.cost_us[i], show: (r, i) => seconds(r.events.cost_us[i] / 1e6) },
  ];
  const css = (c) => [c.num ? "num" : "", c.rare ? "rare" : "", c.place ? "place" : ""].join(" ").trim() || null;
  const sort = { key: "wait", down: true };
  Stet.compiles = (run) => {
    const by = columns.find((c) => c.key === sort.key), body = el("tbody"), info = el("span", { "aria-live": "polite" });
    const values = new Map(Stet.state.events.map((i) => [i, by.of(run, i)]));
    const events = Stet.state.events.slice().sort((a, b) => {
      const x = values.get(a), y = values.get(b), d = x < y ? -1 : x > y ? 1 : 0;
      return (sort.down ? -d : d) || a - b;
    });
    let page = 0;
    const last = Math.max(0, Math.ceil(events.length / PAGE) - 1);
    function turn(by) {
      page = Math.min(last, Math.max(0, page + by));
      body.replaceChildren(...events.slice(page * PAGE, page * PAGE + PAGE).map((i) => el("tr", {}, columns.map((c) =>
        el("td", { class: css(c) }, c.show(run, i))))));
      info.textContent = events.length ? page * PAGE + 1 + "–" + Math.min(events.length, page * PAGE + PAGE) + " of " + events.length.toLocaleString("en") : "none";
    }
    const again = (key) => {
      sort.down = sort.key === key ? !sort.down : true;
      sort.key = key;
      const next = Stet.compiles(run);
      s.replaceWith(next);
      next.querySelector('button[data-key="' + key + '"]').focus();
    };
    const head = el("tr", {}, columns.map((c) => el("th", { scope: "col", class: css(c), "aria-sort": c.key === sort.key ? (sort.down ? "descending" : "ascending") : null },
      el("button", { type: "button", "data-key": c.key, text: c.text + (c.key === sort.key ? (sort.down ? " ▼" : " ▲") : ""), onclick: () => again(c.key) }))));
    const s = section("compiles", "Every compile", count(events.length, "compile"), el("div", { class: "scroll" }, el("table", {},
      el("caption", { class: "sr", text: "Every compile, with its cause and its cost" }), el("thead", {}, head), body)),
    el("p", { class: "buttons pager" }, el("button", { type: "button", text: "◀ Earlier page", onclick: () => turn(-1) }),
      el("button", { type: "button", text: "Next page ▶", onclick: () => turn(1) }), info));
    turn(0);
    return s;
  };

  Stet.bundle = (run) => section("processes", "Processes", null, el("div", { class: "scroll" }, table("What ran", [{ text: "process" }, { text: "below it", wrap: true },
    { text: "steps", num: true }, { text: "executions", num: true }, { text: "to device", num: true }, { text: "to host", num: true }],
  run.processes.map((p, i) => [Stet.processLabel(run, i) + (p.host ? " on " + p.host : ""), [p.plugin, p.platform, p.devices ? count(p.devices, "device") : "", p.python ? "Python " + p.python.split(" ")[0] : ""].filter(Boolean).join(", "),
    p.steps === null ? "not known" : p.steps.toLocaleString("en"), p.executions.toLocaleString("en"), bytes(p.to_device_bytes), bytes(p.to_host_bytes)]))));

  // ---- two runs ----
  const totals = [["compiles", (t) => t.compiles + t.torch_compiles, String], ["programs", (t) => t.programs, String], ["recompiles", (t) => t.recompiles, String],
    ["time compiling", (t) => t.compile_s + t.torch_compile_s, seconds], ["waited for recompiles", (t) => t.wait_s, seconds], ["executions", (t) => t.executions, String, true], ["failed", (t) => t.failed, String]];
  function delta(a, b, show, neutral) {
    const d = b - a;
    if (!d) return "same";
    const times = a > 0 && b > 0 ? " (" + (b / a).toFixed(b / a < 10 ? 2 : 0) + "×)" : "";
    return el("span", { class: neutral ? "muted" : d > 0 ? "bad" : "good", text: (d > 0 ? "+" : "−") + show(Math.abs(d)) + times });
  }
  function sharedCauses(a, b) {
    const of = new Map();
    [a, b].forEach((run, side) => run.causes.forEach((c) => {
      const at = c.source ? Stet.place(c.source) : "", key = [c.class, c.benign, c.names, at].join("|");
      const row = of.get(key) || { c, at, n: [0, 0], s: [0, 0] };
      row.n[side] += c.times;
      row.s[side] += c.wait_s;
      of.set(key, row);
    }));
    return [...of.values()].sort((x, y) => Math.abs(y.s[1] - y.s[0]) - Math.abs(x.s[1] - x.s[0]));
  }
  Stet.sideBySide = () => {
    const [a, b] = Stet.runs, d = Stet.data.diff;
    const moved = d && d.changes.length ? table("What moved between the launches", [{ text: "" }, { text: "what", wrap: true }, { text: "A", wrap: true }, { text: "B", wrap: true }, { text: "where" }],
      d.changes.slice(0, 80).map((c) => [el("span", { class: "chip", text: c.moved }), c.what, el("code", { class: "from", text: c.from === null ? "none" : c.from }),
        el("code", { class: "to", text: c.to === null ? "none" : c.to }), el("code", { text: c.file ? place(c) : c.function || "" })])) : null;
    const settled = (r) => (r.settled.step !== null ? "step " + r.settled.step : r.totals.compiles ? r.settled.why || "no" : "not known");
    return section("two", "Side by side", d ? (d.moved.length ? d.moved.join(", ") + " changed" : "nothing changed") : null,
      d && d.together ? el("p", { text: "Several things changed together: change one at a time to see what each costs." }) : null,
      el("div", { class: "scroll" }, table("Totals of the two runs", [{ text: "" }, { text: "A", num: true }, { text: "B", num: true }, { text: "B against A", num: true }],
        totals.map(([name, of, show, neutral]) => [name, show(of(a.totals)), show(of(b.totals)), delta(of(a.totals), of(b.totals), show, neutral)])
          .concat([["settled", settled(a), settled(b), ""]]))),
      moved ? el("div", { class: "scroll" }, moved) : null,
      el("div", { class: "scroll" }, table("Causes in both runs", [{ text: "cause" }, { text: "line" }, { text: "A", num: true }, { text: "B", num: true }, { text: "waited in A", num: true }, { text: "waited in B", num: true }, { text: "B against A", num: true }],
        sharedCauses(a, b).slice(0, 60).map((r) => [r.c.class + " in " + r.c.names + (r.c.benign ? " (harmless)" : ""), el("code", { text: r.at }), String(r.n[0]), String(r.n[1]), seconds(r.s[0]), seconds(r.s[1]), delta(r.s[0], r.s[1], seconds)]))));
  };
})();
