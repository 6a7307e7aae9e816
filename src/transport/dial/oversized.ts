import { isRequestId, type RequestId } from '../../wire/envelope.ts'

/** What a message is that is too large to be read, as far as its first bytes show. */
export type Oversized =
  /** An answer; with the id of its request where that comes first. */
  | { readonly kind: 'answer'; readonly id: RequestId | undefined }
  /** A request or a notification, whose id, if it has one, is the server's own. */
  | { readonly kind: 'other' }
  | { readonly kind: 'unknown' }

/** Finds the request that a message answers which is too large to be read, by its two ends. */
export interface OversizedReader {
  /** @returns the request where the first bytes tell which it is, or that it can only be one */
  begins(head: Uint8Array | string): RequestId | undefined
  /** @returns the request where only the last bytes tell which it is */
  ends(tail: Uint8Array | string): RequestId | undefined
}

const idText = /"id"\s*:\s*(-?\d{1,16}|null|"(?:[^"\\]|\\.){0,200}")/.source
const version = /"jsonrpc"\s*:\s*"2\.0"/.source
const comma = /\s*,\s*/.source
/** Version and id may come first, in either order. What comes after them tells an answer from what is none. */
const atHead = new RegExp(
  `^\\s*\\{\\s*(?:${version}${comma})?(?:${idText}${comma})?(?:${version}${comma})?"(result|error|method|params)"\\s*:`,
)
const atTail = new RegExp(`${comma}${idText}(?:${comma}${version})?\\s*\\}\\s*$`)

/** What the first bytes of a message show it to be. */
export function oversizedAt(head: Uint8Array | string): Oversized {
  const [, id, member] = atHead.exec(textOf(head)) ?? []
  if (member === undefined) return { kind: 'unknown' }
  if (member === 'method' || member === 'params') return { kind: 'other' }
  return { kind: 'answer', id: idOf(id) }
}

/** Makes a reader. @param only the only request that waits, if it is one; asked where an answer does not begin with its id */
export function createOversizedReader(only: () => RequestId | undefined = () => undefined): OversizedReader {
  let isOpen = false
  return {
    begins(head) {
      const shown = oversizedAt(head)
      const found = shown.kind === 'answer' ? (shown.id ?? only()) : undefined
      isOpen = shown.kind === 'answer' && found === undefined
      return found
    },
    ends(tail) {
      if (!isOpen) return undefined
      isOpen = false
      // What stands before the last brace is a member of the message itself.
      return idOf(atTail.exec(textOf(tail))?.[1])
    },
  }
}

/** Characters, or bytes, of each end that are looked at. */
const shown = 1_024

/** The request that a whole text answers which is too large to be read. @param only as for {@link createOversizedReader} */
export function answeredBy(text: Uint8Array | string, only?: () => RequestId | undefined): RequestId | undefined {
  const reader = createOversizedReader(only)
  return reader.begins(text.slice(0, shown)) ?? reader.ends(text.slice(-shown))
}

function textOf(part: Uint8Array | string): string {
  return typeof part === 'string' ? part : Buffer.from(part).toString('utf8')
}

function idOf(text: string | undefined): RequestId | undefined {
  if (text === undefined) return undefined
  try {
    const id: unknown = JSON.parse(text)
    return isRequestId(id) ? id : undefined
  } catch {
    return undefined
  }
}
