// Reads the responses of one HTTP/1.1 connection, which come one at a time: by content-length or in chunks.

export interface HttpResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** Empty unless bodies are kept. */
  readonly body: string
}

export interface ResponseReader {
  /** Takes in what came. @returns the response, once it is whole */
  push(chunk: Buffer): HttpResponse | undefined
  keepBodies(keep: boolean): void
}

const headEnd = '\r\n\r\n'
const lineEnd = '\r\n'

interface Head {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
}

export function createResponseReader(): ResponseReader {
  let keep = true
  let head: Head | undefined
  let waiting: Buffer = Buffer.alloc(0)
  let kept: Buffer[] = []
  let missing = 0
  let chunked = false

  function readHead(): boolean {
    const end = waiting.indexOf(headEnd)
    if (end < 0) return false
    head = parseHead(waiting.toString('latin1', 0, end))
    waiting = waiting.subarray(end + headEnd.length)
    chunked = head.headers.get('transfer-encoding') === 'chunked'
    missing = chunked ? 0 : Number(head.headers.get('content-length') ?? 0)
    return true
  }

  /** Moves what belongs to the body out of `waiting`. */
  function take(): void {
    const taken = waiting.subarray(0, missing)
    missing -= taken.length
    waiting = waiting.subarray(taken.length)
    if (keep) kept.push(taken)
  }

  /** @returns whether the last chunk has come; trailers are not expected */
  function readChunks(): boolean {
    for (;;) {
      take()
      if (missing > 0) return false
      const end = waiting.indexOf(lineEnd)
      if (end < 0) return false
      const line = waiting.toString('latin1', 0, end)
      // The line end that closes a chunk stands before the size of the next.
      if (line !== '') {
        missing = Number.parseInt(line, 16)
        if (missing === 0) {
          if (waiting.length < end + headEnd.length) return false
          waiting = waiting.subarray(end + headEnd.length)
          return true
        }
      }
      waiting = waiting.subarray(end + lineEnd.length)
    }
  }

  return {
    push(chunk) {
      waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
      if (!head && !readHead()) return undefined
      if (chunked ? !readChunks() : (take(), missing > 0)) return undefined
      if (!head) return undefined
      const response = { ...head, body: keep ? Buffer.concat(kept).toString() : '' }
      head = undefined
      kept = []
      return response
    },
    keepBodies(next) {
      keep = next
    },
  }
}

function parseHead(text: string): Head {
  const [first = '', ...lines] = text.split(lineEnd)
  const headers = lines.map((line): [string, string] => {
    const at = line.indexOf(':')
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
  })
  return { status: Number(first.split(' ', 2)[1]), headers: new Map(headers) }
}
