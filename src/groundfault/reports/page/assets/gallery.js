// Galleries: cards with filters and a search, walked over with arrow keys, enlarged with Enter.
(() => {
  const { all } = groundfault;
  const PAGE = 40;
  const dialog = document.getElementById("enlarged");
  const stage = document.getElementById("enlarged-case");
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      groundfault.fill(entry.target);
      near.unobserve(entry.target);
    }
  }, { rootMargin: "600px" });
  let current = null; // the gallery whose card is enlarged

  const makeGallery = ({ holder, form, output, more, nothing, fits, enlarged, help }) => {
    const cards = all(".card", holder);
    const pictured = holder.tagName === "OL";
    let fitting = cards;
    let limit = PAGE;
    let open = -1;
    cards.forEach((card) => near.observe(card));

    const visible = () => fitting.slice(0, limit);
    const focusable = (card) => {
      for (const other of cards) other.tabIndex = other === card ? 0 : -1;
    };
    const show = () => {
      const seen = new Set(visible());
      for (const card of cards) card.hidden = !seen.has(card);
      output.textContent = `${seen.size} of ${fitting.length} shown`;
      more.hidden = fitting.length <= limit;
      nothing.hidden = fitting.length > 0;
      if (fitting.length) focusable(fitting[0]);
    };
    const filter = () => {
      const chosen = Object.fromEntries(new FormData(form));
      const words = (chosen.search || "").toLowerCase().split(/\s+/).filter(Boolean);
      fitting = cards.filter((card) => fits(card, chosen) && words.every((word) => card.dataset.search.includes(word)));
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
    holder.classList.add("ready");

    const columns = () => {
      const shown = visible();
      const top = shown.length ? shown[0].offsetTop : 0;
      return Math.max(1, shown.filter((card) => card.offsetTop === top).length);
    };
    const self = {
      enlarge(index) {
        const shown = visible();
        open = (index + shown.length) % shown.length;
        groundfault.fill(shown[open]);
        const copy = document.createElement("div");
        copy.innerHTML = shown[open].innerHTML;
        stage.replaceChildren(copy);
        document.getElementById("place").textContent = `${open + 1} of ${shown.length}`;
        document.getElementById("keys").textContent = help(shown[open]);
        current = self;
        self.key = enlarged ? enlarged(shown[open], copy) : () => false;
        if (!dialog.open) dialog.showModal();
        dialog.scrollTop = 0;
      },
      step: (by) => self.enlarge(open + by),
      key: () => false,
      closed() {
        const card = visible()[open];
        if (card) { focusable(card); card.focus(); }
      },
      print: () => visible().forEach((card) => groundfault.fill(card)),
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
      } else if ((event.key === "Enter" || event.key === " ") && pictured) {
        event.preventDefault();
        self.enlarge(at);
      }
    });
    holder.addEventListener("click", (event) => {
      const card = event.target.closest(".card");
      const busy = event.target.closest("a, button, input, .compare:not([data-way=side]) .pair");
      if (!card || busy || !pictured || String(getSelection())) return;
      focusable(card);
      self.enlarge(visible().indexOf(card));
    });
    addEventListener("beforeprint", self.print);
    return self;
  };

  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (event.target === dialog || (button && "close" in button.dataset)) dialog.close();
    else if (button && "step" in button.dataset) current.step(Number(button.dataset.step));
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select")) return; // arrows move the slider
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) current.step(step);
    else if (!current.key(event.key)) return;
    event.preventDefault();
  });
  dialog.addEventListener("close", () => current.closed());

  // A case of masks, enlarged: one run large, all runs below; up and down go from run to run.
  const withOtherRuns = (card, copy) => {
    const kept = document.querySelector(`template[data-case="${card.dataset.same}"]`);
    if (!kept) return () => false;
    const runs = [...kept.content.children];
    const targets = all(".picture", card).map((picture) => all(".halo, .target", picture));
    const drawn = (section) => {
      const clone = section.cloneNode(true);
      all(".picture", clone).forEach((picture, k) => {
        for (const path of targets[k] || []) picture.append(path.cloneNode());
      });
      groundfault.fill(clone);
      return clone;
    };
    let at = runs.findIndex((section) => section.dataset.run === card.dataset.model);
    const meta = copy.querySelector(".meta");
    const grid = document.createElement("div");
    grid.className = "other-runs";
    const heading = document.createElement("h3");
    heading.textContent = "The same case, run by run";
    runs.forEach((section, k) => {
      const small = drawn(section);
      small.tabIndex = 0;
      small.addEventListener("click", () => choose(k));
      small.addEventListener("keydown", (event) => {
        if (event.key === "Enter") choose(k);
      });
      grid.append(small);
    });
    const choose = (k) => {
      at = (k + runs.length) % runs.length;
      const large = drawn(runs[at]);
      large.classList.add("large");
      copy.replaceChildren(large, meta, heading, grid);
      meta.querySelector(".who").textContent = runs[at].dataset.run;
      const swatch = large.querySelector("h4 .swatch");
      if (swatch) meta.querySelector(".swatch").replaceWith(swatch.cloneNode(true));
      [...grid.children].forEach((small, number) => small.toggleAttribute("data-chosen", number === at));
    };
    choose(at);
    return (key) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (by) choose(at + by);
      return Boolean(by);
    };
  };

  const masks = document.getElementById("cases");
  if (masks) {
    makeGallery({
      holder: masks,
      form: document.getElementById("filters"),
      output: document.getElementById("shown"),
      more: document.getElementById("more"),
      nothing: document.getElementById("nothing"),
      fits: ({ dataset }, chosen) =>
        (!chosen.model || dataset.model === chosen.model) &&
        (!chosen.kind || dataset.kind === chosen.kind) &&
        (!chosen.cell || dataset.cell.split(" | ").includes(chosen.cell)),
      enlarged: withOtherRuns,
      help: (card) => (document.querySelector(`template[data-case="${card.dataset.same}"]`) ? "↑ ↓ other runs" : ""),
    });
  }

  // Answers in words: an answer that the filters do not mean is dimmed.
  const answers = document.getElementById("answer-cards");
  if (answers) {
    makeGallery({
      holder: answers,
      form: document.getElementById("answer-filters"),
      output: document.querySelector("#answers .shown"),
      more: document.querySelector("#answers .further"),
      nothing: document.querySelector("#answers .nothing"),
      fits: (card, chosen) => {
        const { dataset } = card;
        const meant = ["task", "type", "dimension", "truth"].every((name) => !chosen[name] || dataset[name] === chosen[name]);
        let any = false;
        for (const said of all(".said > li", card)) {
          const fit = ["run", "mode", "verdict", "outcome"].every((name) => !chosen[name] || said.dataset[name] === chosen[name]);
          said.classList.toggle("off", !fit);
          any ||= fit;
        }
        return meant && any;
      },
      enlarged: (card, copy) => (key) => {
        const way = { b: "blink", s: "slider", d: "side" }[key];
        const compare = copy.querySelector(".compare");
        if (way && compare) groundfault.compare(compare, way);
        return Boolean(way && compare);
      },
      help: (card) => (card.querySelector(".compare") ? "S slider · B blink · D side by side" : ""),
    });
  }
})();
