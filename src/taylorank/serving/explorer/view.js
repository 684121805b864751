// Which part of the map is seen, and how it moves there.
import { prefersStillness } from "./dom.js";

const MARGIN = 36;
const BUTTONS = 40; // pixels on the right that buttons take
const CLOSEST = 60; // times the scale that shows everything
const MOVING = 420; // milliseconds

export class View {
  constructor(changed) {
    this.changed = changed;
    this.onFollow = () => {};
    this.width = this.height = 0;
    this.x = this.y = 0;
    this.scale = 1; // pixels of one unit
    this.follows = true;
    this.extent = { left: -1, right: 1, bottom: -1, top: 1 };
    this.moving = 0;
    this.last = () => this.showAll({ still: true });
  }

  get zoom() {
    return this.scale / this.#fit(this.extent).scale;
  }

  toScreen = (x, y) => [(x - this.x) * this.scale + this.width / 2, this.height / 2 - (y - this.y) * this.scale];

  toData = (x, y) => [(x - this.width / 2) / this.scale + this.x, (this.height / 2 - y) / this.scale + this.y];

  toPixels(ratio) {
    const scale = this.scale * ratio;
    return { scale, left: (this.width * ratio) / 2 - this.x * scale, top: (this.height * ratio) / 2 + this.y * scale };
  }

  holds(x, y) {
    const [right, down] = this.toScreen(x, y);
    return right > MARGIN && down > MARGIN && right < this.width - MARGIN && down < this.height - MARGIN;
  }

  cover(extent) {
    this.extent = extent;
  }

  resize(width, height) {
    [this.width, this.height] = [width, height];
    if (this.follows) this.last();
    this.changed();
  }

  setFollows(follows) {
    if (follows === this.follows) return;
    this.follows = follows;
    this.onFollow(follows);
  }

  showAll({ still = false, byHand = false } = {}) {
    if (byHand) this.setFollows(false);
    this.last = () => this.showAll({ still: true });
    this.#go(this.#fit(this.extent), still);
  }

  /** Show these points with some room around them. */
  showPoints(points) {
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    const box = { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) };
    const room = 0.16 * Math.max(box.right - box.left, box.top - box.bottom, 0.02);
    const wide = { left: box.left - room, right: box.right + room, bottom: box.bottom - room, top: box.top + room };
    this.last = () => this.#go(this.#fit(wide), true);
    this.#go(this.#fit(wide), false);
  }

  centre(x, y) {
    this.#go({ x, y, scale: this.scale }, false);
  }

  /** Move by pixels, by hand. */
  pan(right, down) {
    this.setFollows(false);
    this.#stop();
    this.x -= right / this.scale;
    this.y += down / this.scale;
    this.#stay();
    this.changed();
  }

  /** Enlarge; the place (x, y) of the screen, or the middle, stays where it is. */
  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    this.setFollows(false);
    this.#stop();
    const [before, above] = this.toData(x, y);
    this.scale = this.#within(this.scale * factor);
    const [after, over] = this.toData(x, y);
    this.x += before - after;
    this.y += above - over;
    this.#stay();
    this.changed();
  }

  #fit({ left, right, bottom, top }) {
    const wide = Math.max(this.width - 2 * MARGIN - BUTTONS, 50) / Math.max(right - left, 1e-6);
    const high = Math.max(this.height - 2 * MARGIN, 50) / Math.max(top - bottom, 1e-6);
    const scale = Math.min(wide, high);
    return { x: (left + right) / 2 + BUTTONS / 2 / scale, y: (bottom + top) / 2, scale };
  }

  #within(scale) {
    const all = this.#fit(this.extent).scale;
    return Math.min(Math.max(scale, 0.6 * all), CLOSEST * all);
  }

  /** The middle of the screen stays on the map. */
  #stay() {
    this.x = Math.min(Math.max(this.x, this.extent.left), this.extent.right);
    this.y = Math.min(Math.max(this.y, this.extent.bottom), this.extent.top);
  }

  #stop() {
    cancelAnimationFrame(this.moving);
  }

  #go(to, still) {
    this.#stop();
    const goal = { ...to, scale: this.#within(to.scale) };
    if (still || prefersStillness() || !this.width) {
      Object.assign(this, goal);
      return this.changed();
    }
    const from = { x: this.x, y: this.y, scale: this.scale };
    const began = performance.now();
    const step = (now) => {
      const done = Math.min(1, Math.max(0, now - began) / MOVING);
      const part = 1 - (1 - done) ** 3;
      this.scale = from.scale * (goal.scale / from.scale) ** part;
      // The place moves with the scale, so that a far flight does not swing out.
      const share = Math.abs(goal.scale / from.scale - 1) < 1e-3 ? part
        : (1 / from.scale - 1 / this.scale) / (1 / from.scale - 1 / goal.scale);
      this.x = from.x + (goal.x - from.x) * share;
      this.y = from.y + (goal.y - from.y) * share;
      this.changed();
      if (done < 1) this.moving = requestAnimationFrame(step);
    };
    this.moving = requestAnimationFrame(step);
  }
}
