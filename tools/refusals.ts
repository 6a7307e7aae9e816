// Defends: docs/refusals.md says what the table says. It is printed from the code, by hand with
//   node --import tsx tools/refusals.ts
// and compared with it by a test.
import { writeFileSync } from 'node:fs'
import { createCodecs } from '../src/codec/registry.ts'
import type { RefusalProfile, WireCode } from '../src/codec/codec.ts'
import type { RefusalKind } from '../src/model/refusal.ts'
import { neverSent, refusals } from '../src/refusals.ts'

/** Where the page is. */
export const refusalsFile = 'docs/refusals.md'

const codecs = createCodecs()
const kinds = Object.keys(refusals) as RefusalKind[]

function cell({ code, status, asResult }: WireCode): string {
  if (asResult) return 'result'
  return status === 200 ? String(code) : `${code}, ${status}`
}

/** What a kind is for the revisions of a lifecycle; where they differ, from which on. */
function cellFor(kind: RefusalKind, lifecycle: 'session' | 'request', profile: RefusalProfile): string {
  const said = codecs.all
    .filter((codec) => codec.lifecycle === lifecycle)
    .toSorted((one, other) => (one.revision < other.revision ? -1 : 1))
    .map((codec) => ({ revision: codec.revision, text: cell(codec.codeOf(kind, profile)) }))
  const changes = said.filter(({ text }, at) => said[at - 1]?.text !== text)
  return changes.map(({ revision, text }, at) => (at === 0 ? text : `from ${revision} ${text}`)).join('; ')
}

/** The page. */
export function refusalsPage(): string {
  const rows = kinds.map((kind) => {
    const spec = cellFor(kind, 'session', 'spec')
    const application = cellFor(kind, 'session', 'application')
    const cells = [
      `\`${kind}\``,
      cellFor(kind, 'request', 'spec'),
      spec,
      application === spec ? '=' : application,
      refusals[kind].message,
    ]
    return `| ${cells.join(' | ')} |`
  })
  return `${before}\n\n| kind | stands alone | session, \`spec\` | session, \`application\` | message |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n\n${after}\n`
}

const before = `# Refusals

Every way in which a request can be refused, and what the peer is told: one table for all transports, printed from the
code (\`node --import tsx tools/refusals.ts\`). \`stands alone\` is 2026-07-28; \`session\` is every revision with a handshake.
A code without a status is sent with 200; \`result\` is a tool result with \`isError\`, which the model can act on, and an
error with -32602 or -32603 for any method that is not \`tools/call\`.`

const after = `- The option \`refusals: 'application'\` of a door gives peers with a handshake the codes that applications define. No
  profile sends a code that its revision forbids: -32020 to -32022 never reach a session, since they would tell a client
  that speaks both that it met a server without handshake. ${neverSent} is declared by some libraries for unknown tools;
  it is never sent.
- Messages are fixed: nothing of what a peer sent is in them. Only \`HandlerFailed\`, \`InvalidArguments\` and
  \`UrlElicitationRequired\` carry words, those of the handler or of the check. Stacks never leave.
- \`data\` is there where the revision asks for it: \`requested\` and \`supported\` of \`UnsupportedVersion\`,
  \`requiredCapabilities\` (an object keyed like capabilities) of \`MissingClientCapability\` and \`NotCallable\`, \`uri\` of
  \`UnknownResource\`, \`since\` of \`OutcomeUnknown\` (and \`ended: true\` where the call ran to its end, but what it came
  to is not kept any more), \`elicitations\` of \`UrlElicitationRequired\`.
- A transport's own refusals are JSON-RPC errors too, without an id. \`RateLimited\` and \`Overloaded\` come with
  \`Retry-After\`. Once a stream has begun, a refusal travels on it.
- What still runs in a session when that is ended is answered with \`OutcomeUnknown\`, without \`since\`.
- What is hidden from the caller is refused with the bytes of what does not exist. \`UnassignedResource\` and
  \`UnassignedPrompt\`, listed but with nothing behind them, are told like \`Unknown…\`, except in \`application\`.

In code: \`import { refusals, toWire, fromWire } from 'dragoman/refusals'\`. Which of several faults is told is a matter of
[the order of checks](order-of-checks.md).`

if (process.argv[1]?.endsWith('refusals.ts')) writeFileSync(refusalsFile, refusalsPage())
