"""Puts judged documents and features into a Solr core of solr/start.sh.

pairs TABLE CORE-URL STORE OUT   one document for each query-document pair of a table; its fields are the features
films MOVIES CORE-URL STORE OUT  the films of vega-datasets, with text features; logs these for queries of their titles

OUT is a table with the ids and features of the core. Queries of films are graded by a rule.
"""

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
    write(out, [known[n] for n in names], ([row["query"], row["doc"], row["grade"], *(row[n] for n in names)] for row in rows))


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
    write(out, names, rows)


def write(out, names, rows):
    with open(out, "w", newline="") as f:
        table = csv.writer(f, lineterminator="\n")
        table.writerow(["query", "doc", "grade", *names])
        table.writerows(rows)


if __name__ == "__main__":
    {"pairs": pairs, "films": films}[sys.argv[1]](*sys.argv[2:])
