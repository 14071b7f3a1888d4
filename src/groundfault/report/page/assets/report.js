"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Theme: what the system says, until the reader chooses.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
    root.dataset.theme = isDark ? "light" : "dark";
    try { localStorage.setItem("groundfault-theme", root.dataset.theme); } catch { /* a private window */ }
  });

  // Tabs: arrow keys move, as the pattern for tab lists asks.
  for (const list of all('[role="tablist"]')) {
    const tabs = all('[role="tab"]', list);
    const choose = (chosen, focus) => {
      for (const tab of tabs) {
        const on = tab === chosen;
        tab.setAttribute("aria-selected", on);
        tab.tabIndex = on ? 0 : -1;
        document.getElementById(tab.getAttribute("aria-controls")).toggleAttribute("data-hidden", !on);
      }
      if (focus) chosen.focus();
    };
    list.addEventListener("click", (event) => {
      const tab = event.target.closest('[role="tab"]');
      if (tab) choose(tab, false);
    });
    list.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      choose(tabs[(to + tabs.length) % tabs.length], true);
    });
  }

  // Tables: a column heading sorts, undefined values last.
  for (const button of all(".sort")) {
    button.addEventListener("click", () => {
      const heading = button.closest("th");
      const table = heading.closest("table");
      const column = heading.cellIndex;
      const down = heading.getAttribute("aria-sort") !== "descending";
      for (const other of all("thead th[aria-sort]", table)) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter((row) => row.cells.length > column);
        const value = (row) => {
          const text = row.cells[column].dataset.value;
          return text === "" ? -Infinity : (down ? 1 : -1) * Number(text);
        };
        rows.sort((a, b) => value(b) - value(a)).forEach((row) => body.append(row));
      }
    });
  }

  // The gallery.
  const holder = document.getElementById("cases");
  if (!holder) return;
  const PAGE = 40;
  const cards = all(".card", holder);
  const form = document.getElementById("filters");
  const output = document.getElementById("shown");
  const more = document.getElementById("more");
  const pictures = JSON.parse(document.getElementById("pictures").textContent);
  let fitting = cards;
  let limit = PAGE;

  const fill = (card) => {
    for (const image of all("image[data-picture]", card)) {
      image.setAttribute("href", pictures[Number(image.dataset.picture)]);
      image.removeAttribute("data-picture");
    }
  };
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      fill(entry.target);
      near.unobserve(entry.target);
    }
  }, { rootMargin: "600px" });
  if (pictures.length) cards.forEach((card) => near.observe(card));

  const focusable = (card) => {
    for (const other of cards) other.tabIndex = other === card ? 0 : -1;
  };
  const show = () => {
    const seen = new Set(fitting.slice(0, limit));
    for (const card of cards) card.hidden = !seen.has(card);
    output.textContent = `${seen.size} of ${fitting.length} shown`;
    more.hidden = fitting.length <= limit;
    document.getElementById("nothing").hidden = fitting.length > 0;
    if (fitting.length) focusable(fitting[0]);
  };
  const filter = () => {
    const chosen = Object.fromEntries(new FormData(form));
    const words = (chosen.search || "").toLowerCase().split(/\s+/).filter(Boolean);
    fitting = cards.filter(({ dataset }) =>
      (!chosen.model || dataset.model === chosen.model) &&
      (!chosen.kind || dataset.kind === chosen.kind) &&
      (!chosen.cell || dataset.cell.split(" | ").includes(chosen.cell)) &&
      words.every((word) => dataset.search.includes(word)));
    limit = PAGE;
    show();
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => {
    const first = limit;
    limit += PAGE;
    show();
    focusable(fitting[first]);
    fitting[first].focus();
  });
  filter(); // a reloaded page keeps its form

  // Arrow keys walk over cards as they lie; Enter enlarges.
  const dialog = document.getElementById("enlarged");
  const stage = document.getElementById("enlarged-case");
  let open = -1;
  const visible = () => fitting.slice(0, limit);
  const columns = () => {
    const shown = visible();
    const top = shown.length ? shown[0].offsetTop : 0;
    return Math.max(1, shown.filter((card) => card.offsetTop === top).length);
  };
  const enlarge = (index) => {
    const shown = visible();
    open = (index + shown.length) % shown.length;
    fill(shown[open]);
    const copy = document.createElement("div");
    copy.innerHTML = shown[open].innerHTML;
    stage.replaceChildren(copy);
    document.getElementById("place").textContent = `${open + 1} of ${shown.length}`;
    if (!dialog.open) dialog.showModal();
  };
  holder.addEventListener("keydown", (event) => {
    const shown = visible();
    const at = shown.indexOf(event.target);
    if (at < 0) return;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(), ArrowUp: -columns() }[event.key];
    if (step !== undefined && shown[at + step]) {
      event.preventDefault();
      focusable(shown[at + step]);
      shown[at + step].focus();
    } else if ((event.key === "Enter" || event.key === " ") && pictures.length) {
      event.preventDefault();
      enlarge(at);
    }
  });
  holder.addEventListener("click", (event) => {
    const card = event.target.closest(".card");
    if (!card || !pictures.length || String(getSelection())) return;
    focusable(card);
    enlarge(visible().indexOf(card));
  });
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (event.target === dialog || (button && "close" in button.dataset)) dialog.close();
    else if (button) enlarge(open + Number(button.dataset.step));
  });
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    enlarge(open + step);
  });
  dialog.addEventListener("close", () => {
    const card = visible()[open];
    if (card) { focusable(card); card.focus(); }
  });
  addEventListener("beforeprint", () => visible().forEach(fill));
})();
