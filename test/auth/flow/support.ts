// A small authorization server and a small MCP server on loopback that do everything right, until a test has them not.
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Authorization } from '../../../src/model/authorization.ts'
import { oauth, type OAuth, type OAuthOptions } from '../../../src/oauth.ts'

/** A request that was received. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  /** The fields of a form. */
  readonly form: URLSearchParams
  readonly text: string
}

/** An answer: a status alone, or with headers and JSON or text. */
export type Answer =
  | number
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }

export type Route = (request: Received) => Answer | Promise<Answer>

export interface Site extends AsyncDisposable {
  readonly origin: string
  /** By path; unknown ones answer 404. */
  readonly routes: Map<string, Route>
  readonly received: Received[]
  /** The paths received, in order. */
  paths(): readonly string[]
}

/** A site on 127.0.0.1 with nothing on it. */
export async function startSite(): Promise<Site> {
  const routes = new Map<string, Route>()
  const received: Received[] = []
  const server: Server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://site')
      const text = await textOf(request)
      const { method = '', headers } = request
      const one = {
        method,
        path: url.pathname,
        query: url.searchParams,
        headers,
        text,
        form: new URLSearchParams(text),
      }
      received.push(one)
      const answer = (await routes.get(url.pathname)?.(one)) ?? 404
      const { status = 200, headers: more = {}, body = '' } = typeof answer === 'number' ? { status: answer } : answer
      const json = typeof body !== 'string'
      response.writeHead(status, { 'content-type': json ? 'application/json' : 'text/html', ...more })
      response.end(json ? JSON.stringify(body) : body)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    routes,
    received,
    paths: () => received.map(({ path }) => path),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request as AsyncIterable<Buffer>) text += part.toString()
  return text
}

export interface FakeIssuer extends Site {
  readonly issuer: string
  /** Merged into the metadata; `undefined` removes. */
  metadata: Record<string, unknown>
  /** Scopes by access token that is good. */
  readonly tokens: Map<string, string>
  /** Refresh tokens that are good. */
  readonly refreshable: Set<string>
  expiresIn: number
  /** What the authorization response is given or loses. */
  respond: (parameters: URLSearchParams) => void
  /** Requests to the token endpoint. */
  asked(): readonly URLSearchParams[]
}

