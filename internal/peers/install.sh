#!/usr/bin/env bash
# Installs the MCP servers that the tests of internal/peers talk to, and the
# official conformance runner, exactly as locked in npm/, conformance/ and pypi/,
# into $AURORA_PEERS (default: .cache/peers in the checkout). It does nothing
# when they are there already.
#
# Prints one line for each of npm, conformance, current and sqlite: its name,
# "=", and the folder it was installed to, or "!" and why it was not. Messages go
# to stderr.
# Exit code 0 means that every line has been printed, not that all are there.
set -euo pipefail
cd "$(dirname "$0")"
root=${AURORA_PEERS:-$(cd ../.. && pwd)/.cache/peers}
mkdir -p "$root"

# One installation at a time; flock is missing on some systems, and then two at
# once only do the work twice.
if command -v flock >/dev/null; then
	exec 9>"$root/lock"
	flock 9
fi

# key FILE… VERSION names an installation by what it is made from.
key() {
	local version=${!#}
	{
		cat "${@:1:$#-1}"
		echo "$version"
		uname -sm
	} | cksum | tr ' ' '-'
}

# ready DIR reports whether DIR was installed whole; else it clears the place.
ready() {
	[[ -e $1/.complete ]] && return
	rm -rf "$1"
	mkdir -p "$1"
	return 1
}

# give_up DIR NAME WHY…
give_up() {
	rm -rf "$1"
	echo "$2! ${*:3}"
}

# npm_packages NAME [OPTION…] installs NAME/package-lock.json.
npm_packages() {
	local name=$1 dir
	shift
	if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
		echo "$name! Node.js with npm is not installed"
		return
	fi
	dir=$root/$name-$(key "$name/package.json" "$name/package-lock.json" "$(node --version)")
	if ! ready "$dir"; then
		echo "Installing the npm packages of $name into $dir …" >&2
		cp "$name/package.json" "$name/package-lock.json" "$dir"
		if ! npm ci --prefix "$dir" --ignore-scripts --no-audit --no-fund --loglevel=error "$@" >&2; then
			give_up "$dir" "$name" "npm ci failed; see above"
			return
		fi
		touch "$dir/.complete"
	fi
	echo "$name=$dir"
}

# conformance_runner installs the runner, which wants Node.js 22, and where that
# is not what is there a Node.js from npm, if npm has one for this machine.
conformance_runner() {
	if ! command -v node >/dev/null || node -e 'process.exit(parseInt(process.versions.node) < 22 ? 1 : 0)'; then
		npm_packages conformance --omit=optional
		return
	fi
	case $(uname -sm) in
	"Linux x86_64" | "Linux aarch64") npm_packages conformance ;;
	*) echo "conformance! Node.js $(node --version) is too old, 22 is the least" ;;
	esac
}

# python_servers NAME installs pypi/NAME.txt into an environment of its own.
python_servers() {
	local name=$1 dir
	if ! command -v python3 >/dev/null; then
		echo "$name! Python 3 is not installed"
		return
	fi
	if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
		echo "$name! $(python3 --version) is too old, 3.10 is the least"
		return
	fi
	dir=$root/$name-$(key "pypi/$name.txt" "$(python3 --version)")
	if ! ready "$dir"; then
		echo "Installing the Python servers into $dir …" >&2
		if ! python3 -m venv "$dir" >&2; then
			give_up "$dir" "$name" "python3 -m venv failed; on Debian: apt-get install python3-venv"
			return
		fi
		if ! "$dir/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps \
			--only-binary :all: --requirement "pypi/$name.txt" >&2; then
			give_up "$dir" "$name" "pip install failed; see above"
			return
		fi
		touch "$dir/.complete"
	fi
	echo "$name=$dir"
}

npm_packages npm
conformance_runner
python_servers current
python_servers sqlite
