import type { Loss } from '../../src/index.ts'

/** Why a rule of projection exists, for those that the library meets. */
const why: Readonly<Record<string, string>> = {
  'structured-content-to-text': 'as text only: here structured content is unknown, or must be an object',
  'link-to-text': 'as text: no resource links before 2025-06-18',
  'field-dropped': 'left out: not defined in this revision',
  'default-dropped': 'left out: forms have no defaults before 2025-11-25',
}

/** Losses as entries of the table, and how many of them are missing or should not be there. */
export function describe(
  losses: readonly Loss[],
  expected: readonly string[],
): { readonly entries: string[]; readonly wrong: number } {
  const rules = [...new Set(losses.map(({ rule }) => rule))]
  const meaning = new Set(losses.filter(({ decoration }) => !decoration).map(({ rule }) => rule))
  const missing = expected.filter((rule) => !meaning.has(rule))
  const surplus = [...meaning].filter((rule) => !expected.includes(rule))
  const entries = rules.map((rule) => {
    const paths = [...new Set(losses.filter((loss) => loss.rule === rule).map(({ path, method }) => path ?? method))]
    return `${rule}: ${paths.join(', ')} ${why[rule] ?? ''}`.trim()
  })
  return {
    entries: [
      ...(entries.length === 0 ? ['nothing'] : entries),
      ...missing.map((rule) => `MISSING: ${rule}`),
      ...surplus.map((rule) => `UNEXPECTED: ${rule}`),
    ],
    wrong: missing.length + surplus.length,
  }
}
