'use strict';
// What the page shows, unpacked: see data.go and digits.go.

const report = JSON.parse(document.getElementById('data').textContent);
const digits = '!#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{';
const radix = digits.length;
const digitOf = new Map([...digits].map((c, i) => [c, i]));

// unpack reads the number of the given number of digits at a place of the text.
function unpack(text, at, width) {
  let v = 0;
  for (let i = 0; i < width; i++) v = v * radix + digitOf.get(text[at + i]);
  return v;
}

// widthFor is the number of digits for numbers below n.
function widthFor(n) {
  let w = 1;
  for (let most = radix; most < n; most *= radix) w++;
  return w;
}

const fraction = (text, at) => unpack(text, at, 2) / (radix * radix - 1);

const valueCache = new Map();

// valuesOf returns a system's values of a measure, one a query, NaN where a query
// does not count.
function valuesOf(system, measure) {
  const key = system + ' ' + measure;
  if (!valueCache.has(key)) {
    const text = report.values[system][measure], none = radix ** 3 - 1, list = [];
    for (let i = 0; i < text.length; i += 3) {
      const v = unpack(text, i, 3);
      list.push(v === none ? NaN : v / 1e4);
    }
    valueCache.set(key, list);
  }
  return valueCache.get(key);
}

const detailsOf = new Map(report.details.map(d => [d.q, d]));
const unpacked = new Map();

// rankingsOf returns the documents kept of a query, each with its grade and, system
// by system, its rank from 1 (Infinity if it was not retrieved) and its score; undefined
// if the page has none.
function rankingsOf(query) {
  const d = detailsOf.get(query);
  if (!d) return undefined;
  if (unpacked.has(query)) return unpacked.get(query);
  const total = report.queries.docs[query];
  const n = d.d.length, w = widthFor(total + 1), wg = widthFor(report.grades.length);
  const docs = d.d.map((id, i) => ({ id, at: i, grade: unpack(d.g, i * wg, wg), rank: [], score: [], parts: new Map() }));
  report.systems.forEach((_, s) => docs.forEach((doc, i) => {
    const rank = unpack(d.r, (s * n + i) * w, w) + 1;
    doc.rank.push(rank > total ? Infinity : rank);
    doc.score.push(d.lo[s] + (d.hi[s] - d.lo[s]) * fraction(d.s, 2 * (s * n + i)));
  }));
  if (d.x) explain(d.x, docs);
  unpacked.set(query, docs);
  return docs;
}

// explain adds the contributions of features, and the features' values, to the documents that
// have any.
function explain(x, docs) {
  const wd = widthFor(docs.length), wf = report.featureDigits, shown = x.d.length / wd;
  const document = i => docs[unpack(x.d, i * wd, wd)];
  let at = 0;
  x.y.forEach((s, k) => {
    for (let i = 0; i < shown; i++) {
      const parts = [];
      for (let p = 0; p < x.n; p++, at += wf + 2) {
        const value = (2 * fraction(x.c, at + wf) - 1) * x.m[k];
        if (Math.abs(value) > x.m[k] / 5000) parts.push({ feature: unpack(x.c, at, wf), value });
      }
      parts.mean = x.b[k];
      document(i).parts.set(s, parts);
    }
  });
  at = 0;
  for (let i = 0; i < shown; i++) {
    const values = document(i).values = new Map();
    let count = unpack(x.v, at, 2);
    for (at += 2; count > 0; count--, at += wf + 4) values.set(unpack(x.v, at, wf), featureValue(unpack(x.v, at + wf, 4)));
  }
}

// featureValue is a value of a feature, NaN where it is missing: see digits.go.
function featureValue(code) {
  if (code < 2) return code === 0 ? NaN : 0;
  const size = (code - 2) >> 1;
  return (code % 2 ? -1 : 1) * Number(`${10000 + size % 90000}e${Math.floor(size / 90000) - 54}`);
}

const rankText = rank => rank === Infinity ? 'none' : String(rank);
const featureName = f => report.features && report.features[f] ? report.features[f] : 'feature ' + (f + 1);
// isolated keeps the direction of a name, as of Hebrew or Arabic words, from what stands behind it.
const isolated = name => '\u2068' + name + '\u2069';
const queryName = q => 'query ' + isolated(report.queries.id[q]);

// fixed writes a number with the given number of decimals and a real minus sign.
function fixed(v, decimals, signed) {
  if (!Number.isFinite(v)) return '–';
  const text = Math.abs(v).toFixed(decimals);
  if (Number(text) === 0) return text;
  return (v < 0 ? '−' : signed ? '+' : '') + text;
}

// figures writes a number with the given number of significant digits.
function figures(v, n) {
  if (v === 0) return '0';
  const size = Math.abs(v);
  const text = size >= 1e6 || size < 1e-4 ? size.toExponential(n - 1) : size.toPrecision(n);
  return (v < 0 ? '−' : '') + (text.includes('.') && !text.includes('e') ? text.replace(/0+$/, '').replace(/\.$/, '') : text);
}
