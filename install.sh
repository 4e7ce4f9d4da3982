#!/bin/sh
# Installs the program `everlore` from a release, and only if its checksum is right:
#
#   curl -fsSL https://raw.githubusercontent.com/everlore/everlore/main/install.sh | sh
#   sh install.sh [--version 0.2.0] [--prefix ~/.local] [--from URL]
#
# EVERLORE_VERSION, EVERLORE_PREFIX and EVERLORE_RELEASES say the same. The program goes to PREFIX/bin; nothing else is
# written, nothing is run as another user, and no shell file is changed. docs/install.md has the other ways.
set -eu

releases=${EVERLORE_RELEASES:-https://github.com/everlore/everlore/releases}
version=${EVERLORE_VERSION:-latest}
prefix=${EVERLORE_PREFIX:-${HOME:-}/.local}

fail() {
	echo "install.sh: $1" >&2
	[ -z "${2:-}" ] || echo "  $2" >&2
	exit 1
}

usage() {
	echo "usage: install.sh [--version VERSION] [--prefix FOLDER] [--from URL]"
}

read_arguments() {
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) usage && exit 0 ;;
		--version | --prefix | --from) [ $# -gt 1 ] || fail "$1 needs a value" "$(usage)" ;;
		*) fail "unknown argument: $1" "$(usage)" ;;
		esac
		case $1 in
		--version) version=${2#v} ;;
		--prefix) prefix=$2 ;;
		--from) releases=${2%/} ;;
		esac
		shift 2
	done
}

# Names the system as the files of a release do.
system_name() {
	case $(uname -sm) in
	"Linux x86_64" | "Linux amd64") echo x86_64-linux ;;
	"Linux aarch64" | "Linux arm64") echo aarch64-linux ;;
	"Darwin arm64") echo aarch64-macos ;;
	"Darwin x86_64") echo x86_64-macos ;;
	*) fail "there is no program for $(uname -sm)" "build it: docs/install.md of the source says how" ;;
	esac
}

# Only this machine may be asked without TLS.
check_address() {
	case $releases in
	https://* | http://127.0.0.1[:/]* | http://localhost[:/]* | http://\[::1\][:/]*) ;;
	*) fail "not a safe address: $releases" "use one that begins with https://" ;;
	esac
}

# download URL FILE
download() {
	if command -v curl >/dev/null 2>&1; then
		curl --fail --silent --show-error --location --proto '=https,http' --proto-redir '=https' --retry 2 --output "$2" "$1"
	elif command -v wget >/dev/null 2>&1; then
		wget --quiet --output-document "$2" "$1"
	else
		fail "curl or wget is needed"
	fi || fail "cannot download $1" "check the version and the network; nothing was installed"
}

sha256_of() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1"
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 "$1"
	else
		fail "sha256sum or shasum is needed to verify the download"
	fi | cut -d ' ' -f 1
}

# Prints "CHECKSUM NAME" of the archive for this system.
listed_archive() {
	while read -r sum name; do
		case ${name#\*} in
		*/*) ;;
		everlore-*-"$1".tar.gz) echo "$sum ${name#\*}" && return ;;
		esac
	done <"$work/SHA256SUMS"
	fail "the release has no program for $1" "build it: docs/install.md of the source says how"
}

verify() {
	found=$(sha256_of "$work/$1")
	[ "$found" = "$2" ] || fail "the checksum of $1 is wrong; nothing was installed" "expected $2, found ${found:-none}"
}

write_program() {
	mkdir -p "$1" && cp "$program" "$1/.everlore.new" && chmod 755 "$1/.everlore.new" && mv -f "$1/.everlore.new" "$1/everlore"
}

# The new program replaces the old one in one step, after it has shown that it runs here.
place() {
	tar -xzf "$work/$1" -C "$work" || fail "cannot unpack $1; nothing was installed"
	program=$work/${1%.tar.gz}/everlore
	shown=$("$program" --version) || fail "the program does not run on this system; nothing was installed"
	write_program "$prefix/bin" || fail "cannot write to $prefix/bin" "name another folder with --prefix"
	echo "installed $shown: $prefix/bin/everlore"
}

next_step() {
	case :$PATH: in
	*:"$prefix/bin":*) echo "try it: everlore demo" ;;
	*) echo "put it on your path: export PATH=\"$prefix/bin:\$PATH\"    then: everlore demo" ;;
	esac
}

main() {
	read_arguments "$@"
	check_address
	[ "$prefix" != /.local ] || fail "HOME is not set" "name a folder with --prefix"
	system=$(system_name)
	case $version in latest) place_url=$releases/latest/download ;; *) place_url=$releases/download/v${version#v} ;; esac
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	download "$place_url/SHA256SUMS" "$work/SHA256SUMS"
	archive=$(listed_archive "$system")
	download "$place_url/${archive#* }" "$work/${archive#* }"
	verify "${archive#* }" "${archive%% *}"
	place "${archive#* }"
	next_step
}

# All of it is read before anything runs: a download of this script that breaks off does nothing.
main "$@"
