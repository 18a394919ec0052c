#!/bin/sh
# Checks this bundle.
#
#   sh check.sh                        checksums, means and tables, without the data
#   sh check.sh --data NAME=PATH ...   also trains again on the data and compares the values
#
# Options:
#   --data NAME=PATH   data NAME of README.md are the file or folder PATH
#   --module DIR       Go module in which to build the program of source, such as a checkout of
#                      listwise (default: source/go.mod)
#   --tolerance N      largest difference of a value by another version of listwise (default 0.0001)
#
# The variable LISTWISE names the program (default: listwise). The exit code is 0 if no check
# fails, 1 if one fails, and 2 for wrong options or data.

set -u
LC_ALL=C
export LC_ALL
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd) || exit 2
failed=0

say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*"; failed=1; }
stop() { printf 'check.sh: %s\n' "$*" >&2; exit 2; }

# sha prints the SHA-256 of a file.
if command -v sha256sum >/dev/null 2>&1; then
	sha() { sha256sum <"$1" | cut -c1-64; }
elif command -v shasum >/dev/null 2>&1; then
	sha() { shasum -a 256 <"$1" | cut -c1-64; }
elif command -v openssl >/dev/null 2>&1; then
	sha() { openssl dgst -sha256 <"$1" | sed 's/.*= *//'; }
else
	stop "found none of sha256sum, shasum and openssl, expected one"
fi

