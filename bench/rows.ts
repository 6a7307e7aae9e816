// What the benchmarks found, what was hoped for, and how both are printed.

/** What a row is held to: its ratio to the baseline, or the difference from it. */
export interface Budget {
  readonly of: 'ratio' | 'difference'
  readonly bound: 'at most' | 'at least'
  readonly value: number
}

/** One figure of Dragoman beside that of the baseline, and beside that of a rival where one was measured. */
export interface Row {
  /** Parts from the general to the particular, as `http / 2026-07-28 / tools/call of 50 / 32 in flight`. */
  readonly name: string
  readonly unit: string
  readonly measured: number
  readonly baseline: number
  /** Measured to baseline. */
  readonly ratio: number
  readonly budget?: Budget
  /** The official server's figure, and its ratio to the baseline. */
  readonly rival?: { readonly measured: number; readonly ratio: number }
}

/**
 * Whether a row keeps to its budget; true without one.
 * @param slack how many times worse than its budget a row may be; 1 is the budget itself
 */
export function isWithin(row: Row, slack = 1): boolean {
  if (!row.budget) return true
  const judged = row.budget.of === 'ratio' ? row.ratio : row.measured - row.baseline
  return row.budget.bound === 'at most' ? judged <= row.budget.value * slack : judged >= row.budget.value / slack
}

const head = ['', 'unit', 'Dragoman', 'baseline', 'ratio', 'budget', '', 'official', 'ratio']

/** The rows as a table of plain text. */
export function toTable(rows: readonly Row[]): string {
  const lines = [head, ...rows.map(toCells)]
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)))
  return lines
    .map((cells) => cells.map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))))
    .map((cells) => cells.join('  ').trimEnd())
    .join('\n')
}

function toCells(row: Row): readonly string[] {
  const { name, unit, measured, baseline, ratio, budget, rival } = row
  const verdict = budget ? (isWithin(row) ? 'met' : 'MISSED') : ''
  return [
    name,
    unit,
    toDigits(measured),
    toDigits(baseline),
    ratio.toFixed(2),
    budget ? budgetText(budget, unit) : '',
    verdict,
    rival ? toDigits(rival.measured) : '',
    rival ? rival.ratio.toFixed(2) : '',
  ]
}

function budgetText({ of, bound, value }: Budget, unit: string): string {
  const sign = bound === 'at most' ? '≤' : '≥'
  return of === 'ratio' ? `${sign} ${value}` : `${sign} ${value} ${unit} more`
}

/** Three significant digits, and never fewer than the integer has. */
function toDigits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
