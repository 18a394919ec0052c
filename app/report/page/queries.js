// The plot of the queries' differences to the baseline.

function differencePlot(open) {
  if (report.systems.length < 2) return;
  show('differences');
  const others = report.systems.map((_, i) => i).filter(i => i !== report.baseline);
  let system = others.includes(report.best) ? report.best : others[0], measure = 0, order = [], chosen = 0, refresh = () => {};
  const container = document.getElementById('differences-plot');
  const systems = select('differences-system', others.map(i => [i, report.systems[i]]), system, v => { system = +v; redraw(); });
  select('differences-measure', report.measures.map((m, i) => [i, m.name]), measure, v => { measure = +v; redraw(); });

  const text = ({ q, d }) => `${queryName(q)}: ${fixed(d, 4, true)}\n${report.systems[system]} ${fixed(valuesOf(system, measure)[q], 4)}, ${report.systems[report.baseline]} ${fixed(valuesOf(report.baseline, measure)[q], 4)}`;

  // choose makes a bar the current one.
  function choose(i, focus) {
    if (!order.length) return;
    chosen = Math.max(0, Math.min(order.length - 1, i));
    const o = order[chosen], root = container.querySelector('svg');
    root.setAttribute('aria-valuenow', chosen + 1);
    root.setAttribute('aria-valuetext', text(o).replace('\n', '; '));
    document.getElementById('differences-chosen').replaceChildren(text(o).replace('\n', '; ') + ' ', openButton(o));
    refresh();
    if (focus) root.focus();
  }

  const openButton = o => html('button', { type: 'button', class: 'plain', 'aria-label': 'Show the rankings of ' + queryName(o.q), disabled: !detailsOf.has(o.q), onclick: () => open(o.q, report.baseline, system, measure) }, 'rankings');

  function redraw() {
    const [a, b] = [valuesOf(system, measure), valuesOf(report.baseline, measure)];
    order = a.map((v, q) => ({ q, d: v - b[q] })).filter(o => Number.isFinite(o.d)).sort((s, t) => t.d - s.d || s.q - t.q);
    draw(container, bars);
    tables();
    choose(0);
  }

  function bars(width) {
    const f = frame({
      width, height: width < 500 ? 240 : 300, title: 'Differences of all queries, sorted', x: [0, Math.max(1, order.length)],
      y: extent([0, ...order.map(o => o.d)], 0.06), xLabel: `queries, sorted by ${report.systems[system]} − ${report.systems[report.baseline]}`.slice(0, Math.floor(width / 7)), yLabel: report.measures[measure].name,
    });
    const zero = f.py(0), gap = f.px(1) - f.px(0) > 4 ? 1 : 0;
    const bar = (o, i) => `M${(f.px(i) + gap / 2).toFixed(2)} ${zero.toFixed(1)}V${f.py(o.d).toFixed(1)}H${(f.px(i + 1) - gap / 2).toFixed(2)}V${zero.toFixed(1)}z`;
    f.root.append(svg('path', { class: 'up', d: order.map((o, i) => o.d > 0 ? bar(o, i) : '').join('') }));
    f.root.append(svg('path', { class: 'down', d: order.map((o, i) => o.d < 0 ? bar(o, i) : '').join('') }));
    f.root.append(svg('path', { class: 'zero', d: `M${f.left} ${zero.toFixed(1)}H${f.right}` }));
    const pick = f.root.appendChild(svg('path', { class: 'pick' }));
    refresh = () => {
      if (order.length) pick.setAttribute('d', `M${f.px(chosen).toFixed(2)} ${f.top}V${f.bottom}H${f.px(chosen + 1).toFixed(2)}V${f.top}z`);
    };
    refresh();
    const at = e => {
      const box = f.root.getBoundingClientRect(), x = (e.clientX - box.left) * width / box.width;
      return Math.max(0, Math.min(order.length - 1, Math.floor((x - f.left) / (f.right - f.left) * order.length)));
    };
    f.root.append(svg('rect', {
      class: 'hit', x: f.left, y: f.top, width: f.right - f.left, height: f.bottom - f.top,
      onpointermove: e => order.length && showTip(text(order[at(e)]), e.clientX, e.clientY),
      onpointerleave: () => showTip(''), onclick: e => choose(at(e), true),
      ondblclick: e => order.length && detailsOf.has(order[at(e)].q) && open(order[at(e)].q, report.baseline, system, measure),
    }));
    fill(f.root, {
      role: 'slider', tabindex: 0, 'aria-label': 'Query', 'aria-valuemin': 1, 'aria-valuemax': Math.max(1, order.length), 'aria-valuenow': chosen + 1,
      onkeydown: e => {
        const page = Math.max(1, Math.round(order.length / 10));
        const to = { ArrowRight: chosen + 1, ArrowUp: chosen + 1, ArrowLeft: chosen - 1, ArrowDown: chosen - 1, PageUp: chosen + page, PageDown: chosen - page, Home: 0, End: order.length - 1 }[e.key];
        if (to !== undefined) { e.preventDefault(); choose(to); }
        if (e.key === 'Enter' && order.length && detailsOf.has(order[chosen].q)) { e.preventDefault(); open(order[chosen].q, report.baseline, system, measure); }
      },
    }, []);
    return f.root;
  }

  // tables lists the queries at both ends.
  function tables() {
    const table = (caption, list) => html('table', {}, html('caption', {}, caption),
      html('thead', {}, html('tr', {}, ['query', 'difference', ''].map((h, i) => html('th', { scope: 'col', class: i === 1 ? 'n' : false }, h)))),
      html('tbody', {}, list.map(o => html('tr', {}, html('th', { scope: 'row' }, report.queries.id[o.q]),
        html('td', { class: 'n' }, fixed(o.d, 4, true)), html('td', {}, openButton(o))))));
    const best = order.filter(o => o.d > 0).slice(0, 5), worst = order.filter(o => o.d < 0).slice(-5).reverse();
    const count = test => order.filter(o => test(o.d)).length;
    document.getElementById('differences-tables').replaceChildren(
      html('div', {}, table(`Better on ${count(d => d > 0)} of ${order.length} queries, most on`, best)),
      html('div', {}, table(`Worse on ${count(d => d < 0)}, as good on ${count(d => d === 0)}; worse most on`, worst)));
  }

  redraw();
  systems.value = system;
}
