import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = resolve(dirname(fileURLToPath(import.meta.url)), '../golden')

/** Compares `text` with the file committed under `test/golden`; `UPDATE_GOLDEN=1` rewrites it instead. */
export function matchGolden(name: string, text: string): void {
  const file = join(folder, name)
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return
  }
  assert.ok(existsSync(file), `${name} is missing; UPDATE_GOLDEN=1 writes it`)
  assert.equal(text, readFileSync(file, 'utf8'), `${name} differs; UPDATE_GOLDEN=1 rewrites it`)
}

/** Rows as text in aligned columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, at) => Math.max(cell.length, widest[at] ?? 0)),
    [],
  )
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
