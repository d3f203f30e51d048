#!/usr/bin/env bash
# Puts the C compiler that `npm run native` needs on a Debian machine; does nothing where there is one that compiles.
set -euo pipefail

echo '#include <sys/mman.h>' | cc -x c -fsyntax-only - 2>/dev/null && exit 0

root=()
[ "$(id -u)" -eq 0 ] || root=(sudo -n)
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get update -qq
"${root[@]}" apt-get install -y -qq --no-install-recommends gcc libc6-dev >/dev/null
