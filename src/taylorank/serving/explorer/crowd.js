// All items as dots. Tens of thousands are drawn in a few milliseconds: each adds to the opacity of the pixels it
// covers, so that dense parts of the map are darker.

const BINS = 96;

/** The items of a map, ready to be drawn and searched. */
export class Crowd {
  constructor(map) {
    this.ids = map.ids;
    this.titles = map.titles;
    this.x = Float32Array.from(map.x);
    this.y = Float32Array.from(map.y);
    this.place = new Map(map.ids.map((id, at) => [id, at]));
    const most = Math.max(...map.popularity.slice(0, 1), 1);
    const dim = Math.min(1, Math.sqrt(9000 / map.ids.length));
    this.opacity = Uint8Array.from(map.popularity, (value) => dim * (70 + 110 * Math.sqrt(Math.max(value, 0) / most)));
    this.extent = this.#extent();
    this.bins = this.#bins();
    this.image = null;
  }

  get size() {
    return this.ids.length;
  }

  #extent() {
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let at = 0; at < this.x.length; at++) {
      left = Math.min(left, this.x[at]);
      right = Math.max(right, this.x[at]);
      bottom = Math.min(bottom, this.y[at]);
      top = Math.max(top, this.y[at]);
    }
    return { left, right, bottom, top };
  }

  #bin(x, y) {
    const { left, right, bottom, top } = this.extent;
    const column = Math.floor((BINS * (x - left)) / (right - left || 1));
    const row = Math.floor((BINS * (y - bottom)) / (top - bottom || 1));
    return [Math.min(Math.max(column, 0), BINS - 1), Math.min(Math.max(row, 0), BINS - 1)];
  }

  #bins() {
    const bins = Array.from({ length: BINS * BINS }, () => []);
    for (let at = 0; at < this.x.length; at++) {
      const [column, row] = this.#bin(this.x[at], this.y[at]);
      bins[row * BINS + column].push(at);
    }
    return bins;
  }

  /** The item nearest to a point, at most `reach` away; those of `first` go before others. */
  nearest(x, y, reach, first = new Set()) {
    const [column0, row0] = this.#bin(x - reach, y - reach);
    const [column1, row1] = this.#bin(x + reach, y + reach);
    let best = -1;
    let least = reach * reach;
    for (let row = row0; row <= row1; row++) {
      for (let column = column0; column <= column1; column++) {
        for (const at of this.bins[row * BINS + column]) {
          const distance = ((this.x[at] - x) ** 2 + (this.y[at] - y) ** 2) * (first.has(at) ? 0.15 : 1);
          if (distance < least) [best, least] = [at, distance];
        }
      }
    }
    return best;
  }

  /** Put the dots on a canvas of width × height pixels; `toPixels` is {scale, left, top}, `rgb` their colour. */
  paint(context, width, height, toPixels, { radius, rgb, boost }) {
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = context.createImageData(width, height);
    }
    const pixels = this.image.data;
    new Uint32Array(pixels.buffer).fill((rgb[2] << 16) | (rgb[1] << 8) | rgb[0]);
    const dot = mask(radius);
    const reach = Math.ceil(radius) + 1;
    const { scale, left, top } = toPixels;
    for (let at = 0; at < this.x.length; at++) {
      const x = Math.round(this.x[at] * scale + left);
      const y = Math.round(top - this.y[at] * scale);
      if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
      const middle = 4 * (y * width + x) + 3;
      const opacity = this.opacity[at] * boost;
      for (let k = 0; k < dot.length; k += 3) {
        pixels[middle + 4 * (dot[k] * width + dot[k + 1])] += opacity * dot[k + 2];
      }
    }
    context.putImageData(this.image, 0, 0);
  }
}

/** A round dot as [row, column, cover, …]. */
function mask(radius) {
  const reach = Math.ceil(radius);
  const cells = [];
  for (let row = -reach; row <= reach; row++) {
    for (let column = -reach; column <= reach; column++) {
      const cover = Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(row, column)));
      if (cover > 0) cells.push(row, column, cover);
    }
  }
  return cells;
}
