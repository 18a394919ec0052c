'use strict';

// The page knows the service by its API alone, and puts what comes from it, or from the user, into the
// page as text: nothing is ever read as HTML.

const shown = 15; // contributions before "all"
const field = id => document.getElementById(id);
let model = null;  // the description of the chosen model
let answer = null; // the last one
let chosen = '';   // the id of the document that is explained
let asked = 0;     // counts requests: the answers of earlier ones are dropped

// make returns an element with text.
function make(tag, text = '', className = '') {
  const e = document.createElement(tag);
  e.textContent = text;
  if (className) e.className = className;
  return e;
}

// text writes a number with six digits.
function text(v) {
  return v === null || v === undefined ? 'missing' : String(Number(Number(v).toPrecision(6)));
}

// call asks the service and returns the JSON of the answer; what is no success is thrown.
async function call(path, body) {
  const headers = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (field('token').value) headers.Authorization = 'Bearer ' + field('token').value;
  let response;
  try {
    response = await fetch(path, { method: body === undefined ? 'GET' : 'POST', headers, body });
  } catch {
    throw new Error('the server does not answer');
  }
  if (response.status === 401) field('token-field').hidden = false;
  const json = await response.json().catch(() => ({ detail: 'found an answer that is no JSON' }));
  if (!response.ok) {
    const e = new Error((json.pointer ? json.pointer + ': ' : '') + (json.detail || json.title || 'status ' + response.status));
    e.status = response.status;
    throw e;
  }
  return json;
}

function problem(e) {
  field('problem').hidden = !e;
  field('problem').textContent = e ? e.message : '';
}

// example is a request of documents with random features.
function example() {
  let state = 1;
  const value = () => (state = state * 48271 % 2147483647) % 100 / 100;
  const lines = [];
  for (const id of ['first', 'second', 'third', 'fourth']) {
    let features = [];
    for (let j = 0; j < model.features; j++) {
      features.push(model.feature_names ? JSON.stringify(model.feature_names[j]) + ': ' + value() : value());
    }
    features = features.join(', ');
    lines.push('  {"id": "' + id + '", "features": ' + (model.feature_names ? '{' + features + '}' : '[' + features + ']') + '}');
  }
  return '{"documents": [\n' + lines.join(',\n') + '\n]}';
}

// choose makes a model the one that ranks.
async function choose(name) {
  model = await call('v1/models/' + encodeURIComponent(name));
  const names = model.feature_names;
  if (names && new Set(names).size < names.length) model.feature_names = undefined; // a name stands twice
  const facts = [model.name, 'version ' + model.version, model.method, model.scorer, model.features + (model.features === 1 ? ' feature' : ' features')];
  field('facts').textContent = facts.join(' · ');
  field('body').value = example();
  await rank();
}

// request is the text of the field, with contributions asked for; the server says what is wrong with
// it, so that text that is no object goes as it is.
function request(contributions) {
  const body = field('body').value;
  let parsed;
  try {
    parsed = JSON.parse(body);
  } catch {
    return body;
  }
  if (contributions && parsed && Object.keys(parsed).length && !Array.isArray(parsed) && !('contributions' in parsed)) {
    return body.replace(/\}\s*$/, ', "contributions": true}');
  }
  return body;
}

async function rank() {
  const turn = ++asked;
  const path = 'v1/models/' + encodeURIComponent(model.name) + ':rank';
  let found, refusal = '';
  try {
    try {
      found = await call(path, request(true));
    } catch (e) {
      if (e.status !== 422 && e.status !== 413) throw e;
      found = await call(path, request(false)); // a model whose scores cannot be taken apart
      refusal = e.message;
    }
  } catch (e) {
    if (turn === asked) problem(e);
    return;
  }
  if (turn !== asked) return;
  problem(null);
  answer = found.rankings ? found.rankings[0] : found;
  answer.refusal = refusal;
  field('ranking-title').textContent = found.rankings && found.rankings.length > 1 ? 'Ranking of the first of ' + found.rankings.length + ' queries' : 'Ranking';
  drawRanking();
}

