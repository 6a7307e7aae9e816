// A real authorization server on loopback, with an MCP server that takes its tokens, and a user who agrees.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider, type ClientMetadata } from 'oidc-provider'

export interface RealWorld extends AsyncDisposable {
  readonly provider: Provider
  readonly issuer: string
  readonly url: string
  /** Ways in which the user was sent to the provider. */
  readonly visits: string[]
  /** Scheme of the challenge. */
  scheme: 'Bearer' | 'DPoP'
  /** Opens a URL as a browser with cookies does. */
  readonly open: (url: string) => Promise<void>
  /** What the MCP server saw of the token of the last request that it took. */
  last:
    | { readonly client: string; readonly audience: unknown; readonly scope: string; readonly bound: boolean }
    | undefined
}

export async function startRealWorld(clients: ClientMetadata[]): Promise<RealWorld> {
  const [front, back] = [await listen(), await listen()]
  const url = `${back.origin}/mcp`
  const provider = new Provider(front.origin, {
    clients,
    ttl: { AccessToken: 600, ClientCredentials: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    scopes: ['openid', 'offline_access', 'read', 'write'],
    interactions: { url: (_ctx, interaction) => `/agree/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: 'read write',
          audience: resource,
          accessTokenFormat: 'opaque',
        }),
      },
    },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    rotateRefreshToken: true,
    renderError: (ctx, out) => void (ctx.body = JSON.stringify(out)),
  })
  const world: RealWorld = {
    provider,
    issuer: front.origin,
    url,
    visits: [],
    scheme: 'Bearer',
    last: undefined,
    async open(target) {
      world.visits.push(target)
      await browse(target)
    },
    async [Symbol.asyncDispose]() {
      for (const { server } of [front, back]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
  const answer = provider.callback()
  front.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/agree/') === true) void agree(provider, request, response)
    else void answer(request, response)
  })
  back.server.on(
    'request',
    (request: IncomingMessage, response: ServerResponse) => void serve(world, request, response),
  )
  return world
}

/** The user signs in and grants everything. */
async function agree(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { params, session, grantId } = await provider.interactionDetails(request, response)
  if (session === undefined) return provider.interactionFinished(request, response, { login: { accountId: 'user' } })
  const found = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  const grant = found ?? new provider.Grant({ accountId: session.accountId, clientId: String(params.client_id) })
  const scope = typeof params.scope === 'string' ? params.scope : ''
  grant.addOIDCScope(scope)
  if (typeof params.resource === 'string') grant.addResourceScope(params.resource, scope)
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } })
}

/** The MCP server: takes tokens that the provider knows, and that are for it. */
async function serve(world: RealWorld, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url, issuer, provider, scheme } = world
  const metadata = `${new URL(url).origin}/.well-known/oauth-protected-resource/mcp`
  const json = (body: unknown): void =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  if (request.url === new URL(metadata).pathname)
    return json({ resource: url, authorization_servers: [issuer], scopes_supported: ['read'] })
  const value = (request.headers.authorization ?? '').replace(/^\w+ /, '')
  const token =
    value === ''
      ? undefined
      : ((await provider.AccessToken.find(value)) ?? (await provider.ClientCredentials.find(value)))
  if (token?.aud !== url || token.isExpired) {
    response.setHeader('www-authenticate', `${scheme} resource_metadata="${metadata}"`)
    return void response.writeHead(401).end()
  }
  world.last = {
    client: token.clientId ?? '',
    audience: token.aud,
    scope: token.scope ?? '',
    bound: 'jkt' in token && token.jkt !== undefined && request.headers.dpop !== undefined,
  }
  json({})
}

async function listen(): Promise<{ server: Server; origin: string }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function browse(start: string): Promise<void> {
  const cookies = new Map<string, string>()
  for (let url = new URL(start), hops = 0; hops < 10; hops++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) {
      if (!response.ok) throw new Error(`${url.href} shows ${response.status} ${await response.text()}`)
      return
    }
    url = new URL(location, url)
  }
  throw new Error('redirected for ever')
}
