// Elements, axes and the tip that plots share.

// html makes an element; attributes named on… are listeners. Text is never markup.
function html(name, attributes, ...children) { return fill(document.createElement(name), attributes, children); }
function svg(name, attributes, ...children) { return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children); }

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter(c => c !== undefined && c !== null));
  if (attributes && attributes.class === 'scroll') requestAnimationFrame(() => cue(element));
  return element;
}

// draw keeps a plot as wide as its container: make gets the width in pixels and
// returns the SVG element.
function draw(container, make) {
  let last = 0;
  const again = () => {
    const width = Math.max(260, Math.round(container.clientWidth));
    if (width === last) return;
    last = width;
    container.replaceChildren(...[make(width)].flat());
  };
  if (container.observer) container.observer.disconnect();
  container.observer = new ResizeObserver(again);
  container.observer.observe(container);
  again();
}

// ticks are about n round numbers from low to high, at least two.
function ticks(low, high, n) {
  if (!(high > low)) return [low];
  const raw = (high - low) / n, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(m => m * power >= raw * (1 - 1e-9));
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) list.push(k * step);
  if (list.length < 2 && n < 12) return ticks(low, high, n + 1);
  list.decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return list;
}

// extent returns the ends of the values with some room.
function extent(values, room) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  if (low > high) [low, high] = [0, 1];
  if (low === high) { low -= Math.abs(low) / 10 || 1; high += Math.abs(high) / 10 || 1; }
  const margin = (high - low) * room;
  return [low - margin, high + margin];
}

// tickText labels a tick.
const tickText = (v, list) => Math.abs(v) >= 1e5 ? figures(v, 3) : fixed(v, list.decimals || 0);

// frame draws axes; it returns the element with functions from values to pixels.
function frame(o) {
  const height = o.height, yTicks = o.yTicks || ticks(o.y[0], o.y[1], Math.max(3, Math.round(height / 55)));
  const widest = Math.max(...yTicks.map(t => tickText(t, yTicks).length));
  const left = 12 + 7 * widest + (o.yLabel ? 16 : 0), right = o.width - 12, top = 10, bottom = height - (o.xLabel ? 42 : 26);
  const px = v => left + (v - o.x[0]) / (o.x[1] - o.x[0]) * (right - left);
  const py = v => bottom - (v - o.y[0]) / (o.y[1] - o.y[0]) * (bottom - top);
  const root = svg('svg', { viewBox: `0 0 ${o.width} ${height}`, width: o.width, height, role: 'img', 'aria-label': o.title });
  const xTicks = o.xTicks || ticks(o.x[0], o.x[1], Math.max(2, Math.round(o.width / 110)));
  root.append(svg('path', { class: 'grid', d: yTicks.map(t => `M${left} ${py(t).toFixed(1)}H${right}`).join('') }));
  for (const t of yTicks) root.append(svg('text', { x: left - 6, y: py(t) + 4, 'text-anchor': 'end' }, tickText(t, yTicks)));
  for (const t of xTicks) root.append(svg('text', { x: px(t), y: bottom + 17, 'text-anchor': 'middle' }, tickText(t, xTicks)));
  root.append(svg('path', { class: 'axis', d: `M${left} ${bottom}H${right}` + xTicks.map(t => `M${px(t).toFixed(1)} ${bottom}v4`).join('') }));
  if (o.xLabel) root.append(svg('text', { x: (left + right) / 2, y: height - 6, 'text-anchor': 'middle' }, o.xLabel));
  if (o.yLabel) root.append(svg('text', { x: 11, y: (top + bottom) / 2, transform: `rotate(-90 11 ${(top + bottom) / 2})`, 'text-anchor': 'middle' }, o.yLabel));
  return { root, px, py, left, right, top, bottom };
}

const tip = document.getElementById('tip');

// showTip puts text beside a place of the window; without text it hides the tip.
function showTip(text, x, y) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const width = tip.offsetWidth, height = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 4)) + 'px';
  tip.style.top = Math.max(4, y + 16 + height > innerHeight ? y - height - 10 : y + 16) + 'px';
}
addEventListener('scroll', () => showTip(''), { passive: true });

// A series' look: eight colours, then the same with dashes; markers differ, too.
const look = i => `s${i % 8}` + (i >= 16 ? ' dash2' : i >= 8 ? ' dash1' : '');

function marker(i, x, y) {
  const at = (dx, dy) => `${(x + dx).toFixed(1)} ${(y + dy).toFixed(1)}`;
  switch (i % 4) {
    case 0: return `M${at(-4, 0)}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z`;
    case 1: return `M${at(-3.6, -3.6)}h7.2v7.2h-7.2z`;
    case 2: return `M${at(0, -4.8)}l4.6 8h-9.2z`;
    default: return `M${at(0, -5)}l5 5l-5 5l-5 -5z`;
  }
}

// select fills a select element and calls back when it changes.
function select(id, options, chosen, change) {
  const element = document.getElementById(id);
  element.replaceChildren(...options.map(([value, text]) => html('option', { value }, text)));
  element.value = chosen;
  element.addEventListener('change', () => change(element.value));
  return element;
}

// show reveals a section and its link.
function show(id) {
  document.getElementById(id).hidden = false;
}

// cue tells where a wide table goes on: its edge fades, and a line says so.
function cue(box) {
  if (!box.isConnected) return;
  const note = html('p', { class: 'cue small', 'aria-hidden': 'true', hidden: true }, 'more to the right →');
  box.after(note);
  const look = () => {
    const more = box.scrollWidth - box.clientWidth - box.scrollLeft > 4;
    box.classList.toggle('more', more);
    note.hidden = box.scrollWidth - box.clientWidth <= 4;
    note.textContent = more ? 'more to the right →' : '← more to the left';
  };
  box.addEventListener('scroll', look, { passive: true });
  new ResizeObserver(look).observe(box);
  look();
}
