import { createAccumulator } from './accumulator.ts'

/** How long lines may be, and who is told of them. */
export interface LineSplitterOptions {
  /** The longest line, in bytes, without its line end. */
  readonly maxBytes: number
  /** One line without its line end. The bytes are not copied, so they must be read at once. Never called for a blank one. */
  onLine(line: Uint8Array): void
  /** A line grew too long. Told once for it; the rest of it is skipped, and the next line is served. */
  onOverflow(): void
}

/** Takes in bytes as they come. */
export interface LineSplitter {
  /** Whether a line has begun and not ended. */
  readonly midway: boolean
  push(chunk: Uint8Array): void
  /** The input has ended; a last line without a line end still counts. */
  end(): void
}

const lineFeed = 10
const carriageReturn = 13

/**
 * Splits a byte stream into lines, as the stdio transport frames messages. LF and CRLF both end a line.
 * Lines stay bytes, so that text cut anywhere arrives whole and bad UTF-8 is told from good by whoever parses.
 */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  const { maxBytes } = options
  const pending = createAccumulator()
  let skipping = false

  function deliver(line: Uint8Array): void {
    const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length
    if (end > maxBytes) return options.onOverflow()
    const content = line.subarray(0, end)
    if (!isBlank(content)) options.onLine(content)
  }

  function endLine(rest: Uint8Array): void {
    if (skipping) skipping = false
    else if (pending.length === 0) deliver(rest)
    else {
      pending.add(rest)
      deliver(pending.take())
    }
  }

  function keep(part: Uint8Array): void {
    if (skipping) return
    // One more than the cap may be the CR of a line end.
    if (pending.length + part.length <= maxBytes + 1) return pending.add(part)
    pending.take()
    skipping = true
    options.onOverflow()
  }

  return {
    get midway() {
      return skipping || pending.length > 0
    },
    push(chunk) {
      let start = 0
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        endLine(chunk.subarray(start, end))
        start = end + 1
      }
      if (start < chunk.length) keep(chunk.subarray(start))
    },
    end() {
      if (!skipping && pending.length > 0) deliver(pending.take())
      skipping = false
    },
  }
}

function isBlank(line: Uint8Array): boolean {
  for (const byte of line) if (byte !== 32 && byte !== 9) return false
  return true
}
