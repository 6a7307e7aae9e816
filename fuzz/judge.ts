// What must hold of everything that came back, whatever was sent.
import { isObject } from '../src/model/json.ts'
import { readMessage } from '../src/wire/envelope.ts'
import { defaultCaps } from '../src/wire/caps.ts'
import { parseJson } from '../src/wire/json.ts'
import type { OfficialSchema } from '../test/codec/official-schema.ts'
import { resultDefinitions } from '../test/golden/official.ts'
import type { Outcome } from './doors.ts'
import { canary } from './mutate.ts'

/** Where a message says which revision it is in. */
export const versionKey = 'io.modelcontextprotocol/protocolVersion'

interface Asked {
  readonly method: string
  readonly modern: boolean
}

/** What may be answered to one id, and what must. */
interface Account {
  least: number
  most: number
  answers: number
  readonly asked: Asked[]
}

interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly result?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown }
}

/** The faults of an outcome, for people. */
export function judge(
  { sent, spoiled = [], heard, faults }: Outcome,
  schemaOf: (revision: string) => OfficialSchema | undefined,
): string[] {
  const found = [...faults]
  const accounts = new Map<string, Account>()
  const account = (id: unknown): Account => {
    const key = JSON.stringify(id ?? null)
    const known = accounts.get(key) ?? { least: 0, most: 0, answers: 0, asked: [] }
    accounts.set(key, known)
    return known
  }
  for (const text of sent) expect(text, account)
  // What is spoiled is owed nothing, but it may have cancelled what is.
  for (const text of [...sent, ...spoiled]) excuse(text, account)
  let session: string | undefined
  for (const text of heard) {
    if (/\bat \S+ \(?\S+:\d+:\d+|node:internal|\/src\/\w+/.test(text)) found.push(`a stack: ${text}`)
    for (const message of parsed(text, found)) {
      if (message.method !== undefined) continue
      const open = account(message.id)
      open.answers += 1
      const { result, error } = message
      if (
        isObject(result) &&
        typeof result['protocolVersion'] === 'string' &&
        open.asked.some(({ method }) => method === 'initialize')
      ) {
        session ??= result['protocolVersion']
      }
      if (String(error?.message).includes(canary)) found.push(`the peer's words in ours: ${text}`)
      found.push(...schemaFaults(message, open, session, schemaOf))
    }
  }
  for (const [id, { least, most, answers }] of accounts) {
    if (answers < least || answers > most)
      found.push(`${answers} answers to the id ${id}, which has a right to ${least} to ${most}`)
  }
  return found
}

function parsed(text: string, found: string[]): Message[] {
  try {
    const value: unknown = JSON.parse(text)
    return (Array.isArray(value) ? value : [value]) as Message[]
  } catch {
    found.push(`not JSON: ${text}`)
    return []
  }
}

/** What one text has a right to. */
function expect(text: string | Uint8Array, account: (id: unknown) => Account): void {
  const { value, refusal } = parseJson(text, defaultCaps)
  if (refusal) return grant(account(undefined), 1, 1)
  // Whether a batch is taken depends on the session: if so each of its entries is answered, else it is in one.
  const batch = Array.isArray(value)
  if (batch) grant(account(undefined), 0, 1)
  for (const entry of batch ? value : [value]) {
    const message = readMessage(entry)
    if (message.kind === 'refused') grant(account(message.id), batch ? 0 : 1, 1)
    if (message.kind === 'response' || message.kind === 'notification') grant(account(undefined), 0, 1)
    if (message.kind !== 'request') continue
    const meta = message.params?.['_meta']
    const open = account(message.id)
    grant(open, batch ? 0 : 1, 1)
    open.asked.push({ method: message.method, modern: isObject(meta) && meta[versionKey] !== undefined })
  }
}

/** Takes back what must be answered, where a text cancels it. */
function excuse(text: string | Uint8Array, account: (id: unknown) => Account): void {
  const { value } = parseJson(text, defaultCaps)
  for (const entry of Array.isArray(value) ? value : [value]) {
    const message = readMessage(entry)
    if (message.kind === 'notification' && message.method === 'notifications/cancelled')
      account(message.params?.['requestId']).least = Number.NEGATIVE_INFINITY
  }
}

function grant(open: Account, least: number, most: number): void {
  open.least += least
  open.most += most
}

/** An answer is valid if it is one to any of the requests with its id, in the revision of that. */
function schemaFaults(
  { error, result, id }: Message,
  { asked }: Account,
  session: string | undefined,
  schemaOf: (revision: string) => OfficialSchema | undefined,
): string[] {
  const message = { jsonrpc: '2.0', id, ...(error ? { error } : { result }) }
  if (error !== undefined) {
    return typeof error.code === 'number' && Number.isSafeInteger(error.code) && typeof error.message === 'string'
      ? []
      : [`no error: ${JSON.stringify(message)}`]
  }
  if (asked.length === 0) return [`an answer to nothing: ${JSON.stringify(message)}`]
  const attempts = asked.map(({ method, modern }): string[] => {
    const schema = schemaOf(modern ? '2026-07-28' : (session ?? '2025-11-25'))
    if (schema === undefined) return []
    const asking = isObject(result) && result['resultType'] === 'input_required'
    const definition = asking ? 'InputRequiredResult' : resultDefinitions[method]
    if (definition === undefined || !(definition in schema.definitions))
      return [`nothing is answered to ${method}: ${JSON.stringify(message)}`]
    // Content that no revision knows stays as it is, on purpose.
    return JSON.stringify(result).includes('hologram') ? [] : schema.faults(definition, result)
  })
  return attempts.some((faults) => faults.length === 0) ? [] : [...(attempts[0] ?? []), JSON.stringify(message)]
}
