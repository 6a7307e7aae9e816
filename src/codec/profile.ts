import { isObject, own } from '../model/json.ts'
import type { Codec, Owner, Transport } from './codec.ts'
import type { Feature } from '../model/feature.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { ClientCapabilities, ServerCapabilities } from '../model/nouns.ts'

/** What a profile depends on, all of it. */
export interface ProfileInput {
  readonly codec: Codec
  readonly clientCapabilities: ClientCapabilities
  readonly serverCapabilities: ServerCapabilities
  readonly transport: Transport
}

/** How many profiles are kept for one revision and set of server capabilities. */
const maxKept = 256
/** How long, in characters, the client capabilities of a kept profile may be. */
const maxKeyLength = 1024

type Profiles = Map<string, ReadonlySet<Feature>>
const kept = new WeakMap<Codec, WeakMap<ServerCapabilities, Profiles>>()

/**
 * The features that two peers may count on: those that the revision defines, whose owner declared them, and that the
 * transport carries. Extensions are on when both sides declare them. It depends on nothing but its input; equal client
 * capabilities get the same set back, so a server had better describe its capabilities by the same object each time.
 */
export function resolveFeatures(input: ProfileInput): ReadonlySet<Feature> {
  const text = JSON.stringify(input.clientCapabilities)
  if (text.length > maxKeyLength) return resolve(input)
  const profiles = profilesOf(input)
  const key = `${input.transport} ${text}`
  const known = profiles.get(key)
  if (known) return known
  if (profiles.size >= maxKept) profiles.clear()
  const profile = resolve(input)
  profiles.set(key, profile)
  return profile
}

function profilesOf({ codec, serverCapabilities }: ProfileInput): Profiles {
  const ofCodec = kept.get(codec) ?? new WeakMap<ServerCapabilities, Profiles>()
  const profiles = ofCodec.get(serverCapabilities) ?? new Map<string, ReadonlySet<Feature>>()
  kept.set(codec, ofCodec.set(serverCapabilities, profiles))
  return profiles
}

function resolve(input: ProfileInput): ReadonlySet<Feature> {
  const { codec } = input
  const client = input.clientCapabilities as JsonObject
  const server = input.serverCapabilities as JsonObject
  const on = new Set<Feature>()
  const isOn = (feature: Feature, owner: Owner): boolean => {
    if (owner === 'revision' || owner === input.transport) return true
    if (owner === 'server') return isDeclared(server, feature.split('.'))
    if (owner === 'client') return isDeclaredByClient(client, feature)
    if (owner === 'both') return isDeclared(server, [feature]) && isDeclared(client, [feature])
    return (
      typeof owner === 'object' && (on.has(owner.with) || isOn(owner.with, codec.owners.get(owner.with) ?? 'memory'))
    )
  }
  for (const [feature, owner] of codec.owners) if (isOn(feature, owner)) on.add(feature)
  if (on.has('extensions')) for (const id of sharedExtensions(codec, client, server)) on.add(`extensions.${id}`)
  return on
}

function isDeclaredByClient(capabilities: JsonObject, feature: Feature): boolean {
  const path = feature.startsWith('client.') ? feature.slice('client.'.length) : feature
  if (isDeclared(capabilities, path.split('.'))) return true
  if (feature !== 'elicitation.form') return false
  // A client that names no mode means forms (client/elicitation, capabilities).
  const elicitation = own(capabilities, 'elicitation')
  return isObject(elicitation) && own(elicitation, 'url') === undefined
}

/** Whether `capabilities` have an object, or the word yes, at `path`. */
function isDeclared(capabilities: JsonObject, path: readonly string[]): boolean {
  let here: Json | undefined = capabilities
  for (const key of path) here = isObject(here) ? own(here, key) : undefined
  return here === true || isObject(here)
}

function sharedExtensions(codec: Codec, client: JsonObject, server: JsonObject): string[] {
  const ours = own(server, 'extensions')
  const theirs = own(client, 'extensions')
  if (!isObject(ours) || !isObject(theirs)) return []
  return Object.keys(ours).filter(
    (id) => own(ours, id) !== undefined && own(theirs, id) !== undefined && !codec.withheldExtensions.has(id),
  )
}
