import type { StandardIssue } from './standard.ts'

/** One thing that is wrong with a value. */
export interface Issue {
  /** Where, as in `items[0].name`; empty for the value itself. */
  readonly path: string
  readonly message: string
}

/** A value that was checked, or what is wrong with it. */
export type Checked<T> = { readonly value: T } | { readonly issues: readonly Issue[] }

const mostIssues = 10
const longestMessage = 300
const longestName = 60
const longestPath = 300

/** Says in one line what is wrong, field by field, so that a model can mend its arguments. Long lists are cut. */
export function issuesText(issues: readonly Issue[]): string {
  const told = issues.slice(0, mostIssues).map(issueText)
  if (issues.length > mostIssues) told.push(`and ${issues.length - mostIssues} more`)
  return told.join('; ')
}

function issueText({ path, message }: Issue): string {
  // Some libraries quote in it what they were given, raw and whole.
  const line = message
    .slice(0, 4 * longestMessage)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Cc}/gu, '\uFFFD')
    .trim()
  const text = cut(line, longestMessage)
  // Some libraries name the field themselves.
  return path === '' || text.startsWith(path) ? text : `${path}: ${text}`
}

/** Takes over what a schema library reported. */
export function fromStandardIssue({ message, path = [] }: StandardIssue): Issue {
  return { path: pathText(path.map((step) => (typeof step === 'object' ? step.key : step))), message }
}

/** Writes a path as one does in code: `items[0].name`, `["odd key"]`. Long names, and long paths, are cut. */
export function pathText(steps: readonly PropertyKey[]): string {
  return cut(steps.reduce<string>(withStep, ''), longestPath)
}

function withStep(path: string, step: PropertyKey): string {
  const name = cut(String(step), longestName)
  if (typeof step === 'number' || /^\d+$/.test(name)) return `${path}[${name}]`
  if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
