import { environmentOf, type Environment } from './environment.ts'
import type { CommandOptions } from './stdio.ts'

/** Of a SHA-256, in base64url: 128 bits. */
const digestLength = 22

/**
 * What a server at a URL is remembered by. Its query may choose among servers, and may be a secret: so that it does not leave the
 * process it is told as a digest.
 */
export function urlKey({ origin, pathname, search }: URL): string {
  return search === '' ? origin + pathname : `${origin}${pathname}?${digestOf(search)}`
}

/** What a command is remembered by: all that makes one server another. Arguments and environment may be secrets, so a digest tells them. */
export function commandKey({ command, args = [], cwd, env, inherit = 'minimal' }: CommandOptions): string {
  const given: Environment = { ...chosen(inherit), ...env }
  const variables = Object.keys(given)
    .toSorted()
    .map((name) => [name, given[name] ?? null])
  const isPlain = args.length === 0 && cwd === undefined && variables.length === 0
  return isPlain ? command : `${command} ${digestOf(JSON.stringify([args, cwd ?? null, variables]))}`
}

/** What is inherited by choice; the few variables that every command gets say nothing of which server it is. */
function chosen(inherit: NonNullable<CommandOptions['inherit']>): Environment {
  if (inherit === 'minimal') return {}
  if (inherit === 'all') return environmentOf(process.env, process.platform, 'all')
  return Object.fromEntries(inherit.map((name) => [name, process.env[name]]))
}

function digestOf(text: string): string {
  // Loaded here: who needs no digest starts sooner.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(text).digest('base64url').slice(0, digestLength)
}
