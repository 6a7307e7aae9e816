// A request over HTTP that fails in two ways at once is refused for the first of them, in the order of
// docs/order-of-checks.md: everything that comes before the peer, and the peer's first check.
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, test } from 'node:test'
import { Refusal, serveHttp } from '../../src/index.ts'
import type { HttpServer } from '../../src/index.ts'
import { headersFor } from './doors.ts'
import { modernCall, target, text } from './requests.ts'

/** A request while it is being spoiled. */
interface Draft {
  path: string
  method: string
  headers: Record<string, string>
  /** Edits of the body's text, in the order of the faults; what makes it no JSON comes last. */
  body: string
}

interface Fault {
  readonly name: string
  readonly status: number
  readonly code?: number
  spoil(draft: Draft): void
}

const inOrder: readonly Fault[] = [
  {
    name: 'too many headers',
    status: 431,
    spoil: ({ headers }) => Array.from({ length: 40 }, (_, at) => (headers[`x-${at}`] = '1')),
  },
  { name: 'foreign Host', status: 403, spoil: ({ headers }) => (headers['host'] = 'evil.example') },
  { name: 'foreign Origin', status: 403, spoil: ({ headers }) => (headers['origin'] = 'https://evil.example') },
  { name: 'another path', status: 404, spoil: (draft) => (draft.path = '/messages') },
  { name: 'another method', status: 405, spoil: (draft) => (draft.method = 'PUT') },
  { name: 'no credentials', status: 401, spoil: ({ headers }) => delete headers['authorization'] },
  { name: 'another type', status: 415, spoil: ({ headers }) => (headers['content-type'] = 'text/plain') },
  { name: 'nothing acceptable', status: 406, spoil: ({ headers }) => (headers['accept'] = 'text/html') },
  {
    name: 'too large',
    status: 413,
    spoil: (draft) => (draft.body = draft.body.replace('"pad":""', `"pad":"${'x'.repeat(5_000)}"`)),
  },
  {
    name: 'not UTF-8',
    status: 400,
    code: -32700,
    spoil: (draft) => (draft.body = draft.body.replace('"é"', '"\xff"')),
  },
  {
    name: 'too deep',
    status: 400,
    code: -32600,
    spoil: (draft) => (draft.body = draft.body.replace('"deep":0', `"deep":${'['.repeat(20)}${']'.repeat(20)}`)),
  },
  { name: 'not JSON', status: 400, code: -32700, spoil: (draft) => (draft.body += '}') },
  {
    name: 'a key twice',
    status: 400,
    code: -32600,
    spoil: (draft) => (draft.body = draft.body.replace('"id"', '"id":0,"id"')),
  },
  {
    name: 'no envelope',
    status: 400,
    code: -32600,
    spoil: (draft) => (draft.body = draft.body.replace('"jsonrpc":"2.0"', '"jsonrpc":"1.0"')),
  },
  {
    name: 'a header unlike the body',
    status: 400,
    code: -32020,
    spoil: ({ headers }) => (headers['mcp-protocol-version'] = '2031-01-01'),
  },
]

let http: HttpServer
before(async () => {
  http = await serveHttp(target().server, {
    caps: { maxHeaders: 30, maxMessageBytes: 4_000, maxDepth: 16 },
    authenticate: (request) =>
      request.header('authorization') === undefined ? new Refusal('Unauthenticated') : { id: 'ada', scopes: new Set() },
  })
})
after(() => http.close({ graceMs: 0 }))

async function answered(faults: readonly Fault[]): Promise<{ status: number; code: number | undefined; said: string }> {
  const body = text(modernCall(1, 'echo', { pad: '', e: 'é', deep: 0 }))
  const draft: Draft = {
    path: '/mcp',
    method: 'POST',
    headers: { ...headersFor(body, undefined), authorization: 'Bearer ada' },
    body,
  }
  for (const { spoil } of faults) spoil(draft)
  const bytes = Buffer.concat(
    draft.body
      .split('\xff')
      .flatMap((part, at) => (at === 0 ? [Buffer.from(part)] : [Buffer.of(0xff), Buffer.from(part)])),
  )
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port: http.port, path: draft.path, method: draft.method, headers: draft.headers },
      (response) => {
        let said = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            code: (JSON.parse(said) as { error?: { code: number } }).error?.code,
            said,
          }),
        )
      },
    )
    request.on('error', reject).end(bytes)
  })
}

test('without any fault it runs', async () => {
  assert.equal((await answered([])).code, undefined)
})

for (const [at, fault] of inOrder.entries()) {
  test(`${fault.name}, before everything that comes after it`, async () => {
    for (const second of [undefined, ...inOrder.slice(at + 1)]) {
      const { status, code, said } = await answered(second ? [fault, second] : [fault])
      const about = `${fault.name} + ${second?.name}: ${said}`
      assert.equal(status, fault.status, about)
      assert.equal(code, fault.code ?? -32600, about)
      // Host and Origin share a status, and several share a code: the message tells them apart.
      assert.equal(said, (await answered([fault])).said, about)
      assert.doesNotMatch(said, /evil|ada|echo/)
    }
  })
}
