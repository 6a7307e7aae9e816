import { createAccumulator } from './accumulator.ts'

/** How long lines may be, and who is told of them. */
export interface LineSplitterOptions {
  /** The longest line, in bytes, without its line end. */
  readonly maxBytes: number
  /** One line without its line end. The bytes are not copied, so they must be read at once. Never called for a blank one. */
  onLine(line: Uint8Array): void
  /** A line grew too long. Told once for it; the rest of it is skipped, and the next line is served. @param head how it begins */
  onOverflow(head: Uint8Array): void
  /** A line that grew too long has ended. @param tail how: its last bytes, 256 at most */
  onSkipped?(tail: Uint8Array): void
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
/** Bytes that are told of each end of a line too long. */
const shown = 256
const none = new Uint8Array(0)

/**
 * Splits a byte stream into lines, as the stdio transport frames messages. LF and CRLF both end a line.
 * Lines stay bytes, so that text cut anywhere arrives whole and bad UTF-8 is told from good by whoever parses.
 */
export function createLineSplitter(options: LineSplitterOptions): LineSplitter {
  const { maxBytes } = options
  const pending = createAccumulator()
  let skipping = false
  /** The last of what is being skipped. */
  let tail: Uint8Array = none

  function deliver(line: Uint8Array): void {
    const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length
    if (end > maxBytes) {
      options.onOverflow(line.subarray(0, shown))
      return options.onSkipped?.(line.subarray(Math.max(0, end - shown), end))
    }
    const content = line.subarray(0, end)
    if (!isBlank(content)) options.onLine(content)
  }

  function skip(part: Uint8Array): void {
    // One more than is shown, for the CR of a line end.
    const missing = shown + 1 - part.length
    tail = Buffer.concat([missing > 0 ? tail.subarray(-missing) : none, part.subarray(-shown - 1)])
  }

  function endSkipping(): void {
    skipping = false
    const end = tail.at(-1) === carriageReturn ? tail.length - 1 : tail.length
    options.onSkipped?.(tail.subarray(Math.max(0, end - shown), end))
    tail = none
  }

  function endLine(rest: Uint8Array): void {
    if (skipping) {
      skip(rest)
      endSkipping()
    } else if (pending.length === 0) deliver(rest)
    else {
      pending.add(rest)
      deliver(pending.take())
    }
  }

  function keep(part: Uint8Array): void {
    if (skipping) return skip(part)
    // One more than the cap may be the CR of a line end.
    if (pending.length + part.length <= maxBytes + 1) return pending.add(part)
    pending.add(part.subarray(0, shown))
    const begun = pending.take()
    skipping = true
    options.onOverflow(begun.subarray(0, shown))
    skip(begun)
    skip(part.subarray(shown))
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
      if (skipping) endSkipping()
      else if (pending.length > 0) deliver(pending.take())
    },
  }
}

function isBlank(line: Uint8Array): boolean {
  for (const byte of line) if (byte !== 32 && byte !== 9) return false
  return true
}
