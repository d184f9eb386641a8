#!/usr/bin/env bash
# Writes NAME.txt, the locked form of NAME.in, for both environments. Needs
# Python 3 with pip; run it by hand after a change of a .in file.
set -euo pipefail
cd "$(dirname "$0")"
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet pip-tools
for name in current sqlite; do
	"$tools/bin/pip-compile" --quiet --generate-hashes --strip-extras --no-header \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--output-file "$name.txt" "$name.in"
done
