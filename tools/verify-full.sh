#!/usr/bin/env bash
# Defends: what takes too long for every push. Run by hand before a release: every gate, the tests on other versions of Node,
# coverage, other runtimes, fuzzing, a soak, mutations, benchmarks. What is not among the dependencies comes from npm and is
# kept in .cache.
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

printf '\n=== the fetch handler on workerd, Bun and Deno\n'
npm run -s runtimes

printf '\n=== fuzzing, ten minutes\n'
npm run -s fuzz -- --seconds 600

printf '\n=== soak\n'
npm run -s soak

printf '\n=== mutations of the refusals, the order of checks and visibility\n'
npm run -s mutation

printf '\n=== whether time tells hidden from absent\n'
node --expose-gc --import tsx bench/hidden-timing.ts

printf '\n=== benchmarks\n'
npm run -s bench
