#!/usr/bin/env bash
# Puts the browsers that the pages run in on a Debian machine, from its own packages; does nothing where they are.
set -euo pipefail

absent=()
command -v chromium >/dev/null || absent+=(chromium)
command -v firefox-esr >/dev/null || command -v firefox >/dev/null || absent+=(firefox-esr)
# MiniBrowser is in WebKitGTK's library itself, not in webkit2gtk-driver, which has the WebDriver that no page needs.
compgen -G '/usr/lib/*/webkit2gtk-4.1/MiniBrowser' >/dev/null || absent+=(libwebkit2gtk-4.1-0)
command -v Xvfb >/dev/null || absent+=(xvfb)
# Firefox and WebKit make no sound where there is no device for it.
command -v pulseaudio >/dev/null || absent+=(pulseaudio)
[ ${#absent[@]} -eq 0 ] && exit 0

root=()
[ "$(id -u)" -eq 0 ] || root=(sudo -n)
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get update -qq
"${root[@]}" apt-get install -y -qq --no-install-recommends "${absent[@]}" >/dev/null
