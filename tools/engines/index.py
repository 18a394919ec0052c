"""Puts judged documents and features into a Solr core of solr/start.sh.

pairs TABLE CORE-URL STORE OUT   one document for each query-document pair of a table; its fields are the features
films MOVIES CORE-URL STORE OUT  the films of vega-datasets, with text features; logs these for queries of their titles
judgements MOVIES OUT            writes the judgement list of docs/guide/films, by the rule that the tutorial states

OUT of the first two is a table with the ids and features of the core. Queries of films are graded by a rule.
"""

import collections
import csv
import json
import re
import sys
import urllib.parse
import urllib.request


def send(url, body, method="POST"):
    headers = {"Content-Type": "application/json"}
    data = json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as answer:
        return json.load(answer)


def index(url, store, documents, features):
    send(url + "/update?commit=true", documents)
    prefix = "org.apache.solr.ltr.feature."
    send(url + "/schema/feature-store", [{"store": store, "name": name, "class": prefix + kind, "params": params}
                                         for name, kind, params in features], "PUT")


def pairs(table, url, store, out):
    with open(table, newline="") as f:
        rows = list(csv.DictReader(f))
    names = [name for name in rows[0] if name not in ("query", "grade", "doc")]
    # The default names of a model without names.
    known = {name: "feature_" + name if name.isdigit() else name for name in names}
    for row in rows:
        row["doc"] = row["query"] + "/" + row["doc"]
    index(url, store,
          [{"id": row["doc"], "query_s": row["query"], **{known[n] + "_f": float(row[n]) for n in names if row[n] != ""}} for row in rows],
          [(known[n], "FieldValueFeature", {"field": known[n] + "_f"}) for n in names])
    write(out, ["query", "doc", "grade", *(known[n] for n in names)], ([row["query"], row["doc"], row["grade"], *(row[n] for n in names)] for row in rows))


def films(movies, url, store, out):
    with open(movies) as f:
        list_ = json.load(f)
    documents = []
    for i, film in enumerate(list_):
        documents.append({"id": f"film-{i}", "title_t": str(film["Title"]), "director_t": film["Director"] or "",
                          "votes_f": film["IMDB_Votes"] or 0, "stars_f": film["IMDB_Rating"] or 0, "gross_f": film["US_Gross"] or 0})
    index(url, store, documents, [
        ("originalScore", "OriginalScoreFeature", {}),
        ("title", "SolrFeature", {"q": "{!dismax qf=title_t}${text}"}),
        ("phrase", "SolrFeature", {"q": "{!field f=title_t}${text}"}),
        ("director", "SolrFeature", {"q": "{!dismax qf=director_t}${text}"}),
        *((n, "FieldValueFeature", {"field": n + "_f"}) for n in ("votes", "stars", "gross")),
    ])
    by_id = {d["id"]: d for d in documents}
    queries = sorted({" ".join(d["title_t"].split()[:2]) for d in documents[::23]})
    rows, names = [], None
    for query in queries:
        form = {"q": "{!edismax qf='title_t director_t' v=$text}", "text": query, "rows": 50, "fl": f"id,[features store={store} efi.text=$text]"}
        with urllib.request.urlopen(url + "/select", urllib.parse.urlencode(form).encode()) as answer:
            found = json.load(answer)["response"]["docs"]
        if len(found) < 5:
            continue
        for d in found:
            values = dict(pair.split("=") for pair in d["[features]"].split(","))
            names = names or list(values)
            words = len(re.findall(r"\w+", query.lower()))
            hits = len(set(re.findall(r"\w+", query.lower())) & set(re.findall(r"\w+", by_id[d["id"]]["title_t"].lower())))
            grade = (2 if hits == words else hits > 0) + (float(values["stars"]) > 7)
            rows.append([query, d["id"], int(grade), *(values[n] for n in names)])
    write(out, ["query", "doc", "grade", *names], rows)


GENRES = "action adventure comedy documentary drama horror musical romantic thriller western".split()
# No words to search for: articles and the like, numbers, and parts of names of kinds such as "Contemporary Fiction".
OMITTED = set("""a all an and at based be fiction for from ii iii in is it la me my no not of on or original out s screenplay short suspense
    that the to up with you 13th 2 3 4 graphic novel life events real""".split())


def judgements(movies, out):
    def words(text):
        return re.findall(r"[a-z0-9]+", "" if text is None else str(text).lower())

    with open(movies) as f:
        list_ = json.load(f)
    rows = []
    for film in list_:
        text = {w for name in ("Title", "Director", "Major_Genre", "Creative_Type", "Source") for w in words(film[name])}
        title = "" if film["Title"] is None else film["Title"]
        critics = film["Rotten_Tomatoes_Rating"] or 0
        grade = 1 + (critics >= 50) + (critics >= 75)
        for genre in text & set(GENRES):
            rows += [[f"{word} {genre}", f"{title} ({film['Release_Date']})", grade] for word in text - OMITTED - set(GENRES)]
    films = collections.Counter(query for query, _, _ in rows)
    rows = sorted(row for row in rows if 7 <= films[row[0]] <= 40)
    write(out, ["query", "docid", "rating"], rows)


def write(out, names, rows):
    with open(out, "w", newline="") as f:
        table = csv.writer(f, lineterminator="\n")
        table.writerow(names)
        table.writerows(rows)


if __name__ == "__main__":
    {"pairs": pairs, "films": films, "judgements": judgements}[sys.argv[1]](*sys.argv[2:])
