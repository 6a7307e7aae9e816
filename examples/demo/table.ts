/** A column: its heading, and how many characters it is wide. */
export type Column = readonly [heading: string, width: number]

/** Lays out one row of cells; each cell is a list of entries that are wrapped to the width of its column. */
export function toLines(columns: readonly Column[], cells: readonly (readonly string[])[]): string {
  const wrapped = columns.map(([, width], index) => (cells[index] ?? []).flatMap((entry) => wrap(entry, width)))
  const height = Math.max(...wrapped.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) =>
    columns
      .map(([, width], index) => (wrapped[index]?.[line] ?? '').padEnd(width))
      .join('  ')
      .trimEnd(),
  ).join('\n')
}

export function toHeading(columns: readonly Column[]): string {
  return [columns.map(([heading, width]) => heading.padEnd(width)), columns.map(([, width]) => '─'.repeat(width))]
    .map((cells) => cells.join('  ').trimEnd())
    .join('\n')
}

/** Breaks `text` between words; words longer than `width` are cut. Lines after the first are indented by one. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(...cut(lines.length === 0 ? word : ` ${word}`, width))
  }
  return lines
}

function cut(word: string, width: number): string[] {
  return word.length <= width ? [word] : [word.slice(0, width), ...cut(` ${word.slice(width)}`, width)]
}
