"use strict";
for (const article of document.querySelectorAll("article")) {
  const steps = [...article.querySelectorAll(".step")];
  const dots = [...article.querySelectorAll(".dots button")];
  const [back, on] = article.querySelectorAll(".walk");
  let now = 0;
  const show = (next) => {
    now = Math.max(0, Math.min(steps.length - 1, next));
    steps.forEach((step, k) => (step.hidden = k !== now));
    dots.forEach((dot, k) => dot.setAttribute("aria-current", k === now ? "step" : "false"));
    back.disabled = now === 0;
    on.disabled = now === steps.length - 1;
  };
  article.classList.add("stepped");
  back.addEventListener("click", () => show(now - 1));
  on.addEventListener("click", () => show(now + 1));
  dots.forEach((dot, k) => dot.addEventListener("click", () => show(k)));
  article.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") show(now - 1);
    if (event.key === "ArrowRight") show(now + 1);
  });
  show(0);
}
