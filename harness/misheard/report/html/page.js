"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const root = document.documentElement;

  /* Theme: the system's, unless the reader chose another (head.js). Storage may be forbidden for a file. */
  const keep = (theme) => { try { localStorage.setItem("misheard-theme", theme); } catch { /* not kept */ } };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const showTheme = () => button.setAttribute("aria-pressed", String(isDark()));
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    keep(root.dataset.theme);
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();

  /* Deep links: #metric=wer&noise=5dB&sort=-wer; a plain #section stays an anchor. */
  const read = () => {
    const text = location.hash.slice(1);
    return text.includes("=") ? new URLSearchParams(text) : null;
  };
  /* A percent sign that begins no escape may stand in an address, and then it is what it is. */
  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  const AXIS = "axis.";
  const state = { panels: {}, pairs: [], sort: "" };
  const write = () => {
    const query = new URLSearchParams();
    for (const [name, key] of Object.entries(state.panels)) if (key) query.set(name, key);
    for (const [axis, value] of state.pairs) query.append(AXIS + axis, value === null ? "" : value);
    if (state.sort) query.set("sort", state.sort);
    for (const [name, value] of read() || []) if (/^items?(\.|$)/.test(name)) query.append(name, value);
    const text = query.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };

  /* Filter by condition */
  const form = document.getElementById("filters");
  const boxes = form ? all("input", form) : [];
  const pairOf = (box) => JSON.parse(box.dataset.pair);
  const rows = all("tr[data-where]").map((row) => ({ row, where: JSON.parse(row.dataset.where), one: "one" in row.dataset }));
  const isShown = ({ where, one }, chosen) => {
    if (!chosen.size) return true;
    if (one) return Object.entries(where).some(([axis, value]) => chosen.get(axis)?.includes(value));
    return [...chosen].every(([axis, values]) => values.includes(axis in where ? where[axis] : null));
  };
  const filter = () => {
    state.pairs = boxes.filter((box) => box.checked).map(pairOf);
    const chosen = new Map();
    for (const [axis, value] of state.pairs) chosen.set(axis, [...(chosen.get(axis) || []), value]);
    for (const entry of rows) entry.row.hidden = !isShown(entry, chosen);
    if (!form) return;
    const named = [...chosen].map(([axis, values]) => `${axis} ${values.map((value) => value ?? "(none)").join(", ")}`);
    document.getElementById("filter-state").value = named.length ? `shown: ${named.join("; ")}` : "";
    form.querySelector("button").hidden = !state.pairs.length;
  };
  if (form) {
    form.hidden = false;
    form.addEventListener("change", () => { filter(); write(); });
    form.addEventListener("reset", () => setTimeout(() => { filter(); write(); }));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /* Sort by column: down, up, then the order of the report again */
  const keyOf = (cell) => {
    const text = cell.dataset.sort;
    if (text === undefined) return null;
    return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  const sortTable = (table, place, direction) => {
    const body = table.tBodies[0];
    if (!table.order) table.order = [...body.rows];
    const found = table.order.map((row) => [keyOf(row.cells[place]), row]);
    if (direction) {
      found.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return direction * compare(a, b);
      });
    }
    body.append(...found.map(([, row]) => row));
    for (const head of all("thead tr:last-child th", table)) {
      head.removeAttribute("aria-sort");
      if (head.cellIndex === place && direction) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    }
  };
  const columns = new Map();
  for (const table of all("table[data-sorts]")) {
    for (const head of all("thead tr:last-child th", table)) {
      if (head.cellIndex === 0) continue;
      const sorter = document.createElement("button");
      sorter.type = "button";
      sorter.className = "sort";
      sorter.append(...head.childNodes);
      if (head.dataset.tip) { sorter.dataset.tip = head.dataset.tip; delete head.dataset.tip; }
      head.append(sorter);
      const key = head.dataset.key;
      if (key && !columns.has(key)) columns.set(key, [table, head.cellIndex]);
      sorter.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const next = now === "descending" ? 1 : now === "ascending" ? 0 : -1;
        sortTable(table, head.cellIndex, next);
        if (key) { state.sort = next ? (next < 0 ? "-" : "") + key : ""; write(); }
      });
    }
  }

  /* Views of which one is shown */
  const choices = new Map();
  for (const panels of all("[data-panels]")) {
    const name = panels.dataset.panels;
    const select = panels.querySelector("select");
    const views = all(":scope > .panel", panels);
    const choose = (key) => {
      const chosen = views.find((view) => view.dataset.key === key) || views[0];
      if (!chosen) return;
      for (const view of views) view.classList.toggle("is-chosen", view === chosen);
      select.value = chosen.dataset.key;
      state.panels[name] = key && chosen.dataset.key === key ? key : "";
    };
    panels.querySelector(".chooser").hidden = false;
    select.addEventListener("change", () => { choose(select.value); write(); });
    choices.set(name, { choose, panels });
  }

  const follow = () => {
    const query = read();
    if (!query) {
      const target = document.getElementById(decoded(location.hash.slice(1)));
      const folded = target?.closest("details:not([open])");
      if (folded) { folded.open = true; target.scrollIntoView(); }
      return;
    }
    const wanted = (axis, value) => query.getAll(AXIS + axis).includes(value === null ? "" : value);
    for (const box of boxes) box.checked = wanted(...pairOf(box));
    filter();
    const sort = query.get("sort") || "";
    const place = columns.get(sort.replace(/^-/, ""));
    if (place) { sortTable(...place, sort.startsWith("-") ? -1 : 1); state.sort = sort; }
    for (const [name, { choose, panels }] of choices) {
      choose(query.get(name));
      if (query.has(name)) panels.scrollIntoView();
    }
    if (![...choices.keys()].some((name) => query.has(name)) && (sort || state.pairs.length)) (form || root).scrollIntoView();
  };

  /* Explanations: on hover, and on focus. Each table is one stop of the Tab key; arrow keys go from cell to cell. */
  const tip = document.getElementById("tip");
  let owner = null;
  const hide = () => { tip.hidden = true; owner?.removeAttribute("aria-describedby"); owner = null; };
  const show = (element) => {
    if (owner && owner !== element) hide();
    owner = element;
    tip.textContent = element.dataset.tip;
    tip.hidden = false;
    element.setAttribute("aria-describedby", "tip");
    const box = element.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8));
    const above = box.top - tip.offsetHeight - 6;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : box.bottom + 6}px`;
  };
  const tipped = (event) => event.target.closest?.("[data-tip]");
  document.addEventListener("mouseover", (event) => { const found = tipped(event); if (found) show(found); else hide(); });
  document.addEventListener("focusin", (event) => { const found = tipped(event); if (found) show(found); else hide(); });
  /* What has the focus was scrolled into view for it; its explanation goes along. */
  document.addEventListener("scroll", () => { if (owner && owner === document.activeElement) show(owner); else hide(); }, true);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const cell = event.target.closest?.("td[tabindex]");
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!cell || !step) return;
    event.preventDefault();
    let row = cell.parentElement;
    let place = cell.cellIndex;
    for (;;) {
      if (step[0]) row = step[0] > 0 ? row.nextElementSibling : row.previousElementSibling;
      place += step[1];
      const next = row?.cells[place];
      if (!next || next.tagName !== "TD") return;
      if (row.hidden || !next.dataset.tip) continue;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      return;
    }
  });
  for (const table of all("table")) all("td[data-tip]", table).forEach((cell, place) => { cell.tabIndex = place ? -1 : 0; });

  /* Folded parts are printed too */
  let opened = [];
  addEventListener("beforeprint", () => { opened = all("details:not([open])"); for (const one of opened) one.open = true; });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
  if (matchMedia("(max-width: 40rem)").matches) document.querySelector(".contents details").open = false;

  filter();
  for (const { choose } of choices.values()) choose(null);
  follow();
  addEventListener("hashchange", follow);
})();
