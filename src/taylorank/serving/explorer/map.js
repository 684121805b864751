// The map: what is seen of it, and what lights up.
import { latest, request } from "./api.js";
import { Crowd } from "./crowd.js";
import { $ } from "./dom.js";
import { CELL, Labels, nameCrowd } from "./labels.js";
import { change, colourOf, isChosen, on, state } from "./state.js";
import { View } from "./view.js";
import { startGestures } from "./gestures.js";

const SMALL = "12px system-ui, sans-serif";
const BOLD = "600 13px system-ui, sans-serif";
const ROOM_OF_A_NAME = 5200; // square pixels

let crowd = null;
let answer = { items: [] };
let pointed = -1;
let colours = {};
const view = new View(() => drawSoon());
const load = latest((signal) => request(`v1/map?model=${encodeURIComponent(state.model.name)}`, { signal }));

async function loadMap() {
  tell("Drawing the map …");
  try {
    const map = await load();
    if (map === undefined) return;
    crowd = new Crowd(map);
    pointed = -1;
    state.catalogue = new Map(map.ids.map((id, at) => [id, map.titles[at]]));
    view.cover(crowd.extent);
    view.showAll({ still: true });
    tell(crowd.size ? "" : "There are no items to draw.");
    change("catalogue");
    follow();
    drawSoon();
  } catch (error) {
    crowd = null;
    pointed = -1;
    drawSoon();
    tell(`There is no map: ${error.message}`);
  }
}

function tell(text) {
  $("map-message").textContent = text;
  $("map-message").hidden = !text;
}

const placesOf = (items) => items.map((item) => crowd.place.get(item.id)).filter((at) => at !== undefined);
const lit = () => new Set(crowd ? [...placesOf(state.chosen), ...placesOf(answer.items)] : []);

/** Move to what is lit, unless the map was moved by hand. */
function follow() {
  if (!crowd || !view.follows) return;
  const places = state.chosen.length ? [...lit()] : [];
  if (places.length) view.showPoints(places.map((at) => [crowd.x[at], crowd.y[at]]));
  else view.showAll();
}

let isDue = false;

function drawSoon() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    draw();
  });
}

function draw() {
  const canvas = $("canvas");
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const { width, height } = view;
  if (!width || !height) return;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const context = canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, wide, high);
  if (!crowd) return;
  const radius = dotSize() * ratio;
  crowd.paint(context, wide, high, view.toPixels(ratio), { radius, rgb: colours.crowd, boost: Math.min(1.7, view.zoom ** 0.3) });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const labels = new Labels(context, width, height);
  for (const down of [26, 67, 108, 149]) labels.block(width - 26, down, 22); // the buttons
  drawLit(context, labels);
  nameCrowd(labels, crowd, view.toScreen, {
    font: SMALL, colour: colours.soft, most: (width * height) / ROOM_OF_A_NAME, named: lit().add(pointed),
  });
  labels.draw(colours.ground);
}

/** Smaller where there are many, larger when the map is enlarged. */
function dotSize() {
  const base = Math.min(1.8, Math.max(0.75, 1.9 - 0.35 * Math.log2(crowd.size / 3000)));
  return Math.min(4, base * view.zoom ** 0.4);
}

function drawLit(context, labels) {
  const recommended = answer.items.filter((item) => !isChosen(item.id)).map((item) => [item, crowd.place.get(item.id)])
    .filter(([, at]) => at !== undefined);
  const chosen = state.chosen.map((one) => [one, crowd.place.get(one.id)]).filter(([, at]) => at !== undefined);
  for (const [item, at] of recommended) drawThread(context, item, at);
  recommended.toReversed().forEach(([, at]) => drawDot(context, at, 4.5, colours.recommended));
  for (const [one, at] of chosen) drawDot(context, at, 6.5, colours.own[one.colour] ?? colours.soft, true);
  if (pointed >= 0) drawRing(context, pointed);
  nameLit(labels, chosen, recommended);
}

