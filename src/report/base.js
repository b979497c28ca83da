"use strict";
// Data, words and elements: what all parts of the page use. Text reaches the page as text nodes only.
const Stet = {};
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const served = data.served;
  const kinds = ["compiled", "loaded", "failed", "did not return"];

  // el("p", {class: "x", text: "…"}, child…)
  function el(name, attrs, ...children) {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attrs || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "text") e.textContent = value;
      else if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
      else e.setAttribute(key, value === true ? "" : value);
    }
    e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
    return e;
  }
  function svg(name, attrs, ...children) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attrs || {})) e.setAttribute(key, value);
    e.append(...children);
    return e;
  }

  function seconds(s) {
    const a = Math.abs(s), sign = s < 0 ? "−" : "";
    if (a === 0) return "0 s";
    if (a < 999.5e-6) return sign + (a * 1e6).toFixed(0) + " µs"; // above, it would be rounded to 1000
    if (a < 999.5e-3) return sign + (a * 1e3).toFixed(a < 0.01 ? 1 : 0) + " ms";
    if (a < 100) return sign + a.toFixed(1) + " s";
    if (a < 3600) return sign + Math.floor(a / 60) + " min " + Math.floor(a % 60) + " s";
    return sign + Math.floor(a / 3600) + " h " + Math.floor((a % 3600) / 60) + " min";
  }
  function bytes(n) {
    const units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"]; // of 1024, as the command line prints them
    let at = 0;
    for (n = Number(n); Math.abs(n) >= 1024 && at < 6; at++) n /= 1024;
    return n.toFixed(at && Math.abs(n) < 100 ? 1 : 0) + " " + units[at];
  }
  const count = (n, what) => n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");
  const shortPath = (p) => p.split("/").slice(-2).join("/");
  const place = (p) => (p ? shortPath(p.file) + ":" + p.line : "");

  // What the columns of one run mean, and indices over them.
  function prepare(run) {
    const e = run.events, n = e.process.length, order = new Uint32Array(n);
    for (let i = 0; i < n; i++) order[i] = i;
    order.sort((a, b) => e.at_us[a] - e.at_us[b]);
    run.size = n;
    run.order = order; // events by time
    run.name = (i) => (i < 0 ? "" : run.names[i]);
    run.functionName = (i) => run.name(i) || "an unknown function";
    run.familyName = (f) => {
      const g = run.families[f];
      return g ? run.functionName(g.function) + (g.skeleton >= 0 ? " · " + run.name(g.skeleton).slice(0, 8) : "") : "";
    };
    run.functionOf = (i) => (run.families[e.family[i]] ? run.functionName(run.families[e.family[i]].function) : "");
    run.rank = (i) => run.processes[e.process[i]].rank;
    run.end = 1;
    for (let i = 0; i < n; i++) run.end = Math.max(run.end, e.at_us[i] + e.cost_us[i]);
    for (const p of run.processes)
      if (p.steps_done.length) run.end = Math.max(run.end, p.steps_done[p.steps_done.length - 1][1] * 1e6);
    for (const d of run.devices)
      if (d.samples.length) run.end = Math.max(run.end, d.samples[d.samples.length - 1][0] * 1e6);
    // The dearest causes get the colours.
    const dear = run.causes.map((c, i) => i).filter((i) => !run.causes[i].benign);
    dear.sort((a, b) => run.causes[b].wait_s - run.causes[a].wait_s);
    const colours = new Map();
    for (const i of dear) {
      const k = run.causes[i].class;
      if (!colours.has(k) && colours.size < 8) colours.set(k, colours.size);
    }
    run.colour = (cause) => {
      const c = run.causes[cause];
      return c && !c.benign && colours.has(c.class) ? colours.get(c.class) : -1;
    };
    run.classes = colours;
    for (const c of run.causes) {
      c.function = c.function || "an unknown function";
      c.names = c.events["single-operation"] ? (c.source ? c.source.function || "the module" : c.function)
        : c.functions.length ? c.functions.slice(0, 3).map((f) => f || "an unknown function").join(", ") + (c.functions.length > 3 ? " and " + (c.functions.length - 3) + " more" : "") : c.function;
      c.search = [c.class, c.also, c.functions.join(" "), c.source && c.source.file, c.evidence, c.fix, c.origin && c.origin.file, c.trigger && c.trigger.file]
        .concat(c.changes.map((x) => x.what)).join(" ").toLowerCase();
    }
    return run;
  }

  const runs = data.runs.map(prepare);
  const filters = { cause: "", family: "", rank: "", text: "", harmless: false };
  const state = { run: runs[runs.length - 1], events: [], causes: [] };

  // The events and causes that the filters let through.
  function apply() {
    const run = state.run, e = run.events, text = filters.text.trim().toLowerCase();
    const families = run.families.map((f, i) => (run.familyName(i) + " " + run.name(f.function)).toLowerCase().includes(text));
    const causeText = run.causes.map((c) => c.search.includes(text));
    const times = new Map();
    state.events = [];
    for (const i of run.order) {
      const c = e.cause[i], cause = c >= 0 ? run.causes[c] : null;
      if (filters.cause && (filters.cause === "first" ? cause : !cause || cause.class !== filters.cause)) continue;
      if (filters.family && String(e.family[i]) !== filters.family) continue;
      if (filters.rank && String(e.process[i]) !== filters.rank) continue;
      if (text && !families[e.family[i]] && !(cause && causeText[c]) &&
          !(e.program[i] >= 0 && run.programs.hash[e.program[i]].startsWith(text))) continue;
      state.events.push(i);
      if (cause) {
        const t = times.get(c) || { times: 0, cost: 0 };
        t.times++;
        t.cost += e.wait_us[i] / 1e6;
        times.set(c, t);
      }
    }
    const all = !filters.family && !filters.rank;
    state.causes = run.causes.map((c, i) => {
      // A cause without a compile of its own (a graph break) is told unless a filter excludes it.
      const own = times.get(i) || { times: 0, cost: 0 };
      const shown = (filters.harmless || !c.benign || filters.cause === c.class) &&
        (own.times || (all && (!filters.cause || filters.cause === c.class) && (!text || causeText[i])));
      return shown ? { cause: c, index: i, times: all ? c.times : own.times, cost: all ? c.wait_s : own.cost } : null;
    }).filter(Boolean).sort((a, b) => a.cause.benign - b.cause.benign || b.cost - a.cost || b.times - a.times);
  }

  // A picture's twin for those who can't see it.
  function asTable(summary, table) {
    return el("details", {}, el("summary", { text: summary }), el("div", { class: "scroll" }, table));
  }
  function table(caption, head, rows) {
    return el("table", {}, el("caption", { text: caption }),
      el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col", class: h.num ? "num" : null, text: h.text })))),
      el("tbody", {}, rows.map((r) => el("tr", {}, r.map((cell, i) =>
        el("td", { class: (head[i].num ? "num" : "") + (head[i].wrap ? " wrap" : "") }, cell))))));
  }
  function section(id, title, note, ...children) {
    return el("section", { class: "card", id, "aria-labelledby": id + "-h" },
      el("header", {}, el("h2", { id: id + "-h", text: title }), note ? el("p", { text: note }) : null), ...children);
  }
  const swatch = (run, cause) => el("span", { class: "swatch k" + run.colour(cause), "aria-hidden": "true" });
  const bar = (share) => {
    const b = el("span", { class: "bar", "aria-hidden": "true" });
    b.style.width = (100 * Math.max(0, Math.min(1, share || 0))).toFixed(1) + "%";
    return b;
  };

  Object.assign(Stet, { data, runs, state, filters, apply, served, kinds, el, svg, seconds, bytes, count, shortPath, place,
    asTable, table, section, swatch, bar });
})();
