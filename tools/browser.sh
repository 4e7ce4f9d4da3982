#!/bin/sh
# Makes sure that the page tests find Chromium: installs Debian's package where that is possible, and otherwise says what
# to do. CHROMIUM names another program.
set -u

found() {
	[ -n "${CHROMIUM:-}" ] && [ -x "$CHROMIUM" ] && return 0
	for program in chromium chromium-browser google-chrome; do
		[ -x "/usr/bin/$program" ] && return 0
	done
	return 1
}

install() {
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y --no-install-recommends "$1" >/dev/null 2>&1 ||
		{ apt-get update && apt-get install -y --no-install-recommends "$1"; } >/dev/null 2>&1
}

if ! found; then
	echo "installing Chromium for the page tests"
	install chromium
fi
# Pictures of Chinese pages need a font; tests do not.
if [ "${1:-}" = fonts ] && found && [ -z "$(fc-list :lang=zh 2>/dev/null)" ]; then
	install fonts-noto-cjk || echo "there is no Chinese font: the pictures lack it" >&2
fi
found && exit 0

{
	echo "the page tests need Chromium, and it is missing here"
	echo "  Debian, Ubuntu:  sudo apt install chromium"
	echo "  elsewhere:       install Chromium or Chrome and name the program in CHROMIUM"
} >&2
exit 1
