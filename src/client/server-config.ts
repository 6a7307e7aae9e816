import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import type { CommandOptions } from '../transport/dial/stdio.ts'
import type { HttpTargetOptions } from '../transport/dial/target.ts'

/** Where a configured server is. */
export type ServerConfig =
  | CommandOptions
  | { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly transports?: Transports }

type Transports = HttpTargetOptions['transports']

/** Values for `${NAME}` in a configuration. */
export type Variables = Readonly<Record<string, string | undefined>>

/** The entries of a configuration, by name, whether it has them under `mcpServers`, under `servers`, or is them. */
export function entriesOf(config: object): Readonly<Record<string, unknown>> {
  const whole = config as Readonly<Record<string, unknown>>
  for (const key of ['mcpServers', 'servers']) {
    const inner = Object.hasOwn(whole, key) ? whole[key] : undefined
    // A server may be called so, too.
    if (isObject(inner) && !isEntry(inner)) return inner
  }
  return whole
}

const urls = ['url', 'serverUrl', 'httpUrl'] as const

function isEntry(value: JsonObject): boolean {
  return ['command', ...urls].some((key) => typeof own(value, key) === 'string')
}

/** Whether an entry is switched off. */
export function isDisabled(entry: unknown): boolean {
  return isObject(entry) && own(entry, 'disabled') === true
}

/**
 * Reads one entry as editors write it. What is not known is left alone. `${NAME}`, `${env:NAME}` and `${NAME:-default}`
 * stand for `variables` where those are given, and for nothing else.
 * @throws TypeError that says what is wrong with it
 */
export function readEntry(entry: unknown, variables: Variables | undefined): ServerConfig {
  if (!isObject(entry)) throw new TypeError('is not an object')
  const expand = (text: string): string => (variables ? expanded(text, variables) : text)
  const command = text(entry, 'command')
  const url = urls.map((key) => text(entry, key)).find((found) => found !== undefined)
  const type = text(entry, 'type')
  if (command !== undefined && url !== undefined) throw new TypeError('has both a command and a url')
  if (command !== undefined) {
    if (type !== undefined && type !== 'stdio') throw new TypeError(`has a command, but its type is ${quoted(type)}`)
    return commandOf(entry, command, expand)
  }
  if (url === undefined) throw new TypeError('has neither a command nor a url')
  const transports = transportsOf(type)
  return { url: urlOf(expand(url)), headers: texts(entry, 'headers', expand), ...(transports && { transports }) }
}

function commandOf(entry: JsonObject, command: string, expand: (text: string) => string): CommandOptions {
  const args = own(entry, 'args') ?? []
  if (!Array.isArray(args) || !args.every((arg): arg is string => typeof arg === 'string')) {
    throw new TypeError('has args that are no list of texts')
  }
  const cwd = text(entry, 'cwd')
  return {
    command: expand(command),
    args: args.map(expand),
    env: texts(entry, 'env', expand),
    ...(cwd !== undefined && { cwd: expand(cwd) }),
  }
}

/** By what editors call them. Where nothing or just HTTP is said, it is found out which of the two it is. */
function transportsOf(type: string | undefined): Transports {
  switch (type?.toLowerCase().replaceAll(/[-_]/g, '')) {
    case undefined:
    case 'http':
      return undefined
    case 'streamablehttp':
      return ['http']
    case 'sse':
      return ['http+sse']
    default:
      throw new TypeError(`has a url, but its type is ${quoted(type)} rather than http, streamable-http or sse`)
  }
}

function urlOf(url: string): string {
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: '' }
  if (protocol !== 'http:' && protocol !== 'https:') throw new TypeError(`has a url that is not one of http or https`)
  return url
}

function text(entry: JsonObject, key: string): string | undefined {
  const value = own(entry, key)
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value === '') throw new TypeError(`has a ${key} that is no text`)
  return value
}

/** A record of texts. Numbers and truth values are written out and `null` is left out, as editors do. */
function texts(entry: JsonObject, key: string, expand: (text: string) => string): Readonly<Record<string, string>> {
  const value = own(entry, key) ?? {}
  if (!isObject(value)) throw new TypeError(`has ${key} that are no object`)
  const found = Object.entries(value).filter(([, one]) => one !== null && one !== undefined)
  return Object.fromEntries(found.map(([name, one]) => [name, expand(written(one, `${key}.${name}`))]))
}

function written(value: Json | undefined, where: string): string {
  if (typeof value === 'object') throw new TypeError(`has ${where} that is no text`)
  return String(value)
}

/** A value may hold a secret, so only the name is ever told. */
function expanded(text: string, variables: Variables): string {
  return text.replaceAll(/\$\{([^{}]+)\}/g, (_, inner: string) => {
    const [, name = inner, fallback] = /^(?:env:)?([^:]+)(?::-(.*))?$/s.exec(inner) ?? []
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value !== undefined) return value
    if (fallback === undefined) throw new TypeError(`needs the variable ${quoted(name)}, which is not given`)
    return fallback
  })
}

function quoted(value: string | undefined): string {
  return JSON.stringify(value)
}
