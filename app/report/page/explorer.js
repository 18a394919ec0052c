// The query explorer: two systems' rankings of one query.

const shownParts = 8; // contributions that are seen at first

function explorer() {
  const available = [...detailsOf.keys()];
  if (!available.length) return [() => {}, () => {}];
  show('explorer');
  document.getElementById('explorer-partial').hidden = available.length === report.queries.id.length;
  const n = report.systems.length;
  const state = { query: available[0], left: report.baseline, right: report.best, measure: 0, depth: 10, picked: undefined, order: 'file' };
  let order = available;
  const systems = report.systems.map((name, i) => [i, name]);
  const set = change => { Object.assign(state, { picked: undefined }, change); update(); };
  const controls = {
    query: select('explorer-query', [], '', v => set({ query: +v })),
    left: select('explorer-left', systems, state.left, v => set({ left: +v })),
    right: select('explorer-right', systems, state.right, v => set({ right: +v })),
    measure: select('explorer-measure', report.measures.map((m, i) => [i, m.name]), 0, v => set({ measure: +v })),
  };
  const depth = document.getElementById('explorer-depth');
  depth.addEventListener('change', () => set({ depth: +depth.value }));
  const sorting = document.getElementById('explorer-order');
  sorting.addEventListener('change', () => set({ order: sorting.value }));

  const difference = q => valuesOf(state.right, state.measure)[q] - valuesOf(state.left, state.measure)[q];
  const grade = g => html('span', { class: 'grade g' + level(g), title: 'grade ' + report.grades[g] }, gradeText(report.grades[g]));
  const gradeText = g => String(Number(g.toPrecision(4)));
  const widest = Math.max(...report.grades.map(g => gradeText(g).length));
  document.documentElement.style.setProperty('--grade', `calc(${1.15 * widest}ch + .5rem)`);
  const level = g => report.grades[g] === 0 ? 0 : report.grades.length < 2 ? 4 : Math.max(1, Math.round(4 * g / (report.grades.length - 1)));

  function sort() {
    const key = { file: q => q, gain: q => -difference(q), loss: difference }[state.order];
    const keyed = available.map(q => [Number.isNaN(key(q)) ? Infinity : key(q), q]);
    order = keyed.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(k => k[1]);
    controls.query.replaceChildren(...order.map(q => html('option', { value: q }, `${isolated(report.queries.id[q])} (${fixed(difference(q), 3, true)})`)));
  }

  function step(by) {
    const at = order.indexOf(state.query) + by;
    if (at >= 0 && at < order.length) set({ query: order[at] });
  }
  const swapSides = () => set({ left: state.right, right: state.left });
  document.getElementById('previous').addEventListener('click', () => step(-1));
  document.getElementById('next').addEventListener('click', () => step(1));
  document.getElementById('exchange').addEventListener('click', swapSides);
  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey || ['INPUT', 'TEXTAREA'].includes(e.target.tagName)) return;
    const act = { j: () => step(1), k: () => step(-1), x: swapSides, m: () => set({ measure: (state.measure + 1) % report.measures.length }), '/': () => setTimeout(() => search.select()) }[e.key];
    if (act) { e.preventDefault(); act(); }
  });

  // Finding: a query that is called so, or else the first whose name has the text in it.
  const search = document.getElementById('explorer-search'), found = document.getElementById('explorer-found');
  function find() {
    const text = search.value.trim().toLowerCase();
    if (!text) { found.textContent = ''; return; }
    const names = report.queries.id.map(id => id.toLowerCase()), has = q => names[q].includes(text);
    const here = order.filter(has), all = names.filter(name => name.includes(text)).length;
    const exact = here.find(q => names[q] === text);
    found.textContent = all === 0 ? `No query has “${isolated(search.value)}” in its name.`
      : here.length === 0 ? `${all} such queries were measured; the page does not have their rankings.`
        : `${here.length} found` + (here.length < all ? `; the page does not have the rankings of ${all - here.length} more` : '') + (here.length > 1 ? ': Enter shows the next.' : '.');
    if (here.length) set({ query: exact === undefined ? here[0] : exact });
  }
  search.addEventListener('input', find);
  search.addEventListener('keydown', e => {
    if (e.key === 'Escape') { search.value = ''; find(); search.blur(); }
    if (e.key !== 'Enter') return;
    e.preventDefault();
    const text = search.value.trim().toLowerCase(), here = order.filter(q => report.queries.id[q].toLowerCase().includes(text));
    if (text && here.length) set({ query: here[(here.indexOf(state.query) + 1) % here.length] });
  });

  // The address of a query: #query=…&left=…&right=…&measure=….
  const address = () => '#' + new URLSearchParams({ query: report.queries.id[state.query], ...(report.folds && { fold: report.folds[report.queries.fold[state.query]] }),
    left: report.systems[state.left], right: report.systems[state.right], measure: report.measures[state.measure].name });
  // At once: a smooth scroll ends where the explorer was when it began, or at the next focus.
  const reveal = () => document.getElementById('explorer').scrollIntoView({ behavior: 'instant' });
  function follow() {
    if (!location.hash.startsWith('#query=')) return;
    const asked = new URLSearchParams(location.hash.slice(1)), change = {};
    const query = report.queries.id.findIndex((id, q) => id === asked.get('query') && (!asked.has('fold') || !report.folds || report.folds[report.queries.fold[q]] === asked.get('fold')));
    const named = (list, name) => list.indexOf(asked.get(name));
    if (detailsOf.has(query)) change.query = query;
    else found.textContent = query < 0 ? `No query is called “${isolated(asked.get('query'))}”.` : 'The page does not have the rankings of that query.';
    for (const [key, at] of [['left', named(report.systems, 'left')], ['right', named(report.systems, 'right')], ['measure', named(report.measures.map(m => m.name), 'measure')]]) if (at >= 0) change[key] = at;
    set(change);
    reveal();
  }
  addEventListener('hashchange', follow);

  // legend says what colours and arrows mean.
  function legend() {
    const levels = new Map(report.grades.map((g, i) => [level(i), []]));
    report.grades.forEach((g, i) => levels.get(level(i)).push(g));
    const grades = [...levels].map(([l, list]) => html('span', { class: 'grade g' + l }, list.length < 2 ? gradeText(list[0]) : `${gradeText(list[0])}–${gradeText(list[list.length - 1])}`));
    const entry = (...what) => html('li', {}, ...what);
    const arrow = (name, text) => html('span', { class: 'move ' + name }, text);
    document.getElementById('explorer-key').replaceChildren(
      entry(grades.flatMap(g => [g, ' ']), 'grade'),
      entry(arrow('rise', '▲2'), ' ', arrow('fall', '▼3'), ' ranks higher or lower here than on the other side; ', arrow('', '='), ' the same rank'),
      entry(html('span', { class: 'mark' }, 'marked'), ' the exchange of two documents that moves the measure most'),
      entry(svg('svg', { class: 'sample', viewBox: '0 0 28 10', 'aria-hidden': 'true' }, svg('path', { class: 'link relevant', d: 'M0 8C14 8 14 2 28 2' })), ' a relevant document on both sides'));
  }

  function update() {
    sort();
    for (const [name, control] of Object.entries(controls)) control.value = state[name];
    document.getElementById('previous').disabled = order[0] === state.query;
    document.getElementById('next').disabled = order[order.length - 1] === state.query;
    const docs = rankingsOf(state.query), m = report.measures[state.measure], total = report.queries.docs[state.query];
    const swaps = state.left === state.right ? [] : exchanges(m, docs, state.left, state.right, total, 5);
    headline(m, docs, total);
    lists(docs, swaps || []);
    swapTable(m, swaps);
  }

  function headline(m, docs, total) {
    const value = s => valuesOf(s, state.measure)[state.query];
    const d = difference(state.query), fold = report.folds ? `, ${report.folds[report.queries.fold[state.query]]}` : '';
    const relevant = docs.filter(doc => doc.grade >= report.relevant).length;
    document.getElementById('explorer-values').replaceChildren(
      html('span', {}, `${queryName(state.query)}${fold}: ${total} documents, ${relevant} relevant`),
      html('span', {}, m.name + ' ', html('b', { class: 'left-value' }, fixed(value(state.left), 4)), ' → ', html('b', { class: 'right-value' }, fixed(value(state.right), 4)),
        html('span', { class: d > 0 ? 'better' : d < 0 ? 'worse' : '' }, ` (${fixed(d, 4, true)})`)),
      html('a', { href: address(), id: 'explorer-link' }, 'link to this query'));
  }

  function lists(docs, swaps) {
    const first = swaps.length ? [swaps[0].u, swaps[0].v] : [];
    const side = s => docs.filter(d => d.rank[s] <= state.depth).sort((a, b) => a.rank[s] - b.rank[s]);
    const left = side(state.left), right = side(state.right);
    const list = (name, s, other, own) => html('div', {}, html('h3', {}, report.systems[s]),
      html('ol', { 'aria-label': name + ': ' + report.systems[s] }, own.map(d => item(d, s, other, first))));
    const box = document.getElementById('explorer-lists');
    box.replaceChildren(html('div', { class: 'lists' },
      list('Left', state.left, state.right, left), html('div', { class: 'links', 'aria-hidden': 'true' }), list('Right', state.right, state.left, right)));
    const links = box.querySelector('.links');
    if (links.offsetWidth) links.append(connections(links, box, left, right));
    if (state.picked) box.append(why(state.picked));
  }

  function item(d, s, other, swapped) {
    const move = d.rank[other] - d.rank[s], far = Math.abs(move) === Infinity ? '' : Math.abs(move);
    const picked = state.picked === d;
    return html('li', { class: swapped.includes(d) ? 'swapped' : false, 'data-doc': d.at },
      html('button', { type: 'button', 'aria-pressed': String(picked), title: `${isolated(d.id)}: grade ${report.grades[d.grade]}, rank ${rankText(d.rank[s])} here and ${rankText(d.rank[other])} on the other side`, onclick: () => pick(picked ? undefined : d, s) },
        html('span', { class: 'rank' }, String(d.rank[s])), grade(d.grade), html('span', { class: 'doc' }, d.id),
        html('span', { class: 'score' }, html('span', { class: 'out' }, 'score '), figures(d.score[s], 4)),
        html('span', { class: 'move ' + (move > 0 ? 'rise' : move < 0 ? 'fall' : '') }, move === 0 ? '=' : (move > 0 ? '▲' : '▼') + far, html('span', { class: 'out' }, ' ranks against the other side'))));
  }

  // pick shows why a document has its rank, and keeps the focus on it.
  function pick(d, s) {
    state.picked = d;
    update();
    if (!d) return;
    const index = s === state.left ? 0 : 1;
    const button = document.querySelectorAll('#explorer-lists ol')[index].querySelector(`[data-doc="${d.at}"] button`);
    if (button) button.focus();
  }

  // connections draws a line between a document's places on the two sides.
  function connections(links, box, left, right) {
    const rows = [...box.querySelectorAll('ol')].map(ol => new Map([...ol.children].map(li => [+li.dataset.doc, li])));
    const top = links.getBoundingClientRect().top, height = links.offsetHeight, width = links.offsetWidth;
    const middle = li => { const r = li.getBoundingClientRect(); return r.top + r.height / 2 - top; };
    const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none' });
    const kinds = d => 'link' + (d.grade >= report.relevant ? ' relevant' : '') + (state.picked === d ? ' on' : '');
    for (const d of new Set([...left, ...right])) {
      const [l, r] = [rows[0].get(d.at), rows[1].get(d.at)];
      const y0 = l ? middle(l) : height + 30, y1 = r ? middle(r) : height + 30;
      if (!l && !r) continue;
      // A document that the other side does not list leads out of the picture.
      if (l && r) root.append(svg('path', { class: kinds(d), d: `M0 ${y0}C${width / 2} ${y0} ${width / 2} ${y1} ${width} ${y1}` }));
      else if (l) root.append(svg('path', { class: kinds(d), d: `M0 ${y0}C${width / 4} ${y0} ${width / 3} ${y0 + 10} ${width / 3} ${y0 + 16}` }));
      else root.append(svg('path', { class: kinds(d), d: `M${width} ${y1}C${width * 3 / 4} ${y1} ${width * 2 / 3} ${y1 + 10} ${width * 2 / 3} ${y1 + 16}` }));
    }
    return root;
  }

  // why shows the largest contributions to a document's two scores.
  function why(d) {
    const side = s => {
      const parts = d.parts.get(s), name = report.systems[s];
      if (!parts) {
        return html('div', {}, html('h3', {}, name), html('p', { class: 'small' },
          report.weights.some(w => w.system === s) ? 'The page has no contributions to this score.' : 'Its scores have no contributions: there is no model, or a score depends on the query’s other documents.'));
      }
      // What is printed adds up: the rest is worked out from rounded numbers.
      const most = Math.max(...parts.map(p => Math.abs(p.value)), Math.abs(d.score[s]) / 1e3, 1e-12);
      const decimals = Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(most)))), unit = 10 ** decimals;
      const steps = v => Math.round(v * unit), score = steps(d.score[s]), mean = steps(parts.mean);
      const rest = score - mean - parts.reduce((sum, p) => sum + steps(p.value), 0), number = (v, signed) => fixed(v / unit, decimals, signed);
      const bar = p => svg('svg', { viewBox: '-100 0 200 14', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, svg('path', { class: 'zero', d: 'M0 0V14' }),
        svg('path', { class: p.value > 0 ? 'up' : 'down', d: `M0 2H${(98 * p.value / most).toFixed(1)}V12H0z` }));
      const value = p => !d.values || !d.values.has(p.feature) ? '' : Number.isNaN(d.values.get(p.feature)) ? 'missing' : figures(d.values.get(p.feature), 5);
      const rows = list => html('div', { class: 'bars' }, list.map(p => [html('span', {}, featureName(p.feature)), html('span', { class: 'value' }, value(p)), bar(p), html('span', {}, number(steps(p.value), true))]).flat());
      const total = (name, v, signed) => [html('span', {}, name), html('span', {}), html('span', {}), html('span', {}, number(v, signed))];
      const later = parts.slice(shownParts);
      return html('div', {}, html('h3', {}, `${isolated(name)}: rank ${rankText(d.rank[s])}, score ${number(score)}`),
        html('div', { class: 'bars head' }, html('span', {}, 'feature'), html('span', { class: 'value' }, 'value'), html('span', {}), html('span', {}, 'adds')),
        rows(parts.slice(0, shownParts)),
        later.length ? html('details', {}, html('summary', {}, `${later.length} more`), rows(later)) : null,
        html('div', { class: 'bars sum' }, rest ? total(Math.abs(rest) > (parts.length + 2) / 2 ? 'all others' : 'rounding', rest, true) : [], total('the query’s mean score', mean, true), html('b', {}, 'score'), html('span', {}), html('span', {}), html('b', {}, number(score))));
    };
    return html('div', { class: 'why', id: 'why' }, html('h3', {}, `Why document ${isolated(d.id)} (grade ${report.grades[d.grade]}) has its rank`),
      html('p', { class: 'small' }, 'What the features add to the query’s mean score; with it they add up to the document’s.'),
      html('div', { class: 'columns' }, [...new Set([state.left, state.right])].map(side)));
  }

  function swapTable(m, swaps) {
    const box = document.getElementById('explorer-swaps');
    if (state.left === state.right) { box.replaceChildren(); return; }
    const names = [report.systems[state.left], report.systems[state.right]];
    if (swaps === undefined) {
      box.replaceChildren(html('p', { class: 'small' }, `The page computes the effect of exchanges for NDCG, DCG, MAP, MRR, precision and recall, not for ${m.name}.`));
      return;
    }
    if (!swaps.length) {
      box.replaceChildren(html('p', { class: 'small' }, `No single exchange of two documents on which the sides disagree moves ${m.name}.`));
      return;
    }
    const cell = d => [grade(d.grade), d.id];
    box.replaceChildren(html('h3', {}, `Which swap moved ${m.name}`), html('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of swaps' },
      html('table', { class: 'swaps' },
        html('caption', {}, `Pairs that ${names[1]} ranks in the opposite order of ${names[0]}, and the effect of exchanging only these two documents in the left ranking.`),
        html('thead', {}, html('tr', {}, ['above on the left', 'ranks', 'below on the left', 'ranks', 'change'].map((h, i) => html('th', { scope: 'col', class: i % 2 || i === 4 ? 'n' : false }, h)))),
        html('tbody', {}, swaps.map(({ u, v, change }) => html('tr', {},
          html('td', {}, cell(u)), html('td', { class: 'n' }, `${rankText(u.rank[state.left])} → ${rankText(u.rank[state.right])}`),
          html('td', {}, cell(v)), html('td', { class: 'n' }, `${rankText(v.rank[state.left])} → ${rankText(v.rank[state.right])}`),
          html('td', { class: 'n ' + (change > 0 ? 'better' : 'worse') }, fixed(change, 4, true))))))));
  }

  // Lines between the lists depend on the layout.
  let width = innerWidth;
  addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; update(); } });
  legend();
  update();

  const open = (query, left, right, measure) => {
    set({ query, left, right, measure });
    reveal();
    controls.query.focus({ preventScroll: true });
  };
  return [open, follow];
}
