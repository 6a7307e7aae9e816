// Defends: the suite's verdict is not softened on the way. Its own exit code overlooks warnings, skipped checks and checks that never ran.
import { allowedSkips, beyondRevision } from './exceptions.ts'

/** One line of a scenario's `checks.json`. */
export interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly description?: string
  readonly errorMessage?: string
}

/** What one leg showed: its successes, as `scenario check`, and its faults. */
export interface Verdict {
  readonly scenarios: number
  readonly successes: readonly string[]
  readonly faults: readonly string[]
}

/** Judges a leg by the checks of each scenario that ran. `pin`: the only revision that the server spoke. */
export function judge(results: ReadonlyMap<string, readonly Check[]>, pin?: string): Verdict {
  const successes = new Set<string>()
  const faults: string[] = []
  for (const [scenario, checks] of results) {
    const wrong = checks.filter((check) => isFault(scenario, check))
    const reason = pin === undefined ? undefined : beyondRevision[pin]?.[scenario]
    if (reason !== undefined) {
      if (wrong.length === 0) faults.push(`${scenario}: passes, though it is listed as beyond ${pin} (${reason})`)
      continue
    }
    for (const check of checks) if (check.status === 'SUCCESS') successes.add(`${scenario} ${check.id}`)
    for (const check of wrong)
      faults.push(`${scenario} ${check.id}: ${check.status} ${check.errorMessage ?? check.description ?? ''}`)
    if (checks.length === 0) faults.push(`${scenario}: no check ran`)
  }
  return { scenarios: results.size, successes: [...successes].sort(), faults }
}

/** What changed against the successes of the committed list. */
export function differences(expected: readonly string[] | undefined, successes: readonly string[]): readonly string[] {
  if (expected === undefined) return ['no list of expected successes is committed (--update)']
  return [
    ...expected
      .filter((line) => !successes.includes(line))
      .map((line) => `${line}: was a success once, now it is none`),
    ...successes.filter((line) => !expected.includes(line)).map((line) => `${line}: is not on the list yet (--update)`),
  ]
}

function isFault(scenario: string, { id, status }: Check): boolean {
  if (status === 'SUCCESS') return false
  if (status === 'FAILURE' || status === 'WARNING') return true
  return ![`${scenario} ${id}`, `${scenario} *`, `* ${id}`].some((key) => Object.hasOwn(allowedSkips, key))
}
