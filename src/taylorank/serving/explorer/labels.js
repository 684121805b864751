// Names on the map, none over another: the lit items first, then the popular ones, as many as there is room for.

export const CELL = 6; // pixels of the grid that knows what is taken
const LINE = 15;
const LOOKED_AT = 4000;
const LONGEST = 26;

const widths = new Map();

export class Labels {
  constructor(context, width, height) {
    this.context = context;
    this.width = width;
    this.height = height;
    this.columns = Math.ceil(width / CELL) + 1;
    this.taken = new Uint8Array(this.columns * (Math.ceil(height / CELL) + 1));
    this.found = [];
  }

  /** Keep a place free, of a dot or a button. */
  block(x, y, radius) {
    this.#mark(x - radius, y - radius, 2 * radius, 2 * radius);
  }

  /** Place a name beside a dot; return whether there was room. `wanted` ones try all sides, `needed` ones stand anyway. */
  place(title, x, y, { font, colour, gap = 6, wanted = false, needed = false }) {
    const text = title.length > LONGEST ? `${title.slice(0, LONGEST - 1)}…` : title;
    const width = this.#measure(text, font);
    const sides = [[x + gap, y - LINE / 2], [x - gap - width, y - LINE / 2]];
    if (wanted) sides.push([x - width / 2, y - gap - LINE], [x - width / 2, y + gap]);
    const isSeen = x > 0 && y > 0 && x < this.width && y < this.height;
    const side = sides.find(([left, top]) => this.#isFree(left, top, width, LINE)) ?? (needed && isSeen ? sides[0] : null);
    if (!side) return false;
    this.#mark(...side, width, LINE);
    this.found.push({ text, font, colour, left: side[0], top: side[1] });
    return true;
  }

  /** Draw them all, each with a rim of the background so that it reads over dots. */
  draw(rim) {
    const { context } = this;
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3.5;
    context.strokeStyle = rim;
    for (const { text, font, colour, left, top } of this.found) {
      context.font = font;
      context.strokeText(text, left, top + LINE / 2);
      context.fillStyle = colour;
      context.fillText(text, left, top + LINE / 2);
    }
  }

  #measure(text, font) {
    const key = `${font}|${text}`;
    if (!widths.has(key)) {
      if (widths.size > 20000) widths.clear();
      this.context.font = font;
      widths.set(key, this.context.measureText(text).width);
    }
    return widths.get(key);
  }

  #isFree(left, top, width, height) {
    if (left < 4 || top < 4 || left + width > this.width - 4 || top + height > this.height - 4) return false;
    return this.#cells(left, top, width, height, (cell) => this.taken[cell] === 0);
  }

  #mark(left, top, width, height) {
    this.#cells(left, top, width, height, (cell) => {
      this.taken[cell] = 1;
      return true;
    });
  }

  #cells(left, top, width, height, each) {
    const last = Math.min(Math.floor((left + width) / CELL), this.columns - 1);
    for (let row = Math.max(0, Math.floor(top / CELL)); row <= Math.floor((top + height) / CELL); row++) {
      for (let column = Math.max(0, Math.floor(left / CELL)); column <= last; column++) {
        if (!each(row * this.columns + column)) return false;
      }
    }
    return true;
  }
}

/** Name the popular items of a crowd (they come first in it) that are in view and not `named` yet. */
export function nameCrowd(labels, crowd, toScreen, { font, colour, most, named = new Set() }) {
  let looked = 0;
  let placed = 0;
  for (let at = 0; at < crowd.size && placed < most && looked < LOOKED_AT; at++) {
    const [x, y] = toScreen(crowd.x[at], crowd.y[at]);
    if (x < 0 || y < 0 || x > labels.width || y > labels.height) continue;
    looked++;
    if (!named.has(at) && labels.place(crowd.titles[at], x, y, { font, colour })) placed++;
  }
}