/** An authorization server whose issuer has the path `path`. */
export async function startIssuer(path = ''): Promise<FakeIssuer> {
  const site = await startSite()
  const base = `${site.origin}${path}`
  const codes = new Map<string, { scope: string; challenge: string }>()
  const fake: FakeIssuer = Object.assign(site, {
    issuer: base,
    metadata: {},
    tokens: new Map<string, string>(),
    refreshable: new Set<string>(),
    expiresIn: 3600,
    respond: () => undefined,
    asked: () => site.received.filter((one) => one.path === `${path}/token`).map(({ form }) => form),
  })
  const metadata = (): Answer => ({
    body: {
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      registration_endpoint: `${base}/register`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      authorization_response_iss_parameter_supported: true,
      ...fake.metadata,
    },
  })
  const issue = (scope: string): Answer => {
    const [access_token, refresh_token] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`]
    fake.tokens.set(access_token, scope)
    fake.refreshable.add(refresh_token)
    return { body: { access_token, refresh_token, token_type: 'Bearer', expires_in: fake.expiresIn, scope } }
  }
  site.routes.set(`/.well-known/oauth-authorization-server${path}`, metadata)
  site.routes.set(`${path}/register`, ({ text }) => ({
    status: 201,
    body: { ...(JSON.parse(text) as object), client_id: `client-${randomUUID()}` },
  }))
  site.routes.set(`${path}/authorize`, ({ query }) => {
    const code = randomUUID()
    codes.set(code, { scope: query.get('scope') ?? '', challenge: query.get('code_challenge') ?? '' })
    const answer = new URLSearchParams({ code, state: query.get('state') ?? '', iss: base })
    fake.respond(answer)
    return { status: 302, headers: { location: `${query.get('redirect_uri')}?${answer}` } }
  })
  site.routes.set(`${path}/token`, ({ form }) => {
    if (form.get('grant_type') === 'refresh_token')
      return fake.refreshable.delete(form.get('refresh_token') ?? '') ? issue('') : refusal('invalid_grant')
    if (form.get('grant_type') !== 'authorization_code') return issue(form.get('scope') ?? '')
    const code = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const hash = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    return code?.challenge === hash ? issue(code.scope) : refusal('invalid_grant')
  })
  return fake
}

/** A refusal of a token endpoint. */
export const refusal = (error: string): Answer => ({ status: 400, body: { error } })

export interface FakeServer extends Site {
  /** Of the MCP endpoint. */
  readonly url: string
  /** The authorization server that it names, and whose tokens it takes. */
  issuer: FakeIssuer
  /** Merged into the resource metadata; `undefined` removes. */
  metadata: Record<string, unknown>
  /** Scopes that a token must have. */
  needs: readonly string[]
  /** Scope in the challenge of a 401. */
  scope: string | undefined
}

/** An MCP server, as far as authorization sees it. */
export async function startServer(issuer: FakeIssuer): Promise<FakeServer> {
  const site = await startSite()
  const where = '/.well-known/oauth-protected-resource/mcp'
  const fake: FakeServer = Object.assign(site, {
    url: `${site.origin}/mcp`,
    issuer,
    metadata: {},
    needs: [] as readonly string[],
    scope: undefined as string | undefined,
  })
  site.routes.set(where, () => ({
    body: { resource: fake.url, authorization_servers: [fake.issuer.issuer], ...fake.metadata },
  }))
  site.routes.set('/mcp', ({ headers }) => {
    const has = fake.issuer.tokens.get((headers.authorization ?? '').replace(/^Bearer /, ''))
    const parts = [`resource_metadata="${site.origin}${where}"`]
    if (has === undefined) {
      if (fake.scope !== undefined) parts.push(`scope="${fake.scope}"`)
      return { status: 401, headers: { 'www-authenticate': `Bearer ${parts.join(', ')}` } }
    }
    const missing = fake.needs.filter((scope) => !has.split(' ').includes(scope))
    if (missing.length === 0) return { body: { ok: true } }
    parts.push('error="insufficient_scope"', `scope="${missing.join(' ')}"`)
    return { status: 403, headers: { 'www-authenticate': `Bearer ${parts.join(', ')}` } }
  })
  return fake
}

/** A browser whose user agrees to everything. */
export async function browser(url: string): Promise<void> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`the browser shows ${response.status}`)
}

/** An authorization whose user agrees to everything. */
export function agreeing(options: Partial<OAuthOptions> = {}): OAuth {
  return oauth({ grant: { type: 'authorization_code', open: browser, timeoutMs: 2000 }, ...options })
}

/** Sends requests as a transport does, until the answer is no refusal of credentials or another try is of no use. */
export async function call(authorization: Authorization, url: string, tries = 10): Promise<number> {
  const request = { url, method: 'POST' }
  for (let left = tries; ; left--) {
    const response = await fetch(url, { method: 'POST', headers: await authorization.headers(request) })
    const header = (name: string): string | undefined => response.headers.get(name) ?? undefined
    await response.body?.cancel()
    const { status } = response
    const refused = status === 401 || status === 403
    if (!refused) authorization.answered?.(request, header)
    if (!refused || !(await authorization.challenged({ ...request, status, header }))) return status
    if (left === 0) throw new Error('there is no end to it')
  }
}

/** Everything that is needed, in one world. */
export async function startWorld(path = ''): Promise<{ issuer: FakeIssuer; server: FakeServer } & AsyncDisposable> {
  const issuer = await startIssuer(path)
  const server = await startServer(issuer)
  return {
    issuer,
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await issuer[Symbol.asyncDispose]()
    },
  }
}

/** Matches a `CallFailed` of kind `Unauthorized` that says `text`. */
export const unauthorized = (text: RegExp): { name: string; kind: string; ran: string; message: RegExp } => ({
  name: 'CallFailed',
  kind: 'Unauthorized',
  ran: 'no',
  message: text,
})
