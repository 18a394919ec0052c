// What features do, and LogRank's sampler.

const shownFirst = 15;

function featurePlot() {
  if (!report.weights.length) return;
  show('features');
  const table = document.getElementById('features-table'), plot = document.getElementById('features-plot');
  const first = Math.max(0, report.weights.findIndex(w => w.system === report.best));
  let current = report.weights[first];
  select('features-system', report.weights.map((w, i) => [i, report.systems[w.system]]), first, v => { current = report.weights[+v]; redraw(); });

  function bars(width) {
    const n = Math.min(shownFirst, current.f.length), step = 24, text = Math.min(200, width * 0.34), height = n * step + 8;
    const most = Math.max(...current.share, 1e-9), px = v => text + v / most * (width - text - 60);
    const root = svg('svg', { class: look(current.system), viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `Features of ${report.systems[current.system]} by share of the contributions` });
    for (let i = 0; i < n; i++) {
      const y = 6 + i * step, name = featureName(current.f[i] - 1), fits = Math.floor(text / 7.2);
      root.append(svg('text', { class: 'strong', x: text - 8, y: y + 14, 'text-anchor': 'end' }, name.length > fits ? name.slice(0, fits - 1) + '…' : name));
      root.append(svg('path', { class: signOf(i), d: `M${text} ${y}H${px(current.share[i]).toFixed(1)}v18H${text}z` }));
      root.append(svg('text', { x: px(current.share[i]) + 6, y: y + 14 }, fixed(100 * current.share[i], 1) + ' %'));
    }
    return [root, html('p', { class: 'small' }, current.linear ? 'Share of all contributions. Blue: the more of it, the higher the score; orange: the lower.' : 'Share of all contributions.')];
  }

  const meanWeight = i => current.w[i].reduce((a, b) => a + b, 0) / current.w[i].length;
  const signOf = i => current.linear && meanWeight(i) < 0 ? 'down' : 'up';

  function redraw() {
    draw(plot, bars);
    const folds = current.linear && report.folds ? report.folds : [];
    const head = ['feature', 'share', ...(current.linear ? ['weight'] : []), ...folds];
    const rows = current.f.map((f, i) => html('tr', {}, html('th', { scope: 'row' }, featureName(f - 1)),
      html('td', { class: 'n' }, fixed(100 * current.share[i], 1) + ' %'),
      current.linear ? html('td', { class: 'n' }, figures(meanWeight(i), 3)) : null,
      folds.map((_, k) => html('td', { class: 'n' }, figures(current.w[i][k], 3)))));
    table.replaceChildren(html('details', {}, html('summary', {}, current.linear ? 'All weights' : 'All features'),
      html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of features' },
        html('table', {}, html('caption', {}, report.systems[current.system] + (folds.length ? ': the mean weight, and that of each fold’s model' : '') + (current.others ? `; ${current.others} more features do less` : '')),
          html('thead', {}, html('tr', {}, head.map((h, i) => html('th', { scope: 'col', class: i ? 'n' : false }, h)))), html('tbody', {}, rows)))));
  }
  redraw();
}

function samplerPlot() {
  if (!report.samplers.length) return;
  show('sampler');
  let current = report.samplers[0];
  const plot = document.getElementById('sampler-plot');
  select('sampler-system', report.samplers.map((d, i) => [i, report.systems[d.system]]), 0, v => { current = report.samplers[+v]; redraw(); });

  function histogram(width) {
    const f = frame({ width, height: width < 500 ? 230 : 270, title: 'Losses of the rankings drawn', x: [0, 1], y: [0, 1.05 * Math.max(...current.drawn, ...current.law)], xLabel: `Δ = 1 − ${current.measure}`, yLabel: 'share' });
    const step = 1 / current.drawn.length;
    const outline = list => list.map((v, i) => `${i ? 'V' : `M${f.px(0)} ${f.bottom}V`}${f.py(v).toFixed(1)}H${f.px((i + 1) * step).toFixed(1)}`).join('') + `V${f.bottom}z`;
    f.root.append(svg('path', { class: 'bar0', d: outline(current.drawn) }), svg('path', { class: 'bar1', d: outline(current.law) }));
    return [html('ul', { class: 'legend' }, [['bar0', 'rankings drawn'], ['bar1', 'weighted by the model']].map(([c, t]) =>
      html('li', {}, svg('svg', { viewBox: '0 0 28 12', width: 28, height: 12, 'aria-hidden': 'true' }, svg('path', { class: c, d: 'M2 1H26V11H2z' })), ' ' + t))), f.root];
  }

  function redraw() {
    draw(plot, histogram);
    document.getElementById('sampler-table').replaceChildren(html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of the sampler' },
      html('table', {}, html('caption', {}, `${report.systems[current.system]}: ${current.options}. Over ${current.queries} queries, of which 10 %, half and 90 % have less than:`),
        html('thead', {}, html('tr', {}, ['', '10 %', 'median', '90 %'].map((h, i) => html('th', { scope: 'col', class: i ? 'n' : false }, h)))),
        html('tbody', {}, current.rows.map(r => html('tr', {}, html('th', { scope: 'row' }, r.name), [r.low, r.median, r.high].map(v => html('td', { class: 'n' }, figures(v, 3)))))))));
  }
  redraw();
}
