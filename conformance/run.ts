// Defends: the server passes the official conformance suite in every revision, with no failure, no warning and no check gone missing.
//   npm run conformance                 every leg
//   npm run conformance -- pinned       the legs whose name contains one of these
//   npm run conformance -- --update     rewrite conformance/expected-checks
//   npm run conformance -- --fixture 'COMMAND'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { startFixture } from '../tools/fixture.ts'
import { differences, judge, type Check } from './judge.ts'
import { runServerScenarios, statefulScenarios, type Run } from './suite.ts'

interface Leg {
  readonly name: string
  readonly pin?: string
  readonly run: (url: string) => Promise<Run>
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { update: { type: 'boolean' }, fixture: { type: 'string', default: 'npm run -s fixture:conformance --' } },
})

const legs: readonly Leg[] = [
  // Every scenario there is, each on the newest revision that it knows; the only leg with all of the extensions.
  { name: 'suite', run: (url: string) => runServerScenarios(url, ['--suite', 'all']) },
  ...['2025-11-25', '2026-07-28'].map((revision) => ({
    name: `required-${revision}`,
    run: (url: string) => runServerScenarios(url, ['--requirements', revision]),
  })),
  ...['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'].map((revision) => ({
    name: `all-${revision}`,
    run: (url: string) => runServerScenarios(url, ['--suite', 'all', '--spec-version', revision]),
  })),
  // The suite knows no server that only speaks an old revision, so each scenario is forced on one.
  ...['2024-11-05', '2025-03-26', '2025-06-18'].map((pin) => ({
    name: `pinned-${pin}`,
    pin,
    run: (url: string) => runEach(url, ['--spec-version', pin < '2025-03-26' ? '2025-03-26' : pin, '--force']),
  })),
]

const chosen = legs.filter(({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)))
let failed = chosen.length === 0
console.log('leg                    scenarios  checks  seconds')
for (const { name, pin, run } of chosen) {
  const started = Date.now()
  await using fixture = await startFixture(values.fixture, pin === undefined ? [] : ['--pin', pin])
  fixture.url.hostname = 'localhost' // the suite takes no other
  const { results, output } = await run(fixture.url.href)
  const { scenarios, successes, faults } = judge(results, pin)
  const list = `conformance/expected-checks/${name}.txt`
  if (values.update) writeFileSync(list, successes.map((line) => `${line}\n`).join(''))
  const expected = existsSync(list) ? readFileSync(list, 'utf8').split('\n').filter(Boolean) : undefined
  const all = [...faults, ...differences(expected, successes)]
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  console.log(
    `${name.padEnd(22)} ${String(scenarios).padStart(9)} ${String(successes.length).padStart(7)} ${seconds.padStart(8)}`,
  )
  for (const fault of all) console.log(`  FAIL ${fault}`)
  if (scenarios === 0) console.log(output)
  if (all.length > 0 || scenarios === 0) failed = true
}
console.log(failed ? '\nThe official suite is not passed.' : '\nThe official suite is passed.')
process.exit(failed ? 1 : 0)

/** Runs every stateful scenario in a process of its own, as the suite asks for with `--force`. */
async function runEach(url: string, options: readonly string[]): Promise<Run> {
  const waiting = [...(await statefulScenarios())]
  const results = new Map<string, readonly Check[]>()
  const outputs: string[] = []
  const worker = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      const run = await runServerScenarios(url, ['--scenario', scenario, ...options])
      results.set(scenario, run.results.get(scenario) ?? [])
      outputs.push(run.output)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return { output: outputs.join('\n'), results }
}
