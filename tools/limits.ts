// Defends: docs/limits.md says what holds. It is printed from the code, by hand with
//   node --import tsx tools/limits.ts
// and compared with it by a test.
import { readFileSync, writeFileSync } from 'node:fs'
import { defaultCaps } from '../src/wire/caps.ts'

/** Where the page is. */
export const limitsFile = 'docs/limits.md'

/** Options beside the caps that bound something, by the file and interface they stand in. */
const options: readonly (readonly [title: string, file: string, names: readonly string[]])[] = [
  [
    'Every HTTP endpoint',
    'src/transport/serve/http-types.ts',
    ['keepAliveMs', 'keepEventsMs', 'maxEvents', 'sessionIdleMs', 'maxSessions'],
  ],
  ['`serveHttp`', 'src/transport/serve/node.ts', ['maxConnections']],
  ['`serveSocket`', 'src/transport/serve/socket.ts', ['graceMs', 'maxConnections']],
  ['`serveStdio`', 'src/transport/serve/stdio.ts', ['graceMs']],
  ['Every door', 'src/defaults.ts', ['askTimeoutMs']],
  ['`createServer`', 'src/server/server.ts', ['pageSize', 'stateTtlMs', 'maxRounds']],
  [
    '`createServer`, `tasks`',
    'src/durable/tasks.ts',
    ['ttlMs', 'maxTtlMs', 'leaseMs', 'maxPerOwner', 'maxAnonymous', 'maxRunning'],
  ],
]

/** Bounds that are no option: the constant, where it stands, and what it bounds. */
const fixed: readonly (readonly [name: string, file: string, what: string])[] = [
  ['maxKeyLength', 'src/server/once.ts', 'Characters of an idempotency key; a longer one is MalformedParams.'],
  [
    'maxValues',
    'src/server/methods/completion.ts',
    'Values of one completion (specification, "Completion"); more are left out, with `hasMore`.',
  ],
  ['maxTasks', 'src/server/listen-tasks.ts', 'Tasks that one `subscriptions/listen` names; more are MalformedParams.'],
  ['maxStored', 'src/durable/sessions.ts', 'Sessions that were changed of which a store knows; the oldest gives way.'],
  [
    'maxTombstones',
    'src/durable/sessions.ts',
    'Sessions that were deleted of which one process knows without asking its store.',
  ],
  ['maxSteps', 'src/durable/steps.ts', 'Results of steps in a store; the oldest gives way.'],
  [
    'maxSpilled',
    'src/durable/flow.ts',
    'Request states in a store, being too long to be sealed into their text; the oldest gives way.',
  ],
  [
    'maxAsks',
    'src/transport/serve/http-sessions.ts',
    'Questions of all processes whose answers any process takes in; for those over it only the one that asked.',
  ],
]

/** The value of a constant, as digits. */
function valueOf(name: string, file: string): string {
  const [, value] = new RegExp(`^const ${name} = ([\\d_]+)$`, 'm').exec(readFileSync(file, 'utf8')) ?? []
  if (value === undefined) throw new Error(`${file} has no number ${name}`)
  return Number(value.replaceAll('_', '')).toLocaleString('en')
}

/** The doc comment of the member `name` of `text`, on one line. */
function docOf(text: string, name: string): string {
  const member = text.indexOf(`  readonly ${name}`)
  const start = text.lastIndexOf('/**', member)
  const doc = text.slice(start + 3, text.lastIndexOf('*/', member))
  if (member < 0 || start < 0) throw new Error(`nothing says what ${name} means`)
  return doc.replaceAll(/\s*\n\s*\* ?/g, ' ').trim()
}

/** The page. */
export function limitsPage(): string {
  const caps = readFileSync('src/wire/caps.ts', 'utf8')
  const rows = Object.entries(defaultCaps).map(
    ([name, value]) => `| \`${name}\` | ${value.toLocaleString('en')} | ${docOf(caps, name)} |`,
  )
  const others = options.flatMap(([title, file, names]) => {
    const text = readFileSync(file, 'utf8')
    return ['', `**${title}**`, '', ...names.map((name) => `- \`${name}\`: ${docOf(text, name)}`)]
  })
  const bounds = fixed.map(([name, file, what]) => `| ${valueOf(name, file)} | ${what} |`)
  return `${before}\n\n| cap | default | what it bounds |\n| --- | --- | --- |\n${rows.join('\n')}\n\n${between}\n${others.join('\n')}\n\n${besides}\n\n| at most | of what |\n| --- | --- |\n${bounds.join('\n')}\n\n${after}\n`
}

const before = `# Limits

Whatever a peer may send, hold open or take its time over has a cap with a name. The option \`caps\` of every door changes
any of them: \`serveHttp(server, { caps: { maxMessageBytes: 1_000_000 } })\`. This page is printed from the code
(\`node --import tsx tools/limits.ts\`).`

const between = `Other options bound how long things are kept, and how many:`

const besides = `What nobody has had to change yet is no option:`

const after = `What happens at a cap:

- A message over a cap of its own is refused without being handled: \`BodyTooLarge\` (413) by its bytes, \`InvalidRequest\`
  (400) by depth, keys, values or batch length. Its id is not read, so the refusal carries none. The connection goes on:
  of a body the rest is thrown away, up to 64 MiB; of a line all of it.
- A head over a cap is refused with 431. Node itself refuses one that is too long; one with too many headers is refused
  whole, since a header that is dropped could be the \`Origin\`.
- More at once than a cap allows is refused with \`Overloaded\` (503, \`Retry-After: 1\`). Nothing that runs is given up for
  something new; connections over \`maxConnections\` are closed at once.
- Whoever is slow is cut off: the connection is closed, and on HTTP a slow request is told so (408) where that is still
  possible. A connection on stdio is cut off only for \`maxUnreadBytes\`: whoever started the process may stop to think.
- One \`subscriptions/listen\` that names more resources than \`maxSubscriptions\` is \`MalformedParams\`: it would have no
  room later either.
- Of what one \`subscriptions/listen\` names, the first 131,072 characters of URIs are looked for; the acknowledgement
  says what is listened to. A URI of more than 8,192 characters is one of no template.
- \`nodeHandler\` runs behind a server that is yours, so the time that heads and bodies may take, the length of heads and
  the number of connections are for that server to bound (\`headersTimeout\`, \`requestTimeout\`, \`maxHeaderSize\`,
  \`maxConnections\`); the same goes for the runtime under \`fetchHandler\`, except for the time of bodies, which is kept
  here.
- In each message, a key that stands twice at depth 1 to 3 (the message, \`params\`, \`_meta\` and \`arguments\`), bytes that are
  no UTF-8, and a byte order mark are refused.`

if (process.argv[1]?.endsWith('limits.ts')) writeFileSync(limitsFile, limitsPage())
