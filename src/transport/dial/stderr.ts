import { createLineSplitter } from '../../wire/lines.ts'

/** The last of what a process wrote on standard error. */
export interface StderrTail {
  push(chunk: Uint8Array): void
  end(): void
  /** At most the last 50 lines, each cut to 1,024 characters. */
  readonly lines: readonly string[]
}

const maxLines = 50
const maxLength = 1_024
const maxLineBytes = 64 * 1024

/** Keeps the end of standard error in bounded space. @param onLine told of each line as it comes */
export function createStderrTail(onLine: (line: string) => void): StderrTail {
  const lines: string[] = []
  const keep = (text: string): void => {
    const line = text.slice(0, maxLength)
    lines.push(line)
    if (lines.length > maxLines) lines.shift()
    onLine(line)
  }
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine: (bytes) => keep(Buffer.from(bytes).toString('utf8')),
    onOverflow: () => keep('(a line too long to keep)'),
  })
  return { push: (chunk) => splitter.push(chunk), end: () => splitter.end(), lines }
}
