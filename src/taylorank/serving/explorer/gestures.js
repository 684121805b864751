// Moving the map by mouse, touch and keyboard.

const STILL = 6; // pixels that a finger may tremble in a tap

export function startGestures(canvas, view, { hover, leave, tap }) {
  const fingers = new Map();
  let travelled = 0;

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  /** Middle and spread of the fingers on the map. */
  const grip = () => {
    const places = [...fingers.values()];
    const middle = [0, 1].map((axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length);
    const spread = places.length < 2 ? 0 : Math.hypot(places[0][0] - places[1][0], places[0][1] - places[1][1]);
    return { middle, spread };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    if (!fingers.size) travelled = 0;
    fingers.set(event.pointerId, at(event));
  });

  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) {
      if (event.pointerType === "mouse") hover(...at(event));
      return;
    }
    const before = grip();
    fingers.set(event.pointerId, at(event));
    const now = grip();
    const [right, down] = [now.middle[0] - before.middle[0], now.middle[1] - before.middle[1]];
    travelled += Math.abs(right) + Math.abs(down) + Math.abs(now.spread - before.spread);
    if (travelled < STILL) return;
    view.pan(right, down);
    if (before.spread && now.spread) view.zoomBy(now.spread / before.spread, ...now.middle);
  });

  const lift = (event) => {
    const was = fingers.delete(event.pointerId);
    if (was && event.type === "pointerup" && travelled < STILL && !fingers.size) tap(...at(event));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", leave);

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const step = event.deltaMode === 1 ? 30 * event.deltaY : event.deltaY;
    view.zoomBy(Math.exp(-Math.max(-200, Math.min(200, step)) / (event.ctrlKey ? 90 : 320)), ...at(event));
  }, { passive: false });

  canvas.addEventListener("dblclick", (event) => view.zoomBy(2, ...at(event)));

  const keys = {
    ArrowLeft: () => view.pan(60, 0),
    ArrowRight: () => view.pan(-60, 0),
    ArrowUp: () => view.pan(0, 60),
    ArrowDown: () => view.pan(0, -60),
    "+": () => view.zoomBy(1.4),
    "=": () => view.zoomBy(1.4),
    "-": () => view.zoomBy(1 / 1.4),
    0: () => view.showAll({ byHand: true }),
    f: () => view.setFollows(!view.follows),
  };
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
}
