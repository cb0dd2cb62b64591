"use strict";
/* The item browser: a page of items at a time, each laid out when it is opened. Text only ever becomes text nodes. */
(() => {
  const box = document.getElementById("item-browser");
  if (!box) return;
  const data = JSON.parse(document.getElementById("items-data").textContent);
  const PAGE = 25;
  const SHORT = 160;
  const CLASSES = { correct: ["✓", "is-good"], abstained: ["○", "is-warn"], hallucinated: ["✕", "is-bad"] };
  const JUDGED = { identical: ", not asked: the very same text", flipped: ", undecided: its replies are on two sides of the threshold" };
  const TIMES = { audio_seconds: "recording", recognize_seconds: "recognition", llm_seconds: "language model", correct_seconds: "correction", plan_seconds: "planning", render_seconds: "rendering", prompt_tokens: "tokens read", completion_tokens: "tokens written", correct_prompt_tokens: "tokens read to correct", correct_completion_tokens: "tokens written to correct" };
  const find = (id) => document.getElementById(id);
  const list = find("item-list");
  const top = box.closest("section");
  const places = new Map(data.items.map((item, place) => [item.id, place]));

  const make = (tag, name = "", ...children) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  };
  const hidden = (text) => make("span", "sr", text);
  /* At once, and again when what comes into view has been laid out and has its true height. */
  const goTo = (element) => {
    const go = () => element.scrollIntoView({ behavior: "instant", block: "start" });
    go();
    requestAnimationFrame(() => requestAnimationFrame(go));
  };
  const isolated = (text) => make("bdi", "", text);
  /* Names of conditions come as they are; what cannot be seen in them is shown, as it is everywhere else. */
  const seen = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu, (char) => `\\u${char.codePointAt(0).toString(16).padStart(4, "0")}`);
  const named = (value) => (value === null ? "(none)" : seen(value));
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const whole = (text) => (typeof text === "string" ? text : text[0]);
  const textOf = (text, item) => {
    const element = make("p", "item-text", whole(text));
    element.dir = "auto";
    if (item.language) element.lang = item.language;
    if (typeof text !== "string") element.append(" ", make("span", "cut", `(cut here: ${count(text[1], "character")} in all)`));
    return element;
  };

  /* Alignments: see items_alignment.py for how they are written. */
  const plainOf = (item) => item.plain ?? whole(item.text);
  const wordsOf = (item) => {
    const text = item.words ?? plainOf(item);
    return text ? text.split(" ").map((word, place) => [place ? " " : "", word]) : [];
  };
  const charactersOf = (item) => {
    const found = [];
    let next = 0;
    for (const word of plainOf(item) ? plainOf(item).split(" ") : []) {
      for (let at = 0; at < word.length;) {
        const size = item.clusters ? item.clusters[next++] : 1;
        found.push([at === 0 && found.length ? " " : "", word.slice(at, at + size)]);
        at += size;
      }
    }
    return found;
  };
  /* Steps become runs of one kind; a substitution stays within its word. */
  const runsOf = (steps, tokens, merges) => {
    const runs = [];
    let at = 0;
    const add = (kind, before, said, heard) => {
      const last = runs.at(-1);
      if (!last || last.kind !== kind || (kind === "s" && (!merges || before))) {
        runs.push({ kind, before, said, heard });
        return;
      }
      last.said += said === "" ? "" : before + said;
      last.heard += heard === "" ? "" : (kind === "i" && merges ? "" : before) + heard;
    };
    for (const step of steps) {
      if (typeof step === "string") {
        const text = step.slice(1);
        if (step[0] === "~") { add("s", ...tokens[at], text); at += 1; } else add("i", merges ? "" : " ", "", text);
        continue;
      }
      for (let left = Math.abs(step); left > 0; left -= 1) {
        const [before, token] = tokens[at];
        add(step > 0 ? "m" : "d", before, token, "");
        at += 1;
      }
    }
    return runs;
  };
  /* A mark that begins a run gets a circle to stand on. */
  const standing = (text) => (/^\p{M}/u.test(text) ? `\u25cc${text}` : text);
  /* Arabic letters join over the edge of an edit as they do in their word: joiners ask for that, none is in a text. */
  const JOINER = "\u200d";
  const JOINS_NEXT = /(?=\p{L})\p{Script=Arabic}(?<![\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef])\p{M}*$/u;
  const JOINS_LAST = /^(?=\p{L})\p{Script=Arabic}(?<!\u0621)/u;
  const gapOf = ({ before, heard }) => (heard.startsWith(" ") ? " " : before);
  const joined = (runs, place, side) => {
    const [last, one, next] = [runs[place - 1], runs[place], runs[place + 1]];
    const text = one[side].trimStart();
    const of = (other) => (other[side] || other.said || other.heard).trim();
    const lead = last && !gapOf(one) && JOINS_NEXT.test(of(last)) && JOINS_LAST.test(text) ? JOINER : "";
    const trail = next && !gapOf(next) && JOINS_NEXT.test(text) && JOINS_LAST.test(of(next)) ? JOINER : "";
    return `${lead}${standing(text)}${trail}`;
  };
  /* By the first letter, as dir="auto" has it, which would go by the words for screen readers here. */
  const RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
  const directionOf = (text) => (RIGHT.test(text.match(/\p{L}/u)?.[0] ?? "") ? "rtl" : "ltr");
  const aligned = (steps, tokens, item, kind) => {
    const element = make("p", `aligned is-${kind}`);
    element.dir = directionOf(plainOf(item) + steps.filter((step) => typeof step === "string").join(""));
    if (item.language) element.lang = item.language;
    const merges = kind === "characters";
    const runs = runsOf(steps, tokens, merges);
    runs.forEach((run, place) => {
      const sort = run.kind;
      if (place && gapOf(run)) element.append(gapOf(run));
      if (sort === "m") { element.append(joined(runs, place, "said")); return; }
      const edit = make("span", `edit is-${sort}`);
      const del = make("del", "", isolated(joined(runs, place, "said")));
      const ins = make("ins", "", isolated(joined(runs, place, "heard")));
      if (sort === "s") edit.append(hidden("substituted: "), del, hidden(" by "), ins, hidden("; "));
      else if (sort === "d") edit.append(hidden("deleted: "), del, hidden("; "));
      else edit.append(hidden("inserted: "), ins, hidden("; "));
      element.append(edit);
    });
    return element;
  };
  const KINDS = { words: wordsOf, characters: charactersOf };
  /* Texts of all arms with the arms that have each: one that several have is laid out once. */
  const textsOf = (item) => {
    const found = new Map();
    item.arms.forEach((arm, place) => {
      for (const text of arm.texts ?? []) {
        const key = JSON.stringify(text);
        if (!found.has(key)) found.set(key, { text, arms: [], isAsHeard: false });
        found.get(key).arms.push(data.arms[place]);
        const heard = text.what === "corrected" && arm.texts.find((one) => one.what === "heard");
        if (heard && JSON.stringify({ ...heard, what: text.what }) === key) found.get(key).isAsHeard = true;
      }
    });
    return found.values();
  };
  const alignments = (item, { text, arms, isAsHeard }) => {
    const whose = `${arms.join(" and ")} ${arms.length > 1 ? "arms" : "arm"}`;
    const found = [make("h3", "", `${text.what[0].toUpperCase()}${text.what.slice(1)}, ${whose}`)];
    if (isAsHeard) return [...found, make("p", "note", "as it was heard")];
    const value = text.text ?? item.text;
    const exact = Object.keys(KINDS).every((kind) => text[kind] && !text[kind].slice(1, 4).some(Boolean));
    found.push(whole(value) ? textOf(value, item) : make("p", "note", "nothing"));
    if (exact) {
      found.push(make("p", "note", text.text === undefined ? "✓ as it was said" : `✓ as it was said, under the profile ${data.profile}`));
      return found;
    }
    for (const [kind, tokens] of Object.entries(KINDS)) {
      if (!text[kind]) {
        found.push(make("p", "note", `too long to be shown aligned by ${kind}`));
        continue;
      }
      const [steps, substituted, deleted, inserted, all] = text[kind];
      const head = make("h4", "", `By ${kind} `);
      head.append(make("span", "count", `${substituted} substituted, ${deleted} deleted, ${inserted} inserted, of ${count(all, kind.slice(0, -1))}`));
      found.push(head, aligned(steps, tokens(item), item, kind));
    }
    return found;
  };

  const scene = (value, item) => {
    const element = make("ul", "scene");
    const part = (text) => { const bdi = isolated(whole(text)); if (item.language) bdi.lang = item.language; return bdi; };
    for (const [kind, label] of value.shapes) element.append(make("li", "", make("span", "of", `${kind} `), part(label)));
    for (const [from, to, label] of value.arrows) {
      const line = make("li", "", part(from), make("span", "of", " → "), hidden("to "), part(to));
      if (whole(label)) line.append(make("span", "of", ": "), part(label));
      element.append(line);
    }
    if (!element.childNodes.length) element.append(make("li", "of", "nothing on it"));
    return element;
  };
  const badge = (text, tone = "") => make("span", `badge ${tone}`.trim(), text);
  const classBadge = (name) => {
    const [sign, tone] = CLASSES[name];
    return make("span", `badge ${tone}`, Object.assign(make("span", "", `${sign} `), { ariaHidden: "true" }), name);
  };
  const pairs = (entries) => {
    const element = make("dl");
    for (const [name, value] of entries) element.append(make("dt", "", name), make("dd", "", value));
    return element;
  };
  const figures = (arm) => {
    const found = [];
    if (arm.quality !== undefined) found.push(["answer quality", String(arm.quality)]);
    for (const [question, [score, sort]] of Object.entries(arm.judge ?? {})) {
      found.push([`judge, ${question}`, score === null ? "no valid reply" : `${score} of 100${JUDGED[sort] ?? ""}`]);
    }
    for (const [name, value] of Object.entries(arm.times ?? {})) {
      const isTime = name.endsWith("_seconds");
      found.push([TIMES[name] ?? name.replace(/_seconds$/, "").replaceAll("_", " "), isTime ? (value ? `${value} s` : "under 0.001 s") : String(value)]);
    }
    const flags = (arm.flags ?? []).filter((flag) => flag !== "correction_unused" || !arm.unused);
    if (flags.length) found.push(["flags", flags.map((flag) => flag.replaceAll("_", " ")).join(", ")]);
    if (arm.unused) found.push(["correction not used", arm.unused.replaceAll("_", " ")]);
    if (arm.refused) found.push(["operations refused", String(arm.refused)]);
    return found;
  };
  const armOf = (item, name, arm) => {
    const head = make("h3", "", name);
    if (arm.class) head.append(classBadge(arm.class));
    const element = make("section", "arm", head);
    if (arm.failure) {
      const [stage, kind, detail] = arm.failure;
      element.append(make("p", "failed", `✕ failed in ${stage}: ${kind.replaceAll("_", " ")}`, ...(whole(detail) ? [" ", isolated(`(${whole(detail)})`)] : [])));
    }
    if (arm.answer !== undefined) element.append(whole(arm.answer) ? textOf(arm.answer, item) : make("p", "note", "an empty answer"));
    for (const part of ["plan", "board"]) {
      const value = arm[part];
      if (!value) continue;
      element.append(make("h4", "", part === "plan" ? "Plan" : "Board"));
      element.append(value === "same" ? make("p", "note", "✓ as the human plan") : scene(value, item));
    }
    if (arm.drawing && (arm.board === "same" || arm.board?.shapes.length)) {
      const image = make("img");
      image.loading = "lazy";
      image.alt = `The board of ${seen(item.id)} in the ${name} arm, drawn; its shapes and arrows are in the list above`;
      image.addEventListener("error", () => image.replaceWith(make("p", "note", "the drawing is not where it was")), { once: true });
      image.src = arm.drawing;
      element.append(image);
    }
    const found = figures(arm);
    if (found.length) element.append(pairs(found));
    return element.childNodes.length > 1 ? element : null;
  };

  const body = (item) => {
    const element = make("div", "item-body");
    if (item.audio) {
      const audio = make("audio");
      audio.controls = true;
      audio.preload = "none";
      audio.src = item.audio;
      audio.setAttribute("aria-label", `Recording of ${seen(item.id)}`);
      audio.addEventListener("error", () => audio.replaceWith(make("p", "note", "the recording cannot be played from here")), { once: true });
      element.append(audio);
    } else element.append(make("p", "note", "the recording was not found in the suite's folder"));
    element.append(make("h3", "", "Said"), item.kind ? make("p", "note", "nothing: there is no speech in it") : textOf(item.text, item));
    for (const one of textsOf(item)) element.append(...alignments(item, one));
    if (item.fact) {
      element.append(make("h3", "", "A correct answer states"));
      const line = make("p", "item-text");
      item.fact.forEach((form, place) => line.append(place ? " or " : "", isolated(whole(form))));
      element.append(line);
    }
    if (item.answer) element.append(make("h3", "", "Human answer"), textOf(item.answer, item));
    if (item.plan) element.append(make("h3", "", "Human plan"), scene(item.plan, item));
    const arms = item.arms.map((arm, place) => armOf(item, data.arms[place], arm)).filter(Boolean);
    if (arms.length) element.append(make("div", "arms", ...arms));
    return element;
  };

  const errorBadge = (item) => {
    if (item.errors === undefined) return null;
    if (!item.errors) return badge("no word errors", "is-good");
    return badge(count(item.errors, "word error"), "is-bad");
  };
  /* An item has one answer, which is right or wrong; of other metrics it has a value of its own. */
  const lossBadge = (item) => {
    if (!(item.lost > 0)) return null;
    return badge(data.loses === "correct answers" ? "correct answer lost" : `−${item.lost} ${data.loses}`, "is-bad");
  };
  const entry = (item) => {
    const signs = make("span", "item-signs");
    if (item.failed) signs.append(badge("✕ failed", "is-bad"));
    signs.append(...[errorBadge(item), lossBadge(item)].filter(Boolean));
    const answered = item.arms[0]?.class;
    if (answered) signs.append(classBadge(answered));
    const said = make("span", "item-said", item.kind ? "(no speech)" : whole(item.text).slice(0, SHORT));
    said.dir = "auto";
    if (item.language) said.lang = item.language;
    const where = item.where.map((choice, axis) => (choice < 0 || data.axes[axis][1].length < 2 ? null : data.axes[axis][1][choice])).filter((value) => value !== null);
    if (item.session) where.push(item.session);
    const line = make("span", "item-where");
    where.forEach((value, place) => line.append(place ? " · " : "", isolated(seen(value))));
    const summary = make("summary", "", make("span", "item-name", seen(item.id)), said, signs, line);
    const element = make("details", "item", summary);
    element.dataset.item = item.id;
    element.addEventListener("toggle", () => {
      if (element.open && element.childNodes.length === 1) element.append(body(item));
      if (element.open) { state.item = item.id; write(); } else if (state.item === item.id) { state.item = ""; write(); }
    });
    return make("li", "", element);
  };

  /* What is shown, and the address that says so: #item=ID&items.q=…&items.sort=lost&items.class=arm:class&items.axis.NAME=value */
  const ORDER = "errors";
  const state = { item: "", q: "", show: "", sort: ORDER, class: "", axes: data.axes.map(() => ""), page: 0 };
  const AXIS = "items.axis.";
  let chosen = [];
  const write = () => {
    const query = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    for (const name of [...query.keys()]) if (/^items?(\.|$)/.test(name)) query.delete(name);
    if (state.item) query.set("item", state.item);
    for (const name of ["q", "show", "class"]) if (state[name]) query.set(`items.${name}`, state[name]);
    if (state.sort !== ORDER) query.set("items.sort", state.sort);
    state.axes.forEach((choice, axis) => { if (choice !== "") query.set(AXIS + data.axes[axis][0], data.axes[axis][1][choice] ?? ""); });
    const text = query.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };
  const isShown = (item) => {
    if (state.q && !`${item.id}\n${item.session ?? ""}`.toLowerCase().includes(state.q.toLowerCase())) return false;
    if (state.show === "errors" && !item.errors) return false;
    if (state.show === "failed" && !item.failed) return false;
    if (state.class) {
      const [arm, name] = state.class.split(":");
      if (item.arms[data.arms.indexOf(arm)]?.class !== name) return false;
    }
    return state.axes.every((choice, axis) => {
      if (choice === "") return true;
      const value = data.axes[axis][1][choice];
      return value === null ? item.where[axis] < 0 || data.axes[axis][1][item.where[axis]] === null : item.where[axis] === Number(choice);
    });
  };
  const errorsOf = (place) => data.items[place].errors ?? -1;
  const weight = { errors: errorsOf, rate: (place) => errorsOf(place) / Math.max(wordsOf(data.items[place]).length, 1), suite: (place) => -place };
  /* No metric that a report leads with loses less than -1. */
  if (data.loses) weight.lost = (place) => data.items[place].lost ?? -2;
  const choose = () => {
    chosen = data.items.flatMap((item, place) => (isShown(item) ? [place] : []));
    const by = new Map(chosen.map((place) => [place, weight[state.sort](place)]));
    chosen.sort((a, b) => by.get(b) - by.get(a) || errorsOf(b) - errorsOf(a) || a - b);
  };
  const show = () => {
    const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
    state.page = Math.min(state.page, pages - 1);
    const first = state.page * PAGE;
    const shown = chosen.slice(first, first + PAGE);
    list.replaceChildren(...shown.map((place) => entry(data.items[place])));
    find("item-state").value = shown.length
      ? `${(first + 1).toLocaleString("en")} to ${(first + shown.length).toLocaleString("en")} of ${count(chosen.length, "item")}`
      : "no item has all of this";
    find("item-before").disabled = state.page === 0;
    find("item-after").disabled = state.page >= pages - 1;
  };
  const refresh = () => { state.page = 0; choose(); show(); write(); };
  const open = (id) => {
    const place = places.get(id);
    if (place === undefined) return false;
    if (!chosen.includes(place)) {
      Object.assign(state, { q: "", show: "", class: "", axes: data.axes.map(() => "") });
      fill();
      choose();
    }
    state.page = Math.floor(chosen.indexOf(place) / PAGE);
    show();
    const element = [...list.querySelectorAll(".item")].find((one) => one.dataset.item === id);
    element.open = true;
    element.querySelector("summary").focus({ preventScroll: true });
    goTo(element);
    return true;
  };

  /* Controls */
  const tools = find("item-tools");
  const selects = [];
  const field = (id, title, options) => {
    const select = make("select");
    select.id = id;
    for (const [value, text] of options) select.append(Object.assign(make("option", "", text), { value }));
    const label = Object.assign(make("label", "", isolated(title)), { htmlFor: id });
    tools.append(make("p", "", label, select));
    return select;
  };
  let classSelect = null;
  if (data.classes.length) {
    const options = data.arms.filter((_, place) => data.items.some((item) => item.arms[place].class))
      .flatMap((arm) => data.classes.map((name) => [`${arm}:${name}`, `${arm}: ${name}`]));
    if (options.length) {
      classSelect = field("item-class", "Answer", [["", "any"], ...options]);
      classSelect.addEventListener("change", () => { state.class = classSelect.value; refresh(); });
    }
  }
  if (data.loses) find("item-sort").append(Object.assign(make("option", "", "most lost to mishearing first"), { value: "lost" }));
  data.axes.forEach(([axis, values], place) => {
    if (values.length < 2) return;
    const select = field(`item-axis-${place}`, seen(axis), [["", "any"], ...values.map((value, choice) => [String(choice), named(value)])]);
    select.addEventListener("change", () => { state.axes[place] = select.value; refresh(); });
    selects[place] = select;
  });
  const fill = () => {
    find("item-search").value = state.q;
    find("item-show").value = state.show;
    find("item-sort").value = state.sort;
    if (classSelect) classSelect.value = state.class;
    selects.forEach((select, place) => { select.value = state.axes[place]; });
  };
  find("item-search").addEventListener("input", (event) => { state.q = event.target.value.trim(); refresh(); });
  for (const name of ["show", "sort"]) find(`item-${name}`).addEventListener("change", (event) => { state[name] = event.target.value; refresh(); });
  tools.addEventListener("submit", (event) => event.preventDefault());
  for (const [id, step] of [["item-before", -1], ["item-after", 1]]) {
    find(id).addEventListener("click", () => { state.page += step; show(); goTo(top); });
  }

  const follow = () => {
    const text = location.hash.slice(1);
    const query = new URLSearchParams(text.includes("=") ? text : "");
    for (const name of ["q", "show", "sort", "class"]) state[name] = query.get(`items.${name}`) ?? "";
    if (!Object.hasOwn(weight, state.sort)) state.sort = ORDER;
    state.axes = data.axes.map(([axis, values]) => {
      const wanted = query.get(AXIS + axis);
      const place = wanted === null ? -1 : values.findIndex((value) => (value ?? "") === wanted);
      return place < 0 ? "" : String(place);
    });
    state.page = 0;
    state.item = "";
    fill();
    choose();
    if (query.has("item") && open(query.get("item"))) return;
    show();
    if ([...query.keys()].some((name) => name.startsWith("items."))) goTo(top);
  };

  /* Links of cells are no stops of the Tab key of their own: Enter follows the one of the focused cell. */
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches?.("td[tabindex]")) event.target.querySelector("a")?.click();
  });

  for (const part of [tools, box.querySelector(".item-legend"), box.querySelector(".item-pages")]) part.hidden = false;
  follow();
  addEventListener("hashchange", follow);
})();
