// Loopback HTTP: Dragoman beside a bare node:http server that answers the same, and beside the official server.
import { startChild, type Child } from './child.ts'
import type { Effort } from './effort.ts'
import { drive, sendOnce, type Load, type Plan } from './load.ts'
import {
  call,
  effect,
  eras,
  initializedText,
  initializeText,
  isSelfContained,
  list,
  requestHeaders,
  requestText,
  resultOf,
} from './messages.ts'
import type { Era, Question } from './messages.ts'
import type { Budget, Row } from './rows.ts'
import { median, medianRatio, rotated } from './stats.ts'

const budgets = {
  cpu: { of: 'ratio', bound: 'at most', value: 1.4 },
  throughput: { of: 'ratio', bound: 'at least', value: 0.85 },
} as const satisfies Record<string, Budget>
/** The budgets hold where the server has enough to do; one request at a time measures mostly the way there and back. */
const budgetedInFlight = 32

type Name = 'dragoman' | 'bare' | 'official'
const names: readonly Name[] = ['dragoman', 'bare', 'official']
type Servers = Readonly<Record<Name, Child>>

interface Case {
  readonly name: string
  readonly era: Era
  readonly question: Question
  readonly tools: number
  readonly inFlight: number
}

/** Measures all that `wanted` lets through, and calls `found` with the rows of each case. */
export async function benchHttp(
  effort: Effort,
  wanted: (name: string) => boolean,
  found: (rows: readonly Row[]) => void,
): Promise<void> {
  for (const tools of effort.tools) {
    const cases = casesOf(tools, effort).filter(({ name }) => wanted(name))
    if (cases.length === 0) continue
    const [dragoman, bare, official] = await Promise.all(names.map((name) => startChild(`http-${name}`, tools)))
    if (!dragoman || !bare || !official) throw new Error('A server is missing')
    const servers = { dragoman, bare, official }
    try {
      const sessions = await openSessions(servers, Math.max(...effort.inFlight))
      for (const one of cases) found(await measure(one, servers, sessions, effort))
    } finally {
      await Promise.all(Object.values(servers).map((server) => server.stop()))
    }
  }
}

function casesOf(tools: number, { inFlight }: Effort): readonly Case[] {
  return eras.flatMap((era) =>
    questions(tools).flatMap((question) =>
      inFlight.map((count) => ({
        name: `http / ${era} / ${question.what} of ${tools} / ${count} in flight`,
        era,
        question,
        tools,
        inFlight: count,
      })),
    ),
  )
}

/** What runs once costs more where it has to be kept; that is told once, since the number of tools plays no part in it. */
function questions(tools: number): readonly Question[] {
  return tools === 50 ? [call, effect, list] : [call, list]
}

type Sessions = ReadonlyMap<Era, Readonly<Record<Name, readonly string[]>>>

/** As many sessions on each server as requests are in flight at most: each stands for a client of its own. */
async function openSessions(servers: Servers, count: number): Promise<Sessions> {
  const sessions = new Map<Era, Record<Name, readonly string[]>>()
  for (const era of eras.filter((era) => !isSelfContained(era))) {
    const [dragoman, official] = await Promise.all(
      (['dragoman', 'official'] as const).map((name) =>
        Promise.all(Array.from({ length: count }, () => openSession(name, servers, era))),
      ),
    )
    // The bare server takes no notice of them, but gets to read as many bytes.
    if (dragoman && official) sessions.set(era, { dragoman, official, bare: dragoman })
  }
  return sessions
}

async function openSession(name: Name, servers: Servers, era: Era): Promise<string> {
  const { 'mcp-protocol-version': _, ...headers } = requestHeaders(era, list)
  const common = { port: servers[name].port, path: pathOf(name, era, list) }
  const verify: Plan['verify'] = ({ body }) => void resultOf(body)
  const opened = await sendOnce({ ...common, headers, body: initializeText(era), verify })
  const session = opened.headers.get('mcp-session-id')
  if (session === undefined) throw new Error(`${name} opened no session`)
  const accepted: Plan['verify'] = ({ status }) => {
    if (status !== 202) throw new Error(`${name} answered ${status} to initialized`)
  }
  await sendOnce({
    ...common,
    headers: requestHeaders(era, list, session),
    body: () => initializedText,
    verify: accepted,
  })
  return session
}

