import type { ServerOptions } from './server.ts'

/** What a number may be, and how that is said. */
const kinds = {
  count: { fits: (value: number) => Number.isSafeInteger(value) && value > 0, is: 'a whole number above 0' },
  span: { fits: (value: number) => Number.isFinite(value) && value > 0, is: 'a number of milliseconds above 0' },
  age: { fits: (value: number) => Number.isFinite(value) && value >= 0, is: 'a number of milliseconds, 0 or more' },
} as const

type Rule = readonly [name: string, value: unknown, kind: keyof typeof kinds]

/** @throws RangeError for a number that no server can go by; it names the option */
export function checkOptions({
  pageSize,
  stateTtlMs,
  maxRounds,
  once = {},
  tasks = {},
  cache = {},
}: ServerOptions): void {
  const rules: readonly Rule[] = [
    ['pageSize', pageSize, 'count'],
    ['stateTtlMs', stateTtlMs, 'span'],
    ['maxRounds', maxRounds, 'count'],
    ['once.keepMs', once.keepMs, 'span'],
    ['once.leaseMs', once.leaseMs, 'span'],
    ['once.maxClaims', once.maxClaims, 'count'],
    ['tasks.ttlMs', tasks.ttlMs, 'span'],
    ['tasks.maxTtlMs', tasks.maxTtlMs, 'span'],
    ['tasks.pollIntervalMs', tasks.pollIntervalMs, 'span'],
    ['tasks.leaseMs', tasks.leaseMs, 'span'],
    ['tasks.maxPerOwner', tasks.maxPerOwner, 'count'],
    ['tasks.maxAnonymous', tasks.maxAnonymous, 'count'],
    ['tasks.maxRunning', tasks.maxRunning, 'count'],
    ...Object.entries(cache).map(([list, hints]): Rule => [`cache.${list}.ttlMs`, hints.ttlMs, 'age']),
  ]
  for (const [name, value, kind] of rules) {
    const { fits, is } = kinds[kind]
    if (value === undefined || (typeof value === 'number' && fits(value))) continue
    throw new RangeError(`${name} is ${typeof value === 'number' ? value : typeof value}, but has to be ${is}`)
  }
}
