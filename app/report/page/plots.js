// The summary's forest plot, the curves of NDCG@k and the learning curves.

// lines draws series {name, i, x, y, best} with a legend that hides and shows them.
function lines(container, o) {
  const hidden = new Set();
  const plot = html('div', { class: 'figure' });
  let faint = -1, elements = [];
  const dim = () => elements.forEach(([k, e]) => e.classList.toggle('faint', faint >= 0 && k !== faint));
  const legend = html('ul', { class: 'legend', 'aria-label': 'Series' }, o.series.map((s, k) => html('li', {},
    html('button', {
      type: 'button', 'aria-pressed': 'true',
      onclick: e => {
        hidden.has(k) ? hidden.delete(k) : hidden.add(k);
        e.currentTarget.setAttribute('aria-pressed', String(!hidden.has(k)));
        faint = -1;
        draw(plot, make);
      },
      onpointerenter: () => { faint = k; dim(); }, onpointerleave: () => { faint = -1; dim(); },
      onfocus: () => { faint = k; dim(); }, onblur: () => { faint = -1; dim(); },
    }, svg('svg', { class: look(s.i), viewBox: '0 0 28 12', 'aria-hidden': 'true' },
      svg('path', { class: 'line', d: 'M0 6H28' }), svg('path', { class: 'dot', d: marker(s.i, 14, 6) })),
    html('span', {}, s.name)))));
  function make(width) {
    const seen = o.series.filter((_, k) => !hidden.has(k)), all = seen.length ? seen : o.series;
    const f = frame({ ...o, width, height: width < 500 ? 260 : 340, x: o.x || extent(all.flatMap(s => s.x), 0), y: extent(all.flatMap(s => [...s.y, ...(s.low || []), ...(s.high || []), ...(s.low ? [0] : [])]), 0.06) });
    if (o.zero !== undefined) f.root.append(svg('path', { class: 'zero', d: `M${f.left} ${f.py(o.zero).toFixed(1)}H${f.right}` }));
    elements = [];
    const points = [];
    o.series.forEach((s, k) => {
      if (hidden.has(k)) return;
      const g = svg('g', { class: look(s.i) });
      if (s.low) {
        const along = (y, j) => `${f.px(s.x[j]).toFixed(1)} ${f.py(y[j]).toFixed(1)}`, all = s.x.map((_, j) => j);
        g.append(svg('path', { class: 'area', d: 'M' + [...all.map(j => along(s.high, j)), ...all.reverse().map(j => along(s.low, j))].join('L') + 'z' }));
      }
      let path = '', dots = '', open = false;
      s.x.forEach((x, j) => {
        if (!Number.isFinite(s.y[j])) { open = false; return; }
        const [px, py] = [f.px(x), f.py(s.y[j])];
        path += (open ? 'L' : 'M') + px.toFixed(1) + ' ' + py.toFixed(1);
        open = true;
        if (s.x.length <= 30) dots += marker(s.i, px, py);
        points.push({ px, py, text: `${s.name}\n${o.xLabel} ${figures(x, 6)}: ${s.texts ? s.texts[j] : fixed(s.y[j], o.decimals)}` });
      });
      g.append(svg('path', { class: 'line', d: path }));
      if (dots) g.append(svg('path', { class: 'dot', d: dots }));
      if (s.best >= 0) g.append(svg('circle', { class: 'ring', cx: f.px(s.x[s.best]), cy: f.py(s.y[s.best]), r: 7 }));
      elements.push([k, g]);
      f.root.append(g);
    });
    nearest(f.root, width, points);
    return f.root;
  }
  container.replaceChildren(legend, plot);
  draw(plot, make);
}

// nearest shows the tip of the point that is next to the pointer.
function nearest(root, width, points) {
  root.addEventListener('pointermove', e => {
    const box = root.getBoundingClientRect(), scale = width / box.width;
    const x = (e.clientX - box.left) * scale, y = (e.clientY - box.top) * scale;
    let best, distance = 30 ** 2;
    for (const p of points) {
      const d = (p.px - x) ** 2 + (p.py - y) ** 2;
      if (d < distance) [best, distance] = [p, d];
    }
    showTip(best ? best.text : '', e.clientX, e.clientY);
  });
  root.addEventListener('pointerleave', () => showTip(''));
}

