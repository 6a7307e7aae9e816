// What middleware costs: calls over loopback HTTP to a server with all that is shipped, to one with an empty list of it,
// and to one that traces, beside one that was told nothing.
import { startChild, type Child } from './child.ts'
import type { Effort } from './effort.ts'
import { drive, type Load, type Plan } from './load.ts'
import { call, requestHeaders, requestText, resultOf } from './messages.ts'
import type { Row } from './rows.ts'
import { median, medianRatio, rotated } from './stats.ts'

const era = '2026-07-28'
const tools = 50
const inFlight = 32

const cases = [
  { name: 'middleware / all that is shipped / server CPU', child: 'http-middleware', budget: 1.15 },
  // Nothing is measured by this but how far two equal servers are apart in one run.
  { name: 'middleware / none / server CPU', child: 'http-no-middleware', budget: 1.05 },
  // For comparison: most of it is spent in OpenTelemetry's SDK.
  { name: 'middleware / telemetry with a tracer / server CPU', child: 'http-traced', budget: undefined },
] as const

/** Measures all that `wanted` lets through, and calls `found` with the row of each case. */
export async function benchMiddleware(
  effort: Effort,
  wanted: (name: string) => boolean,
  found: (rows: readonly Row[]) => void,
): Promise<void> {
  for (const { name, child, budget } of cases.filter((one) => wanted(one.name))) {
    const pair = await Promise.all([startChild(child, tools), startChild('http-dragoman', tools)])
    try {
      const [measured, baseline] = await alternate(pair, effort)
      const ratio = medianRatio(measured, baseline)
      const budgetOf = budget === undefined ? {} : { budget: { of: 'ratio', bound: 'at most', value: budget } as const }
      found([{ name, unit: 'µs/request', measured: median(measured), baseline: median(baseline), ratio, ...budgetOf }])
    } finally {
      await Promise.all(pair.map((server) => server.stop()))
    }
  }
}

/** Microseconds of CPU per request of both servers, by round; each round starts with the other one. */
async function alternate(pair: readonly [Child, Child], effort: Effort): Promise<readonly [number[], number[]]> {
  const figures: [number[], number[]] = [[], []]
  for (const server of pair) {
    let requests = 0
    while (requests < effort.warmUp.requests)
      requests += (await drive(plansFor(server), effort.windowMs, server.cpu)).requests
  }
  for (let round = 0; round < effort.rounds * 4; round++) {
    for (const at of rotated([0, 1] as const, round)) {
      figures[at].push(perRequest(await drive(plansFor(pair[at]), effort.windowMs, pair[at].cpu)))
    }
  }
  return figures
}

function perRequest({ serverCpuMicros, requests }: Load): number {
  return serverCpuMicros / requests
}

function plansFor({ port }: Child): readonly Plan[] {
  const plan: Plan = {
    port,
    path: '/mcp',
    headers: requestHeaders(era, call),
    body: requestText(era, call),
    verify: ({ body }) => void resultOf(body, tools),
  }
  return Array.from({ length: inFlight }, () => plan)
}
