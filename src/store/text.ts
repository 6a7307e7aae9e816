// Neither PostgreSQL's text nor every driver of SQLite takes a NUL, and JSON writes none: the few texts that have one
// are kept as JSON behind a mark.
const mark = '\u0001'

/** The text to keep for `value`: without NUL, and that {@link fromKept} brings back. */
export function toKept(value: string): string {
  return value.includes('\0') || value.startsWith(mark) ? mark + JSON.stringify(value) : value
}

/** The value that {@link toKept} made `text` of. */
export function fromKept(text: string): string {
  return text.startsWith(mark) ? String(JSON.parse(text.slice(mark.length))) : text
}
