import { isObject, type Json, type JsonObject } from '../model/json.ts'

/** Where results say who the server is. */
const identity = 'io.modelcontextprotocol/serverInfo'

/** Names for what differs from run to run (sealed states, cursors, ids of the server's own requests): `<state 1>`. */
export interface Names {
  /** The message with everything that has a name called by it. */
  hide(message: Json): Json
  /** The text with every name replaced by what it stands for. */
  reveal(text: string): string
}

/** Makes names as messages come, counting up from 1 for each kind. `values` are names that are known from the start. */
export function createNames(values: ReadonlyMap<string, string>): Names {
  const byText = new Map<string, string>()
  const texts = new Map([...values].map(([name, value]) => [`<${name}>`, value]))
  const counts = new Map<string, number>()
  let server: string | undefined

  function call(kind: string, text: Json | undefined): void {
    if (typeof text !== 'string' || byText.has(text)) return
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    const name = `<${kind} ${count}>`
    byText.set(text, name)
    texts.set(name, text)
  }

  function discover(message: JsonObject): void {
    if (message.method !== undefined) call('ask', message.id)
    if (message.id !== undefined && isObject(message.params)) call('elicitation', message.params.elicitationId)
    if (!isObject(message.result)) return
    call('state', message.result.requestState)
    call('cursor', message.result.nextCursor)
  }

  function hidden(value: Json): Json {
    if (typeof value === 'string') return byText.get(value) ?? value
    if (Array.isArray(value)) return value.map(hidden)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, hiddenMember(key, member ?? null)]))
  }

  /** The server says who it is with every result; once is enough to read. */
  function hiddenMember(key: string, member: Json): Json {
    if (key !== identity) return hidden(member)
    const text = JSON.stringify(member)
    if (text === server) return '<server>'
    server = text
    return member
  }

  return {
    hide(message) {
      for (const one of Array.isArray(message) ? message : [message]) if (isObject(one)) discover(one)
      return hidden(message)
    },
    reveal(text) {
      let revealed = text
      // A value may itself mention a name; values come first, so one pass in order is enough.
      for (const [name, value] of texts) revealed = revealed.replaceAll(name, value)
      return revealed
    },
  }
}
