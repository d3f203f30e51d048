#!/usr/bin/env bash
# Puts the servers of the contenders redis and nats on a Debian machine; does nothing where both are. The benchmark starts its own, and stores nothing.
set -euo pipefail

command -v redis-server >/dev/null && command -v nats-server >/dev/null && exit 0

root=()
[ "$(id -u)" -eq 0 ] || root=(sudo -n)
export DEBIAN_FRONTEND=noninteractive
"${root[@]}" apt-get update -qq
"${root[@]}" apt-get install -y -qq --no-install-recommends redis-server nats-server >/dev/null
