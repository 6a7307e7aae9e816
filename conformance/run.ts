// Defends: server and client pass the official conformance suite in every revision, with no failure, no warning and no check gone missing.
//   npm run conformance                 every leg
//   npm run conformance -- pinned       the legs whose name contains one of these
//   npm run conformance -- --update     rewrite conformance/expected-checks
//   npm run conformance -- --fixture 'COMMAND' --client 'COMMAND'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { startFixture } from '../tools/fixture.ts'
import { differences, judge, type Check } from './judge.ts'
import { runClientScenario, runServerScenarios, scenariosFor, type Run, type Scenario } from './suite.ts'

interface Leg {
  readonly name: string
  /** The only revision that the server speaks, where it is pinned. */
  readonly pin?: string
  readonly run: () => Promise<Run>
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    update: { type: 'boolean' },
    fixture: { type: 'string', default: 'npm run -s fixture:conformance --' },
    client: { type: 'string', default: 'node tools/run.mjs fixtures/conformance-client.ts' },
  },
})

/** A leg against the server of our own. */
function serverLeg(name: string, run: (url: string) => Promise<Run>, pin?: string): Leg {
  return {
    name,
    ...(pin !== undefined && { pin }),
    async run() {
      await using fixture = await startFixture(values.fixture, pin === undefined ? [] : ['--pin', pin])
      fixture.url.hostname = 'localhost' // the suite takes no other
      return await run(fixture.url.href) // the fixture is let go of only then
    },
  }
}

const legs: readonly Leg[] = [
  // Every scenario there is, each on the newest revision that it knows; the only leg with all of the extensions.
  serverLeg('suite', (url) => runServerScenarios(url, ['--suite', 'all'])),
  ...['2025-11-25', '2026-07-28'].map((revision) =>
    serverLeg(`required-${revision}`, (url) => runServerScenarios(url, ['--requirements', revision])),
  ),
  ...['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'].map((revision) =>
    serverLeg(`all-${revision}`, (url) => runServerScenarios(url, ['--suite', 'all', '--spec-version', revision])),
  ),
  // The suite knows no server that only speaks an old revision, so each scenario is forced on one.
  ...['2024-11-05', '2025-03-26', '2025-06-18'].map((pin) => {
    const options = ['--spec-version', pin < '2025-03-26' ? '2025-03-26' : pin, '--force']
    return serverLeg(
      `pinned-${pin}`,
      async (url) =>
        runEach(await stateful(), (scenario) => runServerScenarios(url, ['--scenario', scenario, ...options])),
      pin,
    )
  }),
  // The suite starts all clients at once, which is too much for a small machine, so each scenario runs by itself.
  ...['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'].map((revision) => ({
    name: `client-${revision}`,
    run: async () =>
      runEach(await clientScenarios(({ revisions }) => revisions.includes(revision)), (scenario) =>
        runClientScenario(values.client, scenario, ['--spec-version', revision]),
      ),
  })),
  {
    name: 'client-extensions',
    run: async () =>
      runEach(await clientScenarios(({ revisions }) => revisions.length === 0), (scenario) =>
        runClientScenario(values.client, scenario, []),
      ),
  },
]

const chosen = legs.filter(({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)))
let failed = chosen.length === 0
console.log('leg                    scenarios  checks  seconds')
for (const { name, pin, run } of chosen) {
  const started = Date.now()
  const { results, output } = await run()
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

/** The server scenarios that speak a revision with a handshake. */
async function stateful(): Promise<readonly string[]> {
  const all = await scenariosFor('server')
  return all.filter(({ revisions }) => revisions.some((one) => one.startsWith('2025'))).map(({ name }) => name)
}

async function clientScenarios(wanted: (scenario: Scenario) => boolean): Promise<readonly string[]> {
  return (await scenariosFor('client')).filter(wanted).map(({ name }) => name)
}

/** Runs scenarios in processes of their own, as many at a time as there are processors. */
async function runEach(scenarios: readonly string[], run: (scenario: string) => Promise<Run>): Promise<Run> {
  const waiting = [...scenarios]
  const results = new Map<string, readonly Check[]>()
  const outputs: string[] = []
  const worker = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      const { output, results: found } = await run(scenario)
      results.set(scenario, found.get(scenario) ?? [])
      outputs.push(output)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return { output: outputs.join('\n'), results }
}
