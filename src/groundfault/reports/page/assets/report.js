"use strict";
// Pictures are kept once, as text, and put in where they come near.
const groundfault = {
  kept: null,
  get pictures() { // read when the first one is needed, so that the page is there before
    this.kept ??= JSON.parse(document.getElementById("pictures").textContent);
    return this.kept;
  },
  all: (selector, within = document) => [...within.querySelectorAll(selector)],
  fill(element) {
    for (const image of this.all("image[data-picture]", element)) {
      image.setAttribute("href", this.pictures[Number(image.dataset.picture)]);
      image.removeAttribute("data-picture");
    }
  },
};
(() => {
  const root = document.documentElement;
  const { all } = groundfault;

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

  // The case that a chapter opens with is seen at once.
  addEventListener("DOMContentLoaded", () => all(".telling").forEach((part) => groundfault.fill(part)));

  // Splits: one choice for all slices of a chapter.
  for (const select of all("select[data-splits]")) {
    const choose = () => {
      for (const panel of all(".panel", document.getElementById(select.dataset.splits))) {
        let found = false;
        for (const table of all(".split", panel)) {
          const on = table.dataset.split === select.value;
          table.toggleAttribute("data-hidden", !on);
          found ||= on;
        }
        panel.querySelector(".no-split").toggleAttribute("data-hidden", found);
      }
    };
    select.addEventListener("change", choose);
    choose(); // a browser may keep what was chosen before a reload
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
})();
