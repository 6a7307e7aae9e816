import type { Loss } from '../../src/index.ts'

/** What became of something, and why: by the rule of projection, for those rules that the library meets. */
const why: Readonly<Record<string, string>> = {
  'structured-content-to-text': 'as text only, since here structured content is not known or must be an object',
  'link-to-text': 'as text, since there are no resource links yet',
  'field-dropped': 'left out, since not defined yet',
  'output-schema-dropped': 'left out, since here results must be objects',
  'default-dropped': 'left out, since forms have no defaults yet',
}

/** Losses as entries of the table, by how many rules there are any, and how many are missing or should not be there. */
export function describe(
  losses: readonly Loss[],
  expected: readonly string[],
): { readonly entries: string[]; readonly rules: number; readonly wrong: number } {
  const rules = [...new Set(losses.map(({ rule }) => rule))]
  const meaning = new Set(losses.filter(({ decoration }) => !decoration).map(({ rule }) => rule))
  const missing = expected.filter((rule) => !meaning.has(rule))
  const surplus = [...meaning].filter((rule) => !expected.includes(rule))
  const entries = rules.map((rule) => {
    const paths = [...new Set(losses.filter((loss) => loss.rule === rule).map(({ path, method }) => path ?? method))]
    return `${why[rule] ?? rule}: ${paths.join(', ')}`
  })
  return {
    entries: [
      ...(entries.length === 0 ? ['nothing'] : entries),
      ...missing.map((rule) => `MISSING: ${rule}`),
      ...surplus.map((rule) => `UNEXPECTED: ${rule}`),
    ],
    rules: rules.length,
    wrong: missing.length + surplus.length,
  }
}
