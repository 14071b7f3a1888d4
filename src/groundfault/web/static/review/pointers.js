// Mouse, pen and fingers on the pictures: pan, slide, paint, pinch.
const WHEEL = 400;

export function followPointers(canvas, view, { pressed, lifted }) {
  const fingers = new Map();
  let pinch = null, back = null;         // how two fingers last stood; the tool that comes back after the right button
  const place = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const spread = () => { const [a, b] = [...fingers.values()]; return { distance: Math.hypot(a[0] - b[0], a[1] - b[1]), middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] }; };
  const slides = () => view.mode === "slider" && view.zoom === 1;

  function begin(event) {
    if (event.button === 2 && view.layer.tool === "brush") { back = "brush"; view.layer.tool = "eraser"; }
    view.layer.begin(...view.toPicture(...place(event)));
    view.redraw();
  }

  function pinched() {
    const { distance, middle } = spread();
    view.zoomBy(distance / pinch.distance, ...middle);
    view.panBy(middle[0] - pinch.middle[0], middle[1] - pinch.middle[1]);
    pinch = { distance, middle };
  }

  function paint(event) {
    if (view.layer.tool !== "polygon") for (const part of event.getCoalescedEvents?.() ?? [event]) view.layer.extend(...view.toPicture(...place(part)));
    view.redraw();
  }

  function lift(event) {
    fingers.delete(event.pointerId);
    if (back && view.layer) view.layer.tool = back;
    back = null;
    lifted();
  }

  canvas.addEventListener("pointerdown", event => {
    if (!view.shown) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    pressed();
    if (fingers.size === 2) { pinch = spread(); view.layer?.undo(); }            // what the first of two fingers painted was not meant
    else if (view.layer) begin(event);
    else if (slides()) view.slideTo(place(event)[0]);
  });
  canvas.addEventListener("pointermove", event => {
    if (!view.shown) return;
    const before = fingers.get(event.pointerId), now = place(event);
    if (view.layer) view.layer.cursor = view.toPicture(...now);
    if (!before) { if (view.layer) view.redraw(); return; }
    fingers.set(event.pointerId, now);
    if (fingers.size === 2) pinched();
    else if (view.layer) paint(event);
    else if (slides()) view.slideTo(now[0]);
    else if (view.zoom > 1) view.panBy(now[0] - before[0], now[1] - before[1]);
  });
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => { if (view.layer && !fingers.size) { view.layer.cursor = null; view.redraw(); } });
  canvas.addEventListener("dblclick", () => { if (view.layer?.tool === "polygon") { view.layer.close(); view.redraw(); } });
  canvas.addEventListener("contextmenu", event => event.preventDefault());
  canvas.addEventListener("wheel", event => { event.preventDefault(); view.zoomBy(Math.exp(-event.deltaY / WHEEL), ...place(event)); }, { passive: false });
}
