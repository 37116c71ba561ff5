#!/bin/sh
# Fetches the files of this folder again, in the versions of README.txt, and checks their hashes.
set -eu
cd "$(dirname "$0")"
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
take() { # package version, then pairs: path in the package, name here
    (cd "$work" && npm pack --silent "$1@$2" > name && rm -rf package && tar xzf "$(cat name)")
    shift 2
    while [ $# -gt 0 ]; do
        cp "$work/package/$1" "$here/$2"
        shift 2
    done
}
take cytoscape 3.34.4 dist/cytoscape.min.js cytoscape.min.js LICENSE cytoscape.LICENSE.txt
take cytoscape-dagre 4.0.1 dist/cytoscape-dagre.min.js cytoscape-dagre.min.js
take tabulator-tables 6.5.3 dist/js/tabulator.min.js tabulator.min.js dist/css/tabulator.min.css tabulator.min.css \
    LICENSE tabulator.LICENSE.txt
take chart.js 4.6.1 dist/chart.umd.min.js chart.umd.min.js LICENSE.md chart.LICENSE.txt
for file in *.js *.css; do
    grep -q "$(sha256sum "$file" | cut -d' ' -f1)" README.txt || { echo "$file: not the file of README.txt" >&2; exit 1; }
done
echo "all files are those of README.txt"
