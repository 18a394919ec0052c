// Trees: the measure after each number of them, what features they divide by, the first ones.

function treePlots() {
  if (!report.trees.length) return;
  lines(document.getElementById('staged-plot'), {
    title: report.measures[0].name + ' by number of trees', xLabel: 'trees', decimals: 4,
    series: report.trees.map(t => ({ name: report.systems[t.system], i: t.system, x: t.x, y: t.y, best: t.best })),
  });
  const opened = Math.max(0, report.trees.findIndex(t => t.system === report.best));
  let current = report.trees[opened];
  const plot = document.getElementById('importance-plot'), table = document.getElementById('importance-table'), drawn = document.getElementById('trees-drawn');
  select('trees-system', report.trees.map((t, i) => [i, report.systems[t.system]]), opened, v => { current = report.trees[+v]; redraw(); });

  function bars(width) {
    const n = Math.min(shownFirst, current.f.length), step = 24, text = Math.min(200, width * 0.34), height = n * step + 8;
    const most = Math.max(...current.g, 1e-9), px = v => text + v / most * (width - text - 60);
    const root = svg('svg', { class: look(current.system), viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `Features of ${report.systems[current.system]} by share of the variance their splits explain` });
    for (let i = 0; i < n; i++) {
      const y = 6 + i * step;
      root.append(svg('text', { class: 'strong', x: text - 8, y: y + 14, 'text-anchor': 'end' }, shortened(featureName(current.f[i] - 1), text)));
      root.append(svg('path', { class: 'up', d: `M${text} ${y}H${px(current.g[i]).toFixed(1)}v18H${text}z` }));
      root.append(svg('text', { x: px(current.g[i]) + 6, y: y + 14 }, fixed(100 * current.g[i], 1) + ' %'));
    }
    return root;
  }

  function redraw() {
    draw(plot, bars);
    const all = current.count.reduce((a, b) => a + b, 0);
    table.replaceChildren(html('details', {}, html('summary', {}, 'All features'),
      html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of the features of trees' },
        html('table', {}, html('caption', {}, `${report.systems[current.system]}: ${all} trees` + (current.count.length > 1 ? ' in all folds' : '') + (current.others ? `; ${current.others} more features do less` : '')),
          html('thead', {}, html('tr', {}, ['feature', 'gain', 'splits'].map((h, i) => html('th', { scope: 'col', class: i ? 'n' : false }, h)))),
          html('tbody', {}, current.f.map((f, i) => html('tr', {}, html('th', { scope: 'row' }, featureName(f - 1)),
            html('td', { class: 'n' }, fixed(100 * current.g[i], 1) + ' %'), html('td', { class: 'n' }, String(current.n[i])))))))));
    drawn.replaceChildren(...current.first.map((t, i) => html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Tree ' + (i + 1) }, treeDrawing(t, i + 1))));
  }
  redraw();
}

const shortened = (name, pixels) => name.length > pixels / 7.2 ? name.slice(0, Math.floor(pixels / 7.2) - 1) + '…' : name;

// treeDrawing has the root on the left, a column a level, and a row for each end; the branch
// that goes up is yes.
function treeDrawing(tree, number) {
  const column = 190, row = 26, root = svg('svg', { role: 'img' });
  let rows = 0, columns = 0;
  function place(t, depth) {
    columns = Math.max(columns, depth + 1);
    t.px = depth * column + 4;
    if (!t.y) { t.py = rows++ * row + 18; return t; }
    const [up, down] = [place(t.y, depth + 1), place(t.x, depth + 1)];
    t.py = (up.py + down.py) / 2;
    const branch = to => `M${t.px + column - 52} ${t.py - 4}C${t.px + column - 24} ${t.py - 4} ${to.px - 28} ${to.py - 4} ${to.px - 4} ${to.py - 4}`;
    root.append(svg('path', { class: 'branch', d: branch(up) + branch(down) }));
    return t;
  }
  function label(t) {
    const name = t.f ? shortened(featureName(t.f - 1), 0.6 * column) : t.c ? `… ${t.c} leaves` : figures(t.v || 0, 3), docs = t.n + ' documents';
    root.append(svg('text', { class: 'strong', x: t.px, y: t.py }, name, svg('title', {}, t.f ? `${featureName(t.f - 1)} ${t.t}? ${docs}; up: yes` : `${figures(t.v || 0, 3)}${t.c ? ' in the mean' : ''}; ${docs}`)));
    root.append(svg('text', t.f ? { x: t.px, y: t.py + 13 } : { x: t.px + 78, y: t.py }, t.f ? shortened(t.t.replace(' or missing', ''), 0.8 * column) : docs));
    if (t.y) { label(t.y); label(t.x); }
  }
  place(tree, 0);
  label(tree);
  const width = columns * column, height = rows * row + 16;
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height, 'aria-label': `Tree ${number}, drawn; the text below says the same` })) root.setAttribute(key, value);
  return html('figure', { class: 'tree' }, html('figcaption', { class: 'small' }, 'tree ' + number), root);
}