function drawRanking() {
  field('none').hidden = true;
  const items = answer.ranking.map(d => {
    const button = make('button');
    button.type = 'button';
    button.dataset.id = d.id;
    button.append(make('span', d.rank, 'place'), make('span', d.id, 'id'), make('span', text(d.score), 'score'));
    button.title = d.id;
    button.addEventListener('click', () => explain(d.id));
    const item = make('li');
    item.append(button);
    return item;
  });
  field('ranking').replaceChildren(...items);
  explain(answer.ranking.some(d => d.id === chosen) ? chosen : answer.ranking[0].id);
}

// explain shows what a document's score is made of.
function explain(id, all = false) {
  chosen = id;
  for (const b of field('ranking').querySelectorAll('button')) b.setAttribute('aria-pressed', String(b.dataset.id === id));
  const d = answer.ranking.find(x => x.id === id);
  field('why').hidden = false;
  field('why-title').textContent = 'Why ' + id + ' has the score ' + text(d.score);
  const of = answer.background === 'request' ? '; the background is the documents of the query' : '';
  field('about').textContent = answer.refusal || (answer.about ? answer.about + of : '');
  field('more').hidden = true;
  if (!d.contributions) {
    field('parts').replaceChildren();
    return;
  }
  const listed = all ? d.contributions : d.contributions.slice(0, shown);
  const left = d.contributions.slice(listed.length);
  const rest = left.reduce((sum, c) => sum + c.contribution, d.others || 0);
  const rows = [row('base', '', d.base, 0)];
  const largest = Math.max(...d.contributions.map(c => Math.abs(c.contribution)), Math.abs(rest), 1e-300);
  for (const c of listed) rows.push(row(c.feature, 'value' in c ? text(c.value) : '', c.contribution, largest));
  if (left.length || d.others) rows.push(row(left.length ? left.length + ' others' : 'others', '', rest, largest));
  if (d.remainder) rows.push(row('remainder', '', d.remainder, largest));
  const total = row('score', '', d.score, 0);
  total.className = 'total';
  field('parts').replaceChildren(...rows, total);
  if (left.length) {
    field('more').hidden = false;
    field('more').textContent = 'All ' + d.contributions.length + ' features';
    field('more').onclick = () => explain(id, true);
  }
}

// row is a line of the table, with a bar unless largest is 0.
function row(name, value, part, largest) {
  const tr = make('tr'), plot = make('td', '', 'plot');
  const number = make('td', text(part), 'n');
  number.dataset.part = part;
  if (largest > 0) plot.append(bar(part / largest));
  tr.append(make('td', name), make('td', value, 'n'), number, plot);
  return tr;
}

// bar is a bar to the right or the left of the middle; part is from −1 to 1.
function bar(part) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  svg.setAttribute('viewBox', '-100 0 200 10');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  const rect = document.createElementNS(space, 'rect');
  const width = Math.abs(part) * 100;
  rect.setAttribute('class', part < 0 ? 'down' : 'up');
  rect.setAttribute('x', part < 0 ? -width : 0);
  rect.setAttribute('y', 1);
  rect.setAttribute('width', width);
  rect.setAttribute('height', 8);
  const zero = document.createElementNS(space, 'line');
  zero.setAttribute('class', 'zero');
  zero.setAttribute('y2', 10);
  svg.append(rect, zero);
  return svg;
}

async function begin() {
  problem(null);
  try {
    const list = (await call('v1/models')).models;
    if (!list.length) throw new Error('none of the models is for this client\'s certificate');
    field('model').replaceChildren(...list.map(m => {
      const option = make('option', m.name);
      option.value = m.name;
      return option;
    }));
    await choose(list[0].name);
  } catch (e) {
    problem(e);
  }
}

field('model').addEventListener('change', () => choose(field('model').value).catch(problem));
field('token').addEventListener('change', begin);
field('token-field').addEventListener('submit', e => {
  e.preventDefault();
  field('token').blur(); // which is a change
});
field('rank').addEventListener('click', rank);
field('example').addEventListener('click', () => {
  field('body').value = example();
  rank();
});
field('body').addEventListener('keydown', e => {
  if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
    e.preventDefault();
    rank();
  }
});
begin();
