// Two pictures: side by side, one over the other with a slider, or by turns.
(() => {
  const { all } = groundfault;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const flip = (compare) => compare.classList.toggle("second");

  groundfault.compare = (compare, way) => {
    // who wants no motion turns the pictures by hand
    if (way === "blink" && compare.dataset.way === "blink") flip(compare);
    compare.dataset.way = way;
    for (const button of all(".ways button", compare)) button.setAttribute("aria-pressed", button.dataset.way === way);
  };
  const slide = (compare, share) => {
    const at = Math.round(100 * Math.min(1, Math.max(0, share)));
    compare.style.setProperty("--at", `${at}%`);
    compare.querySelector("input").value = at;
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".ways button");
    if (button) groundfault.compare(button.closest(".compare"), button.dataset.way);
    else {
      const pair = event.target.closest(".compare[data-way=blink] .pair");
      if (pair) flip(pair.closest(".compare"));
    }
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches(".ways input")) slide(event.target.closest(".compare"), event.target.value / 100);
  });
  const drag = (event) => {
    const pair = event.target.closest(".compare[data-way=slider] .pair");
    if (!pair || !(event.buttons & 1)) return;
    event.preventDefault();
    const box = pair.getBoundingClientRect();
    slide(pair.closest(".compare"), (event.clientX - box.left) / box.width);
  };
  document.addEventListener("pointerdown", drag);
  document.addEventListener("pointermove", drag);
  setInterval(() => {
    if (!still.matches && !document.hidden) all('.compare[data-way="blink"]').forEach(flip);
  }, 700);
})();
