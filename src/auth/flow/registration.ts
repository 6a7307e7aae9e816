import { allowInsecureRequests, customFetch, dynamicClientRegistrationRequest } from 'oauth4webapi'
import type { JsonObject } from '../../model/json.ts'
import { clientFromJson, clientToJson, toMethod, type Client, type ClientCredentials } from './client.ts'
import { quoted, unauthorized } from './failure.ts'
import type { Fetcher } from './fetcher.ts'
import { numberOf, parseObject, textOf } from './json.ts'
import { isLoopbackHost } from './network.ts'
import type { AuthorizationServer } from './server-metadata.ts'
import { putTokens, type TokenStore } from './token-store.ts'

/** How a client becomes known to authorization servers. */
export interface RegistrationOptions {
  /** Had from operators before, one or one per issuer. Beats every other way. */
  readonly client?: ClientCredentials | readonly ClientCredentials[]
  /** An `https` URL with a path where this client's metadata document is. Used where the server reads such documents. */
  readonly clientDocument?: string
  /**
   * What is sent beside the rest to register dynamically, such as `client_name`; `false`: never. Default: done where
   * neither `client` nor `clientDocument` can be used, but not where a `client` of another issuer was given.
   */
  readonly registration?: JsonObject | false
}

/** The means that registration takes. */
export interface Registrar extends RegistrationOptions {
  readonly fetcher: Fetcher
  readonly store: TokenStore
  readonly now: () => number
}

/** Where the registration at an issuer is kept. */
const keyOf = (issuer: string): string => `dragoman/client/${issuer}`

/** The clients that were given. */
export function configuredClients({ client }: RegistrationOptions): readonly ClientCredentials[] {
  if (client === undefined) return []
  return Array.isArray(client) ? (client as readonly ClientCredentials[]) : [client as ClientCredentials]
}

/**
 * The client to be at `server`: one that was given for this issuer, else the metadata document where the server reads
 * it, else the registration that is kept, else a new one (Client Registration, "Client Registration", "Authorization
 * Server Binding").
 * @param redirectUri where the browser is sent back to, where the grant needs that
 * @throws CallFailed `Unauthorized` where there is no way
 */
export async function clientFor(
  registrar: Registrar,
  server: AuthorizationServer,
  redirectUri: string | undefined,
): Promise<Client> {
  const { clientDocument, registration, store, now } = registrar
  const given = await givenFor(registrar, server.issuer)
  if (given !== undefined) return { ...given, origin: 'configured' }
  if (clientDocument !== undefined && server.readsClientDocuments) return { id: clientDocument, origin: 'document' }
  const other = configuredClients(registrar).length > 0
  if (other && clientDocument === undefined && registration === undefined)
    throw unauthorized(`The client that was given belongs to another authorization server than ${server.issuer}`)
  if (registration === false || server.registrationEndpoint === undefined || redirectUri === undefined)
    throw unauthorized(`${server.issuer} has to know the client beforehand, so give one`)
  const kept = clientFromJson(parseObject(await store.get(keyOf(server.issuer))) ?? {})
  const fits = kept?.redirectUris?.includes(redirectUri) === true && (kept.expiresAt ?? Infinity) > now()
  if (kept !== undefined && fits) return kept
  const client = await register(registrar, server, redirectUri)
  await putTokens(store, keyOf(server.issuer), JSON.stringify(clientToJson(client)))
  return client
}

/** Redirect URIs that are registered at `issuer`, and so had best be used again. */
export async function registeredRedirects({ store }: Registrar, issuer: string): Promise<readonly string[]> {
  return clientFromJson(parseObject(await store.get(keyOf(issuer))) ?? {})?.redirectUris ?? []
}

/** Lets go of a registration that the server does not know any more. Resolves to whether it was the one that is kept. */
export async function forgetClient({ store }: Registrar, issuer: string, client: Client): Promise<boolean> {
  const kept = await store.get(keyOf(issuer))
  const same = client.origin === 'registered' && clientFromJson(parseObject(kept) ?? {})?.id === client.id
  return same && store.swap(keyOf(issuer), kept, undefined)
}

/** The client given for `issuer`. One given without an issuer is bound to the first it is used with, for good. */
async function givenFor(registrar: Registrar, issuer: string): Promise<ClientCredentials | undefined> {
  const given = configuredClients(registrar)
  const bound = given.find((client) => client.issuer === issuer)
  const open = given.find((client) => client.issuer === undefined)
  if (bound !== undefined || open === undefined) return bound
  const key = `dragoman/issuer/${open.id}`
  await registrar.store.swap(key, undefined, issuer)
  return (await registrar.store.get(key)) === issuer ? open : undefined
}

async function register(
  { fetcher, registration }: Registrar,
  server: AuthorizationServer,
  redirectUri: string,
): Promise<Client> {
  const native = !redirectUri.startsWith('https:') || isLoopbackHost(new URL(redirectUri).hostname)
  const method = methodToRegister(server.tokenMethods)
  const refreshes = server.grantTypes?.includes('refresh_token') !== false
  const response = await dynamicClientRegistrationRequest(
    {
      issuer: server.issuer,
      ...(server.registrationEndpoint !== undefined && { registration_endpoint: server.registrationEndpoint }),
    },
    {
      client_name: 'Dragoman',
      ...(registration === false ? {} : registration),
      redirect_uris: [redirectUri],
      application_type: native ? 'native' : 'web',
      grant_types: ['authorization_code', ...(refreshes ? ['refresh_token'] : [])],
      response_types: ['code'],
      token_endpoint_auth_method: method,
    },
    {
      [allowInsecureRequests]: true,
      [customFetch]: (url, { method, headers, body }) => fetcher.fetch(url, { method, headers, body }),
    },
  )
  const answer = parseObject(await response.text()) ?? {}
  const [id, secret] = [textOf(answer, 'client_id'), textOf(answer, 'client_secret')]
  // Some servers answer 200 rather than 201, and leave out what RFC 7591 wants beside the id.
  if (!response.ok || id === undefined) throw refused(server.issuer, response.status, answer)
  const expires = numberOf(answer, 'client_secret_expires_at') ?? 0
  const answered = toMethod(textOf(answer, 'token_endpoint_auth_method')) ?? (secret === undefined ? 'none' : undefined)
  return {
    id,
    origin: 'registered',
    redirectUris: [redirectUri],
    ...(secret !== undefined && { secret }),
    ...(answered !== undefined && { method: answered }),
    ...(expires > 0 && { expiresAt: expires * 1000 }),
  }
}

function refused(issuer: string, status: number, answer: JsonObject): Error {
  const why = [textOf(answer, 'error'), textOf(answer, 'error_description')].filter((part) => part !== undefined)
  const text = why.length === 0 ? `with status ${status}` : `(${quoted(why.join(', '))})`
  return unauthorized(`${issuer} refuses to register the client ${text}`, { data: answer })
}

/** A secret that anybody gets is none, so none is asked for where there need not be one. */
function methodToRegister(listed: readonly string[] | undefined): string {
  const known = ['none', 'client_secret_basic', 'client_secret_post']
  return known.find((method) => listed?.includes(method) === true) ?? 'client_secret_basic'
}