function pathOf(name: Name, era: Era, { what }: Question): string {
  if (name === 'bare') return encodeURI(`/${era}/${what}`)
  return name === 'official' && !isSelfContained(era) ? '/session' : '/mcp'
}

async function measure(one: Case, servers: Servers, sessions: Sessions, effort: Effort): Promise<readonly Row[]> {
  const plansOf = (name: Name): readonly Plan[] =>
    Array.from({ length: one.inFlight }, (_, index) => planOf(name, one, servers, sessions.get(one.era)?.[name][index]))
  await teach(servers.bare, one, plansOf('dragoman')[0])

  const loads: Record<Name, Load[]> = { dragoman: [], bare: [], official: [] }
  for (const name of names) {
    const kind = `${servers[name].port} ${pathOf('bare', one.era, one.question)}`
    await warmUp(plansOf(name), servers[name], kind, name === 'official' ? hurried(effort) : effort)
  }
  for (let round = 0; round < effort.rounds; round++) {
    for (const name of rotated(names, round)) {
      if (name === 'official' && round >= effort.rivalRounds) continue
      loads[name].push(await drive(plansOf(name), effort.windowMs, servers[name].cpu))
    }
  }
  return [
    toRow(one, 'server CPU', 'µs/request', loads, (load) => load.serverCpuMicros / load.requests, budgets.cpu),
    toRow(one, 'throughput', 'requests/s', loads, (load) => load.requests / load.seconds, budgets.throughput),
  ]
}

/** The official server gets a tenth of the time: it would use up all of it, and no budget hangs on it. */
function hurried(effort: Effort): Effort {
  return { ...effort, warmUp: { ...effort.warmUp, ms: effort.warmUp.ms / 10 } }
}

const warm = new Set<string>()

/**
 * Until its code is compiled a server takes several times as long, and that takes requests, however long they last. So
 * the first case of a kind on a server is warmed up for long, every other one for one round.
 */
async function warmUp(plans: readonly Plan[], server: Child, kind: string, effort: Effort): Promise<void> {
  const deadline = performance.now() + effort.warmUp.ms
  let requests = 0
  do requests += (await drive(plans, effort.windowMs, server.cpu)).requests
  while (!warm.has(kind) && requests < effort.warmUp.requests && performance.now() < deadline)
  warm.add(kind)
}

function planOf(name: Name, { era, question, tools }: Case, servers: Servers, session: string | undefined): Plan {
  return {
    port: servers[name].port,
    path: pathOf(name, era, question),
    headers: requestHeaders(era, question, session),
    body: requestText(era, question),
    verify: ({ body }) => void resultOf(body, tools),
  }
}

/** Has the bare server answer what Dragoman answers: calls stringified each time, lists as bytes that are ready. */
async function teach(bare: Child, { era, question }: Case, plan: Plan | undefined): Promise<void> {
  if (!plan) throw new Error('Nothing to ask')
  const { body } = await sendOnce(plan)
  const result = resultOf(body)
  const path = pathOf('bare', era, question)
  bare.tell(question.method === 'tools/list' ? { path, text: JSON.stringify(result) } : { path, result })
}

function toRow(
  { name, inFlight }: Case,
  what: string,
  unit: string,
  loads: Readonly<Record<Name, readonly Load[]>>,
  figure: (load: Load) => number,
  budget: Budget,
): Row {
  const dragoman = loads.dragoman.map(figure)
  const bare = loads.bare.map(figure)
  const official = loads.official.map(figure)
  return {
    name: `${name} / ${what}`,
    unit,
    measured: median(dragoman),
    baseline: median(bare),
    ratio: medianRatio(dragoman, bare),
    ...(inFlight === budgetedInFlight && { budget }),
    rival: { measured: median(official), ratio: medianRatio(official, bare.slice(0, official.length)) },
  }
}
