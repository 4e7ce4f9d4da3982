#!/bin/sh
# Checks at once that everything a make target needs is installed, and says in one message what is missing and how to get it.
# Usage: requirements.sh run|test. npm, pip and apt-get are needed only until their downloads are in the folders MODEL,
# CLIENTS and DATABASES and the files UI_MODULES and TYPESCRIPT_MODULES exist.
set -u

target=$1
cc=${CC:-cc}
python=${PYTHON:-python3}
missing= apt= brew= rust= xcode= databases=

# lack NAME APT_PACKAGES BREW_PACKAGES
lack() {
	missing="$missing${missing:+, }$1"
	apt="$apt${2:+ $2}"
	brew="$brew${3:+ $3}"
}

works() {
	"$@" >/dev/null 2>&1
}

# The oldest Rust that can build this: the minor version of `rust-version` in Cargo.toml.
while read -r key _ value; do
	[ "$key" = rust-version ] && oldest=${value#\"1.} && oldest=${oldest%\"}
done <"${0%/*}/../Cargo.toml"
found=$("${CARGO:-cargo}" --version 2>/dev/null) && found=${found#cargo 1.} && found=${found%%.*}

if [ -z "$found" ]; then
	lack "Rust (cargo)" "" ""
	rust=yes
elif [ "$found" -lt "$oldest" ]; then
	lack "Rust 1.$oldest or newer (here is 1.$found)" "" ""
	rust=yes
elif [ "$target" = test ] && ! { works "${CARGO:-cargo}" fmt --version && works "${CARGO:-cargo}" clippy --version; }; then
	lack "rustfmt and clippy" "" ""
	rust=yes
fi

# The header belongs to the C library's development files, which a bare compiler does not bring.
if ! printf '#include <stdio.h>\nint main(void) { return 0; }\n' | works "$cc" -x c -fsyntax-only -; then
	lack "a C compiler ($cc)" build-essential ""
	xcode=yes
fi

if [ "$target" = test ]; then
	# Without `uname` it is checked as on Linux.
	system=$(uname -sm 2>/dev/null)
	servers=
	case ${system:-Linux x86_64} in "Linux x86_64") servers=yes ;; esac
	[ -n "${EVERLORE_TEST_POSTGRES:-}" ] && [ -n "${EVERLORE_TEST_MYSQL:-}" ] && servers=
	fetch_servers=$servers
	[ -f "${DATABASES:-}/packages.lock" ] && fetch_servers=

	if [ ! -f "${MODEL:-}/model.safetensors" ] || [ ! -f "${CLIENTS:-}/python/ready" ] || [ -n "$fetch_servers" ]; then
		if ! works "$python" --version; then
			lack "Python 3 with venv and pip ($python)" "python3 python3-venv python3-pip" python
		else
			works "$python" -c 'import venv, ensurepip' || lack "venv of $python" python3-venv python
			works "$python" -m pip --version || lack "pip of $python" python3-pip python
		fi
	elif ! works "$python" --version; then
		lack "Python 3 ($python)" python3 python
	fi
	fetch_page=
	[ -n "${UI_MODULES:-}" ] && [ ! -f "$UI_MODULES" ] && fetch_page=yes
	[ -n "${TYPESCRIPT_MODULES:-}" ] && [ ! -f "$TYPESCRIPT_MODULES" ] && fetch_page=yes
	if { [ ! -f "${CLIENTS:-}/node/ready" ] || [ -n "$fetch_servers$fetch_page" ]; } && ! works npm --version; then
		lack npm npm node
	fi
	# Tests run the shell commands of docs/http-api.md, and keep a vault in git.
	works curl --version || lack curl curl curl
	works git --version || lack git git git
	# The database servers come from packages of npm, PyPI and Debian; setpriv ends them with the tests, ipcrm frees the
	# shared memory of those that tests kill, and a node that joins a Galera cluster calls lsof.
	if [ -n "$servers" ]; then
		works lsof -v || lack lsof lsof ""
		works setpriv --version && works ipcrm --version || lack "setpriv and ipcrm" util-linux ""
	fi
	if [ -n "$fetch_servers" ] && ! { works apt-get --version && works dpkg --version; }; then
		lack "apt-get and dpkg" "" ""
		databases=yes
	fi
fi

[ -z "$missing" ] && exit 0

{
	echo "make $target needs what is missing here: $missing"
	[ -n "$apt" ] && echo "  Debian, Ubuntu:  sudo apt install$apt"
	[ -n "$xcode" ] && echo "  macOS:           xcode-select --install"
	[ -n "$brew" ] && echo "  macOS:           brew install$brew"
	[ -n "$databases" ] && echo "  Databases:       use Debian 12, or set EVERLORE_TEST_POSTGRES and EVERLORE_TEST_MYSQL to the URLs of servers of your own"
	[ -n "$rust" ] && echo "  Rust:            install rustup (https://rustup.rs) and open a new shell; it takes the version in rust-toolchain.toml"
} >&2
exit 1
