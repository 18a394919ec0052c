#!/usr/bin/env python3
"""Compares the blocks of the documentation with the output of `listwise reproduce`.

    blocks.py [--write] [--complete] [--docs DIR] RESULTS...

RESULTS are output folders of `listwise reproduce`. A block is a fenced block whose first line is
the title of a NAME.txt in RESULTS, and whose command has the same seed and scale. The runs with
and without --data need a folder each. Folders in the command are not compared. A block without a
command follows the line "    listwise reproduce NAME" and has some of the head, tables and notes of
NAME.txt. A last line "…" represents the rest of a table. Plots below a block are compared, too.

--write renews the blocks that differ. --complete also fails for blocks without a result.
"""

import argparse
import pathlib
import re
import shutil
import sys

COMMAND = re.compile(r"^ +command +(listwise reproduce .*)$")
PLOT = re.compile(r"^!\[.*\]\((.*/([^/]+\.svg))\)$")
INDENTED = re.compile(r"^    listwise reproduce ([a-z0-9-]+)")
FOLDERS = re.compile(r" --(?:data|out|jobs|markdown)[ =]\S+")


def results(folders):
    """Returns the texts by title and command. Folders that disagree are an error."""
    found = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).glob("*.txt")):
            lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
            key = lines[0], command(lines)
            if not key[1]:
                continue
            if key in found and compared(found[key][1]) != compared(lines):
                sys.exit(f"{found[key][0]} and {path} have the same title and command, and differ")
            found[key] = path, lines
    return found


def compared(lines):
    """Returns the lines without the command and without spaces at their ends."""
    return [line.rstrip() for line in lines if not COMMAND.match(line)]


def command(lines):
    """Returns the command of a block without folders, "" if it has none."""
    found = [COMMAND.match(line) for line in lines]
    return next((FOLDERS.sub("", m.group(1)).strip() for m in found if m), "")


def renewed(block, lines):
    """Returns the lines of a result with the command of the block."""
    commands = [line for line in block if COMMAND.match(line)]
    out = []
    for line in lines:
        if COMMAND.match(line) and commands:
            head = line[: line.index("listwise")]
            line = head + commands[0][commands[0].index("listwise") :]
        out.append(line.rstrip())
    return out


def paragraphs(lines):
    """Returns the lines in pieces, which blank lines separate."""
    pieces = [[]]
    for line in lines:
        if line.strip():
            pieces[-1].append(line.rstrip())
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def title(piece):
    """Returns the first line of a piece, "- " for notes, whose first line has numbers."""
    return "- " if piece[0].startswith("- ") else piece[0]


def tables(name, found):
    """Returns the pieces of the results of an experiment by title, those that are there once, and their folder."""
    all_of, folders = {}, set()
    for path, lines in found.values():
        if path.stem == name:
            folders.add(path.parent)
            for piece in paragraphs(compared(lines)):
                all_of.setdefault(title(piece), []).append(piece)
    known = {key: pieces[0] for key, pieces in all_of.items() if len(pieces) == 1 and len(pieces[0]) > 2}
    return known, folders.pop() if len(folders) == 1 else None


def excerpt(block, known):
    """Returns the block with its tables as in the results, None if it has none of them."""
    pieces = paragraphs(block)
    if not any(title(piece) in known for piece in pieces):
        return None
    lines = []
    for piece in pieces:
        whole = known.get(title(piece), piece)
        if piece[-1].strip() == "…":
            whole = whole[: len(piece) - 1] + piece[-1:]
        lines += whole + [""]
    return lines[:-1]


def check(path, found, write):
    """Checks a page. Returns the titles that agree, differ and have no result."""
    lines = path.read_text(encoding="utf-8").split("\n")
    agree, differ, lacking = [], [], []
    out, at, name, folder = [], 0, "", None
    while at < len(lines):
        out.append(lines[at])
        if lines[at].startswith("## "):
            name, folder = "", None
        elif PLOT.match(lines[at]) and folder:
            ours, theirs = path.parent / PLOT.match(lines[at]).group(1), folder / PLOT.match(lines[at]).group(2)
            if theirs.exists():
                same = ours.exists() and ours.read_bytes() == theirs.read_bytes()
                (agree if same else differ).append((str(ours), ""))
                if not same:
                    print(f"{path}:{at + 1}: {ours} differs from {theirs}")
                if not same and write:
                    shutil.copyfile(theirs, ours)
        elif INDENTED.match(lines[at]):
            name = INDENTED.match(lines[at]).group(1)
        at += 1
        if not lines[at - 1].startswith("```"):
            continue
        end = at
        while end < len(lines) and lines[end] != "```":
            end += 1
        block = lines[at:end]
        key = (block[0], command(block)) if block else ("", "")
        folder = found[key][0].parent if key in found else None
        if key in found:
            if compared(block) == compared(found[key][1]):
                agree.append(key)
            else:
                differ.append(key)
                show(path, at, block, found[key])
                block = renewed(block, found[key][1])
        elif key[1]:
            lacking.append(key)
        elif (excerpted := excerpt(block, (known := tables(name, found))[0])) is not None:
            folder = known[1]
            if compared(block) == excerpted:
                agree.append(key)
            else:
                differ.append(key)
                show(path, at, block, (name, excerpted))
                block = excerpted
        out += block + lines[end : end + 1]
        at = end + 1
    if write and "\n".join(out) != "\n".join(lines):
        path.write_text("\n".join(out), encoding="utf-8")
    return agree, differ, lacking


def show(path, at, block, result):
    """Prints the first line that differs."""
    ours, theirs = compared(block), compared(result[1])
    for k in range(max(len(ours), len(theirs))):
        a = ours[k] if k < len(ours) else "(end of the block)"
        b = theirs[k] if k < len(theirs) else "(end of the result)"
        if a != b:
            print(f"{path}:{at + 1}: {block[0]}\n  block  {a[:200]}\n  result {b[:200]}  ({result[0]})")
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("results", nargs="+", help="output folders of listwise reproduce")
    parser.add_argument("--docs", default=pathlib.Path(__file__).parents[2] / "docs", type=pathlib.Path, help="folder of the pages")
    parser.add_argument("--write", action="store_true", help="renew the blocks that differ")
    parser.add_argument("--complete", action="store_true", help="fail for blocks without a result")
    args = parser.parse_args()
    found = results(args.results)
    if not found:
        sys.exit("found no result of listwise reproduce in " + ", ".join(args.results))
    agree, differ, lacking = [], [], []
    for path in sorted(args.docs.glob("*.md")):
        for total, part in zip((agree, differ, lacking), check(path, found, args.write)):
            total += part
    for title, words in lacking:
        print(f"no result: {title} ({words})")
    print(f"{len(agree)} blocks and plots agree, {len(differ)} {'renewed' if args.write else 'differ'}, {len(lacking)} blocks have no result")
    if not agree and not differ:
        sys.exit("no block has the title of a result")
    if differ and not args.write or lacking and args.complete:
        sys.exit(1)


if __name__ == "__main__":
    main()
