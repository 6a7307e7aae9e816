#!/usr/bin/env bash
# Defends: what takes too long for every push. Run by hand before a release: every gate, the tests on other versions of Node,
# coverage, benchmarks. The other versions come from the npm package `node` and are kept in .cache.
set -euo pipefail
cd "$(dirname "$0")/.."

bash .ci/run

for major in 22 24; do
  home=.cache/node-$major
  [ -x "$home/node_modules/.bin/node" ] || npm install --no-audit --no-fund --no-save --prefix "$home" "node@$major"
  printf '\n=== npm test on Node %s\n' "$("$home/node_modules/.bin/node" --version)"
  PATH="$PWD/$home/node_modules/.bin:$PATH" "$home/node_modules/.bin/node" --import tsx tools/test.ts
done

printf '\n=== coverage of src/\n'
npx --no-install c8 --include 'src/**' --reporter text-summary --reporter html node --import tsx tools/test.ts

printf '\n=== benchmarks\n'
npm run -s bench
