// Measures of one query's ranking, for telling what an exchange of two documents
// does: see formula.go. The values themselves are Go's.

// measured returns a measure of the documents kept, in the order that place gives
// them: place(doc) is a rank from 1, Infinity for a document that was not retrieved. It is undefined for a measure that is not known.
function measured(m, docs, place, total) {
  const ranks = () => docs.filter(d => d.grade >= m.relevant).map(place).sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
  const mean = (list, n) => list.reduce((a, b) => a + b, 0) / n;
  switch (m.kind) {
    case 'map': {
      const r = ranks();
      return r.length ? mean(r.map((v, i) => (i + 1) / v), r.length) : m.empty;
    }
    case 'mrr': {
      const r = ranks();
      if (!r.length) return m.empty;
      return m.k && r[0] > m.k ? 0 : 1 / r[0];
    }
    case 'p': case 'r': {
      const r = ranks();
      if (!r.length) return m.empty;
      return r.filter(v => v <= m.k).length / (m.kind === 'p' ? m.k : r.length);
    }
    case 'dcg': case 'ndcg': return gained(m, docs, place, total);
  }
  return undefined;
}

function gained(m, docs, place, total) {
  const depth = m.k ? Math.min(m.k, total) : total, gain = d => m.gains[d.grade];
  let sum = 0, best = 0;
  for (const d of docs) if (place(d) <= depth) sum += gain(d) * m.discount[place(d) - 1];
  docs.map(gain).sort((a, b) => b - a).slice(0, depth).forEach((g, i) => { best += g * m.discount[i]; });
  if (best === 0) return m.empty;
  if (m.short && total < m.k) return 0;
  return m.kind === 'dcg' ? sum : sum / best;
}

// exchanges returns the pairs of documents that the right system has the other way
// round, with what exchanging them in the left ranking, and nothing else, does to
// the measure; largest first.
function exchanges(m, docs, left, right, total, most) {
  const base = measured(m, docs, d => d.rank[left], total), list = [];
  if (base === undefined) return undefined;
  for (const u of docs) for (const v of docs) {
    if (u.grade === v.grade || u.rank[left] >= v.rank[left] || u.rank[right] <= v.rank[right]) continue;
    const place = d => d === u ? v.rank[left] : d === v ? u.rank[left] : d.rank[left];
    const change = measured(m, docs, place, total) - base;
    if (Math.abs(change) > 1e-9) list.push({ u, v, change });
  }
  list.sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.u.at - b.u.at || a.v.at - b.v.at);
  return list.slice(0, most);
}