/** Names of the item pointed at, the chosen, the recommended; the first few chosen are named in any case. */
function nameLit(labels, chosen, recommended) {
  const write = (at, colour, gap, isNeeded) => {
    const [x, y] = view.toScreen(crowd.x[at], crowd.y[at]);
    labels.place(crowd.titles[at], x, y, { font: BOLD, colour, gap, wanted: true, needed: isNeeded });
  };
  const block = (lit, radius) => {
    for (const [, at] of lit) labels.block(...view.toScreen(crowd.x[at], crowd.y[at]), radius);
  };
  block(chosen, 11 - CELL); // so that a dot does not take the place of its own name
  if (pointed >= 0) write(pointed, colours.ink, 10, true);
  chosen.forEach(([one, at], place) => {
    if (at !== pointed) write(at, colours.own[one.colour] ?? colours.ink, 11, place < 8);
  });
  block(recommended, 8 - CELL);
  for (const [, at] of recommended) if (at !== pointed) write(at, colours.ink, 8, false);
}

/** A line from a recommended item to the chosen one that speaks most for it. */
function drawThread(context, item, at) {
  const reason = item.reasons?.[0];
  const from = reason === undefined ? undefined : crowd.place.get(reason.id);
  if (from === undefined) return;
  context.beginPath();
  context.moveTo(...view.toScreen(crowd.x[from], crowd.y[from]));
  context.lineTo(...view.toScreen(crowd.x[at], crowd.y[at]));
  context.strokeStyle = colours.own[colourOf(reason.id)] ?? colours.soft;
  context.globalAlpha = 0.35;
  context.lineWidth = 1.25;
  context.stroke();
  context.globalAlpha = 1;
}

function drawDot(context, at, radius, colour, isRinged = false) {
  const [x, y] = view.toScreen(crowd.x[at], crowd.y[at]);
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.strokeStyle = colours.ground;
  context.lineWidth = 2;
  context.fill();
  context.stroke();
  if (!isRinged) return;
  context.beginPath();
  context.arc(x, y, radius + 2.5, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.stroke();
}

function drawRing(context, at) {
  const [x, y] = view.toScreen(crowd.x[at], crowd.y[at]);
  context.beginPath();
  context.arc(x, y, 8, 0, 2 * Math.PI);
  context.strokeStyle = colours.ink;
  context.lineWidth = 2;
  context.stroke();
}

/** Colours of the style sheet as the canvas takes them. */
function readColours() {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const own = Array.from({ length: 8 }, (_, at) => read(`c${at}`));
  colours = { own, ink: read("ink"), soft: read("soft"), ground: read("panel"), recommended: read("glow"), crowd: numbers(read("crowd")) };
  probe.remove();
  drawSoon();
}

const numbers = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);

/** The item under a place on the screen, or −1. */
function itemAt(x, y, reach) {
  if (!crowd) return -1;
  return crowd.nearest(...view.toData(x, y), reach / view.scale, lit());
}

function point(at) {
  if (at === pointed) return;
  pointed = at;
  $("canvas").style.cursor = at >= 0 ? "pointer" : "";
  drawSoon();
}

function inspect({ id, move }) {
  const at = crowd?.place.get(id);
  if (at === undefined) return;
  point(at);
  if (move && !view.holds(crowd.x[at], crowd.y[at])) view.centre(crowd.x[at], crowd.y[at]);
}

export function startMap() {
  startGestures($("canvas"), view, {
    hover: (x, y) => point(itemAt(x, y, 12)),
    leave: () => point(-1),
    tap: (x, y) => {
      const at = itemAt(x, y, 22);
      if (at >= 0) change("inspect", { id: crowd.ids[at], title: crowd.titles[at] });
    },
  });
  new ResizeObserver(([entry]) => view.resize(entry.contentRect.width, entry.contentRect.height)).observe($("map"));
  $("zoom-in").addEventListener("click", () => view.zoomBy(1.6));
  $("zoom-out").addEventListener("click", () => view.zoomBy(1 / 1.6));
  $("zoom-all").addEventListener("click", () => view.showAll({ byHand: true }));
  $("follow").addEventListener("click", () => view.setFollows(!view.follows));
  view.onFollow = (follows) => {
    $("follow").setAttribute("aria-pressed", String(follows));
    if (follows) follow();
  };
  on("model", loadMap);
  on("colours", readColours);
  on("inspect", inspect);
  on("choice", drawSoon);
  on("point", (id) => point(id === null ? -1 : crowd?.place.get(id) ?? -1));
  on("answer", (given) => {
    answer = given;
    follow();
    drawSoon();
  });
}
