#!/usr/bin/env bash
# Puts the browsers that the pages run in on a Debian machine, from its own packages; does nothing where they are.
set -euo pipefail

absent=()
command -v chromium >/dev/null || absent+=(chromium)
command -v firefox-esr >/dev/null || command -v firefox >/dev/null || absent+=(firefox-esr)
[ ${#absent[@]} -eq 0 ] && exit 0

root=()
[ "$(id -u)" -eq 0 ] || root=(sudo -n)
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get update -qq
"${root[@]}" apt-get install -y -qq --no-install-recommends "${absent[@]}" >/dev/null