// forestPlot draws each system's difference to the baseline with its interval.
function forestPlot() {
  if (!report.forest.length) return;
  document.getElementById('forest-part').hidden = false;
  let measure = 0;
  const container = document.getElementById('forest'), measures = report.measures.map((m, i) => [i, m.name]).filter(([i]) => report.forest.some(f => f.measure === i));
  select('forest-measure', measures, measures[0][0], v => { measure = +v; draw(container, plot); });
  measure = measures[0][0];
  const plot = width => {
    const rows = report.forest.filter(f => f.measure === measure), name = report.measures[measure].name;
    const text = Math.min(220, width * 0.38), step = 26, height = rows.length * step + 54;
    const [low, high] = extent([0, ...rows.flatMap(r => [r.low ?? r.d, r.high ?? r.d])], 0.05);
    const px = v => text + (v - low) / (high - low) * (width - text - 14);
    const list = ticks(low, high, Math.max(2, Math.round((width - text) / 90)));
    const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `${name}: differences to ${report.systems[report.baseline]} with 95 % intervals` });
    root.append(svg('path', { class: 'grid', d: list.map(t => `M${px(t).toFixed(1)} 4V${height - 48}`).join('') }));
    root.append(svg('path', { class: 'zero', d: `M${px(0).toFixed(1)} 4V${height - 48}` }));
    rows.forEach((r, i) => {
      const y = 18 + i * step, g = svg('g', { class: look(r.system) });
      const all = report.systems[r.system], fits = Math.floor(text / 7.2);
      root.append(svg('text', { class: 'strong', x: text - 10, y: y + 4, 'text-anchor': 'end' }, all.length > fits ? '…' + all.slice(1 - fits) : all));
      const known = r.low !== undefined;
      if (known) g.append(svg('path', { class: 'band', d: `M${px(r.low).toFixed(1)} ${y}H${px(r.high).toFixed(1)}M${px(r.low).toFixed(1)} ${y - 4}v8M${px(r.high).toFixed(1)} ${y - 4}v8` }));
      g.append(svg('path', { class: 'dot', d: marker(r.system, px(r.d), y) }));
      g.append(svg('title', {}, `${all}: ${fixed(r.d, 4, true)}${known ? ` (${fixed(r.low, 4)} to ${fixed(r.high, 4)})` : ''}, p = ${r.holm < 0.001 ? '<0.001' : r.holm.toFixed(3)}; better on ${r.wins} queries, as good on ${r.ties}, worse on ${r.losses}`));
      root.append(g);
    });
    for (const t of list) root.append(svg('text', { x: px(t), y: height - 30, 'text-anchor': 'middle' }, tickText(t, list)));
    root.append(svg('text', { x: (text + width) / 2, y: height - 8, 'text-anchor': 'middle' }, `${name}, difference to the baseline`));
    return root;
  };
  draw(container, plot);
}

function cutoffPlot() {
  const k = [...Array(report.cutoffs.k)].map((_, i) => i + 1), above = report.cutoffs.above;
  const axes = { xLabel: 'k', x: [1, Math.max(2, k.length)], xTicks: k.length > 10 ? k.filter(v => v === 1 || v % 5 === 0) : k, decimals: 4 };
  const container = document.getElementById('cutoffs-plot'), bands = document.getElementById('cutoffs-bands');
  const means = () => lines(container, { ...axes, title: 'NDCG@k over k', series: report.systems.map((name, i) => ({ name, i, x: k, y: report.cutoffs.values[i] })) });
  const differences = () => lines(container, {
    ...axes, title: `NDCG@k above ${report.systems[report.baseline]}, over k`, zero: 0,
    series: above.map(a => ({
      name: report.systems[a.system], i: a.system, x: k, y: a.d, low: a.low, high: a.high,
      texts: a.d.map((d, j) => `${fixed(d, 4, true)} (${fixed(a.low[j], 4)} to ${fixed(a.high[j], 4)})`),
    })),
  });
  const show = what => { bands.hidden = what === 'mean'; what === 'mean' ? means() : differences(); };
  if (!above.length) { means(); return; }
  document.getElementById('cutoffs-controls').hidden = false;
  const control = document.getElementById('cutoffs-show');
  control.addEventListener('change', () => show(control.value));
  show('above');
}

// learningCurves draws objectives from 1, the first, to 0, the lowest met: those of
// different losses have no common scale.
function learningCurves() {
  const curves = report.curves.filter(c => c.points.length);
  if (!curves.length && !report.tunings.length) return;
  show('curves');
  const container = document.getElementById('curves-plots');
  if (report.tunings.length) {
    const plot = html('div', {});
    container.append(html('h3', {}, 'Tuning'), html('p', { class: 'small' }, 'What each setting that was tried gave on the validation data, the mean over the folds; a ring marks the best.'), plot);
    lines(plot, { title: 'Validation of the settings tried', xLabel: 'setting', series: report.tunings.map((t, i) => ({
      name: t.name, i, x: t.points.map(p => p.e), y: t.points.map(p => p.v), best: t.points.findIndex(p => p.b), texts: t.points.map(p => fixed(p.v, 4) + (p.t ? '\n' + p.t : '')) })) });
  }
  const plots = html('div', {}), folds = [...new Set(curves.map(c => c.fold).filter(Boolean))];
  container.append(document.getElementById('curves-controls'), plots);
  const chart = (curves, title, value, o) => {
    const series = curves.map((c, i) => {
      // Of a training that started several times: the start that was kept.
      const best = c.points.find(p => p.b), start = best ? best.r || 0 : 0;
      const points = c.points.filter(p => (p.r || 0) === start && value(p) !== undefined && value(p) !== null), x = points.map(p => p.e);
      const values = points.map(value), lowest = Math.min(...values), range = values[0] - lowest;
      return {
        name: c.name, i, x, best: points.findIndex(p => p.b), texts: values.map(v => figures(v, 6)),
        y: o.relative ? values.map(v => range > 0 ? (v - lowest) / range : 0) : values,
      };
    }).filter(s => s.x.length);
    if (!series.length) return;
    const plot = html('div', {});
    plots.append(html('h3', {}, title), plot);
    lines(plot, { title, xLabel: 'epoch or iteration', series, ...o });
  };
  const draw = fold => {
    const shown = curves.filter(c => !c.fold || c.fold === fold), several = shown.length > 1;
    plots.replaceChildren();
    chart(shown, 'Training objective', p => p.c, { relative: several, yLabel: several ? '1: the first, 0: the lowest' : undefined });
    chart(shown, 'Validation', p => p.v, {});
  };
  if (folds.length > 1) {
    document.getElementById('curves-controls').hidden = false;
    const control = document.getElementById('curves-fold');
    control.append(...folds.map(f => html('option', {}, f)));
    control.addEventListener('change', () => draw(control.value));
  }
  draw(folds[0]);
}
