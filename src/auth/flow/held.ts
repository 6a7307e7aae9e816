import { isObject, own, type JsonObject } from '../../model/json.ts'
import { clientFromJson, clientToJson, type Client } from './client.ts'
import { numberOf, parseObject, textOf, textsOf } from './json.ts'
import { scopesIn } from './scopes.ts'
import type { AuthorizationServer } from './server-metadata.ts'
import type { Tokens } from './token-request.ts'

/** A token, whose it is, and what it is good for. */
export interface Held {
  readonly issuer: string
  readonly found: AuthorizationServer['found']
  readonly resource: string | undefined
  readonly client: Client
  readonly accessToken: string
  readonly type: 'bearer' | 'dpop'
  readonly refreshToken: string | undefined
  /** Milliseconds since the epoch; undefined: nobody knows. */
  readonly expiresAt: number | undefined
  /** When to renew it, some time before that. */
  readonly renewAt: number | undefined
  /** Scopes that were asked for. */
  readonly asked: readonly string[]
  /** Scopes that were granted. */
  readonly granted: readonly string[]
  /** The private key that it is bound to. */
  readonly proofKey: JsonObject | undefined
}

/** A claim to renew a token, which others respect until it ends. */
export interface Lease {
  readonly by: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** What is kept of a token: itself, and who is renewing it. */
export interface Kept {
  readonly held: Held
  readonly lease: Lease | undefined
}

/** The parts of a {@link Held} that tokens are renewed with. */
export type Basis = Pick<Held, 'issuer' | 'found' | 'resource' | 'client' | 'asked' | 'proofKey'>

/** Milliseconds before its end that a token is renewed, and at most a quarter of its life. */
const skewMs = 60_000

/** `tokens` as they are held. @param before what is renewed, which keeps what a renewal leaves out (RFC 6749 §6) */
export function toHeld(tokens: Tokens, basis: Basis, now: number, before?: Held): Held {
  const dpop = tokens.type === 'dpop'
  const life = tokens.expiresIn === undefined ? undefined : tokens.expiresIn * 1000
  return {
    issuer: basis.issuer,
    found: basis.found,
    resource: basis.resource,
    client: basis.client,
    accessToken: tokens.accessToken,
    type: dpop ? 'dpop' : 'bearer',
    refreshToken: tokens.refreshToken ?? before?.refreshToken,
    expiresAt: life === undefined ? undefined : now + life,
    renewAt: life === undefined ? undefined : now + life - Math.min(skewMs, life / 4),
    asked: basis.asked,
    granted: tokens.scope === undefined ? (before?.granted ?? basis.asked) : scopesIn(tokens.scope),
    proofKey: basis.proofKey,
  }
}

/** The text that is kept. */
export function keptToText({ held, lease }: Kept): string {
  const { client, ...rest } = held
  return JSON.stringify({ ...rest, client: clientToJson(client), lease })
}

/** What {@link keptToText} wrote; undefined for anything else. */
export function keptFromText(text: string | undefined): Kept | undefined {
  const json = parseObject(text)
  if (json === undefined) return undefined
  const [issuer, accessToken, found, type] = ['issuer', 'accessToken', 'found', 'type'].map((name) =>
    textOf(json, name),
  )
  const [clientJson, proofKey, lease] = [own(json, 'client'), own(json, 'proofKey'), own(json, 'lease')]
  const client = isObject(clientJson) ? clientFromJson(clientJson) : undefined
  if (issuer === undefined || accessToken === undefined || client === undefined) return undefined
  if (found !== 'issuer' && found !== 'origin' && found !== 'none') return undefined
  const isKey =
    isObject(proofKey) && ['kty', 'crv', 'x', 'y', 'd'].every((name) => textOf(proofKey, name) !== undefined)
  if (type === 'dpop' && !isKey) return undefined
  return {
    held: {
      issuer,
      found,
      resource: textOf(json, 'resource'),
      client,
      accessToken,
      type: type === 'dpop' ? 'dpop' : 'bearer',
      refreshToken: textOf(json, 'refreshToken'),
      expiresAt: numberOf(json, 'expiresAt'),
      renewAt: numberOf(json, 'renewAt'),
      asked: textsOf(json, 'asked') ?? [],
      granted: textsOf(json, 'granted') ?? [],
      proofKey: isKey ? proofKey : undefined,
    },
    lease: isObject(lease) ? { by: textOf(lease, 'by') ?? '', until: numberOf(lease, 'until') ?? 0 } : undefined,
  }
}
