// Episodes of agents: one at a time, turn by turn.
(() => {
  const { all } = groundfault;
  const form = document.getElementById("episode-filters");
  if (!form) return;
  const articles = all(".episode");
  const dialog = document.getElementById("enlarged");
  document.getElementById("episodes").classList.add("stepped");

  for (const article of articles) {
    const steps = all(".step", article);
    const dots = all(".dots button", article);
    const [back, on] = all(".walk", article);
    let now = 0;
    const show = (next) => {
      now = Math.max(0, Math.min(steps.length - 1, next));
      steps.forEach((step, k) => { step.hidden = k !== now; });
      dots.forEach((dot, k) => dot.setAttribute("aria-current", k === now ? "step" : "false"));
      back.disabled = now === 0;
      on.disabled = now === steps.length - 1;
    };
    back.addEventListener("click", () => show(now - 1));
    on.addEventListener("click", () => show(now + 1));
    dots.forEach((dot, k) => dot.addEventListener("click", () => show(k)));
    article.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      show(now + by);
    });
    show(0);
  }

  const select = form.elements.episode;
  const choose = (number) => {
    const at = (number + articles.length) % articles.length;
    articles.forEach((article, k) => { article.hidden = k !== at; });
    select.value = at;
    groundfault.fill(articles[at]);
    return articles[at];
  };
  const visit = (hash) => {
    const at = articles.findIndex((article) => `#${article.id}` === hash);
    if (at < 0) return;
    const article = choose(at);
    article.scrollIntoView({ block: "center" });
    article.focus({ preventScroll: true });
  };
  select.addEventListener("input", () => choose(Number(select.value)));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) choose(Number(select.value) + Number(button.dataset.by));
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".walk-link");
    if (!link) return;
    if (dialog.open) dialog.close();
    visit(link.hash);
  });
  addEventListener("hashchange", () => visit(location.hash));
  addEventListener("beforeprint", () => articles.forEach((article) => groundfault.fill(article)));
  choose(0);
  visit(location.hash);
})();
