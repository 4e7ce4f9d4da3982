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

found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing Chromium for the page tests"
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y --no-install-recommends chromium >/dev/null 2>&1 ||
		{ apt-get update && apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1
fi
found && exit 0

{
	echo "the page tests need Chromium, and it is missing here"
	echo "  Debian, Ubuntu:  sudo apt install chromium"
	echo "  elsewhere:       install Chromium or Chrome and name the program in CHROMIUM"
} >&2
exit 1
