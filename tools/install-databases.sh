#!/usr/bin/env bash
# Defends: no store goes untested for want of its database. Installs Redis and PostgreSQL where they are missing (Debian, Ubuntu).
set -euo pipefail

missing=()
command -v redis-server valkey-server > /dev/null || missing+=(redis-server)
command -v postgres > /dev/null || compgen -G '/usr/lib/postgresql/*/bin/postgres' > /dev/null || missing+=(postgresql)
if [ ${#missing[@]} -eq 0 ]; then
  echo 'Redis and PostgreSQL are there.'
  exit 0
fi

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends "${missing[@]}"
