#!/usr/bin/env bash
# Makes a release of the commit for two systems, twice, and looks at what came of it.
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

commit=$(git rev-parse --short=12 HEAD)
go vet ./...
for k in 1 2; do
  go run . -out "$scratch/$k" -targets linux/amd64,windows/arm64 >"$scratch/said.$k"
done
cat "$scratch/said.1"
diff -r "$scratch/1" "$scratch/2" || { echo 'the second release has other bytes'; exit 1; }
cd "$scratch/1"
sha256sum --quiet --check SHA256SUMS
tar -xzf listwise_*_linux_amd64.tar.gz
cd listwise_*_linux_amd64/
./listwise version
./listwise version | grep -q "commit $commit"
./listwise demo --quiet --report "$scratch/demo.html" | grep -q 'ConvexLoss'
bash -n completions/listwise.bash
test "$(ls man1 | wc -l)" -gt 25
python3 - ../listwise_*_linux_amd64.cdx.json <<'PY'
import json, sys
bom = json.load(open(sys.argv[1]))
names = {c["name"] for c in bom["components"]}
assert bom["bomFormat"] == "CycloneDX" and {"std", "github.com/spf13/cobra"} <= names, names
print(len(names), "components")
PY
if command -v dpkg-deb >/dev/null; then
  dpkg-deb --info ../listwise_*_amd64.deb | grep -E 'Version|Architecture'
  dpkg-deb --extract ../listwise_*_amd64.deb "$scratch/root"
  cmp "$scratch/root/usr/bin/listwise" listwise
fi
echo 'release: all checks passed'