listwise=${LISTWISE:-listwise}
if listwise=$(command -v "$listwise" 2>/dev/null); then
	case $listwise in
	/*) ;;
	*) listwise=$PWD/$listwise ;;
	esac
else
	listwise=
fi

work=${TMPDIR:-/tmp}/listwise-check.$$
(umask 077 && mkdir "$work" "$work/data" "$work/runs") || stop "cannot create $work"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

given=' '
module=
tolerance=0.0001
while [ $# -gt 0 ]; do
	[ $# -gt 1 ] || stop "found $1 without a value, expected --data NAME=PATH, --module DIR or --tolerance N"
	case $1 in
	--data)
		name=${2%%=*}
		path=${2#*=}
		[ "$name" != "$2" ] || stop "found --data $2, expected --data NAME=PATH"
		case $name in
		'' | *[!A-Za-z0-9._-]*) stop "found --data $2, expected NAME to be a name of data in README.md" ;;
		esac
		[ -f "$here/data/$name.sha256" ] || stop "found --data $name, expected one of: $(cd "$here/data" && ls | sed 's/\.sha256$//' | tr '\n' ' ')"
		case $path in
		/*) ;;
		*) path=$PWD/$path ;;
		esac
		bad=0
		while read -r sum file; do
			full=$path/$file
			[ "$file" != . ] || full=$path
			if [ ! -f "$full" ]; then
				printf 'check.sh: data %s: %s is missing, expected sha256 %s\n' "$name" "$full" "$sum" >&2
				bad=1
			else
				found=$(sha "$full")
				if [ "$found" != "$sum" ]; then
					printf 'check.sh: data %s: %s: found sha256 %s, expected %s\n' "$name" "$full" "$found" "$sum" >&2
					bad=1
				fi
			fi
		done <"$here/data/$name.sha256"
		[ $bad = 0 ] || stop "data $name are not those of the bundle"
		ln -s "$path" "$work/data/$name" || exit 2
		given="$given$name "
		;;
	--module)
		module=$(cd "$2" && pwd) || stop "found --module $2, expected a folder with go.mod"
		;;
	--tolerance)
		case $2 in
		'' | *[!0-9.e-]*) stop "found --tolerance $2, expected a number such as 0.0001" ;;
		esac
		tolerance=$2
		;;
	*) stop "found $1, expected --data NAME=PATH, --module DIR or --tolerance N" ;;
	esac
	shift 2
done

# Checksums: every file is as packed, and there is no other.
files=0
while read -r sum file; do
	files=$((files + 1))
	if [ ! -f "$here/$file" ]; then
		fail "$file is missing"
	else
		found=$(sha "$here/$file")
		[ "$found" = "$sum" ] || fail "$file: found sha256 $found, expected $sum"
	fi
done <"$here/SHA256SUMS"
(cd "$here" && find . ! -type d | sed 's|^\./||' | sort) >"$work/found"
{ cut -c67- "$here/SHA256SUMS" && echo SHA256SUMS; } | sort >"$work/listed"
comm -23 "$work/found" "$work/listed" >"$work/more"
while read -r file; do
	fail "$file is not in SHA256SUMS, expected no other files"
done <"$work/more"
[ $failed != 0 ] || say "ok: $files files have their checksums"

# Means: those of tables/means.csv, from the values of the queries.
sed 1d "$here/tables/means.csv" | cut -d, -f1 | sort -u >"$work/folders"
systems=0
while read -r folder; do
	systems=$((systems + 1))
	# The files of all folds and seeds: each seed has the same folds. Names in a bundle need no quotes.
	# shellcheck disable=SC2046
	if ! (cd "$here" && awk -F, -v CONVFMT=%.12g -v folder="$folder" '
		function off(a, b) { if (a == "" || b == "") return a != b; a -= b; return a > 1e-9 || a < -1e-9 }
		function ended(i, x) {
			for (i = first; i <= columns; i++) {
				if (count[i] > 0) { means[name[i]] += sum[i] / count[i]; folds[name[i]]++ }
				all[name[i]] += sum[i]; counted[name[i]] += count[i]
				sum[i] = 0; count[i] = 0
			}
		}
		FILENAME == ARGV[1] { if ($1 == folder) { lines++; measure[lines] = $3; mean[lines] = $5; pooled[lines] = $6 }; next }
		FNR == 1 { ended(); columns = NF; first = $2 == "weight" ? 3 : 2; for (i = first; i <= NF; i++) name[i] = $i; next }
		{
			# An id may contain commas: columns are counted from the right.
			w = first == 3 ? $(NF - columns + 2) : 1
			for (i = first; i <= columns; i++) { v = $(NF - columns + i); if (v != "") { sum[i] += w * v; count[i] += w } }
		}
		END {
			ended()
			for (l = 1; l <= lines; l++) {
				m = measure[l]
				a = folds[m] > 0 ? means[m] / folds[m] : ""
				b = counted[m] > 0 ? all[m] / counted[m] : ""
				if (off(a, mean[l]) || off(b, pooled[l])) { print folder ": the mean of " m " is " a ", pooled " b ", but tables/means.csv has " mean[l] " and " pooled[l]; wrong = 1 }
			}
			exit wrong
		}' tables/means.csv $(find "$folder" -name '*.queries.csv' | sort)) >"$work/means" 2>&1; then
		fail "$(cat "$work/means")"
	fi
done <"$work/folders"
[ $failed != 0 ] || say "ok: the values give the means of $systems systems"

# Tables: with tests and intervals, from the values of the queries.
if [ -z "$listwise" ]; then
	say "not checked: the tables, as there is no program listwise (set LISTWISE)"
elif "$listwise" bundle --check "$here" >"$work/tables" 2>&1; then
	say "ok: the values give all tables"
else
	fail "$(cat "$work/tables")"
fi

# have reports whether the data of a run are given, and says so if not.
have() {
	run=$1
	shift
	for name in "$@"; do
		case $given in
		*" $name "*) ;;
		*)
			say "not checked: the training of $run (needs --data $name=PATH)"
			return 1
			;;
		esac
	done
}

# start_over forgets the comparisons of the run before.
start_over() {
	run=$1
	same=0
	near=0
	others=0
	unlike=0
	strict=0
}

# begin begins a run of listwise. $2 and $3 are the version that trained.
begin() {
	start_over "$1"
	if [ -z "$listwise" ]; then
		fail "$run: there is no program listwise to train with (set LISTWISE)"
		return 1
	fi
	mkdir -p "$work/runs/$run" || exit 2
	case $("$listwise" version) in
	"$2"*) if [ -z "$3" ] || [ "$(sha "$listwise" | cut -c1-32)" = "$3" ]; then strict=1; fi ;;
	esac
}

# call calls a command of listwise in the working folder.
call() {
	if ! (cd "$work" && "$listwise" "$@" >log 2>&1); then
		fail "$run: listwise $*: $(tail -n 1 "$work/log")"
		return 1
	fi
}

# build builds the program of source. start runs it on data and a folder for results.
built=
build() {
	[ -z "$built" ] || return 0
	if ! command -v go >/dev/null 2>&1; then
		say "not checked: the training of $1, as Go is not installed"
		return 1
	fi
	dir=$module
	if [ -z "$dir" ]; then
		if [ ! -f "$here/source/go.mod" ]; then
			say "not checked: the training of $1 (needs --module DIR, a checkout of listwise)"
			return 1
		fi
		cp -R "$here/source" "$work/source" && dir=$work/source
	fi
	if ! (cd "$dir" && go build -o "$work/program" "$here"/source/*.go >"$work/log" 2>&1); then
		fail "$1: the program does not build: $(cat "$work/log")"
		return 1
	fi
	built=1
}

start() {
	start_over "$1"
	shift
	if ! (cd "$work" && ./program "$@" >log 2>&1); then
		fail "$run: the program fails: $(tail -n 1 "$work/log")"
		return 1
	fi
}

# compare compares a file of values with the one of the bundle.
compare() {
	if [ ! -f "$work/$2" ]; then
		fail "$run: the training wrote no $2"
	elif cmp -s "$here/$1" "$work/$2"; then
		same=$((same + 1))
	elif [ $strict = 1 ]; then
		fail "$run: the same version of listwise gives other bytes of $1"
	elif awk -F, -v most="$tolerance" '
		function number(x) { return x ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ }
		NR == FNR { line[FNR] = $0; lines = FNR; next }
		{
			n = split(line[FNR], old, ",")
			if (FNR > lines || n != NF) { print "other lines"; bad = 1; exit }
			for (i = 1; i <= NF; i++) {
				if ($i == old[i]) continue
				if (FNR == 1 || !number($i) || !number(old[i])) { print "line " FNR ": found " $i ", expected " old[i]; bad = 1; exit }
				d = $i - old[i]
				if (d < 0) d = -d
				if (d > most) { print "line " FNR ": found " $i ", expected " old[i] " within " most; bad = 1; exit }
			}
		}
		END { if (!bad && FNR != lines) { print "other lines"; bad = 1 }; exit bad }' "$here/$1" "$work/$2" >"$work/differs"; then
		near=$((near + 1))
	else
		fail "$run: $1: $(cat "$work/differs")"
	fi
}

# other compares a learning curve, a model or scores. Only the same version gives the same bytes.
other() {
	if [ ! -f "$work/$2" ]; then
		fail "$run: the training wrote no $2"
	elif cmp -s "$here/$1" "$work/$2"; then
		others=$((others + 1))
	elif [ $strict = 1 ]; then
		fail "$run: the same version of listwise gives other bytes of $1"
	else
		unlike=$((unlike + 1))
	fi
}

# compared reports the comparisons of a run. $1 is the number of files of values.
compared() {
	total=$((same + near))
	if [ $total != "$1" ]; then
		return
	elif [ $near = 0 ]; then
		say "ok: training $run again gives the same bytes of $same files of values"
	else
		say "ok: training $run again gives values within $tolerance in $near files, the same bytes in $same"
	fi
	[ $others = 0 ] || say "ok: training $run again gives the same bytes of $others curves, models or scores"
	[ $unlike = 0 ] || say "not checked: $unlike curves, models or scores of $run, which only the version of listwise that trained gives again"
}

# The runs:
RUNS
[ $failed = 0 ]
