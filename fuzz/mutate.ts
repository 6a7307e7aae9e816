import type { Dice } from './random.ts'

/** Stands in what a hostile client sends, so that it is found where it must not be. */
export const canary = 'zq7canary'

const strings = [
  canary,
  '',
  `${canary}\n[error]`,
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  '\u2028',
  'notifications/x',
  'initialize',
  '2025-06-18',
  '2031-01-01',
  `a:${canary}`,
  'é'.repeat(300),
]
const numbers = [0, -1, 1.5, 7, 1_000, -0]
const others: readonly unknown[] = [null, true, false, [], {}, [[]], { __proto__: null }]
const methods = [
  'tools/call',
  'tools/list',
  'resources/read',
  'resources/subscribe',
  'prompts/get',
  'completion/complete',
  'subscriptions/listen',
  'logging/setLevel',
  'ping',
  'initialize',
  'server/discover',
  'notifications/cancelled',
  'notifications/initialized',
  canary,
]
const ids: readonly unknown[] = [1, 2, '1', '', canary, null, 2 ** 53, 1.5, {}, true]

type Container = Record<string, unknown> | unknown[]

/** Every object and array in `value`, itself included. */
function containers(value: unknown): Container[] {
  if (typeof value !== 'object' || value === null) return []
  return [value as Container, ...Object.values(value).flatMap(containers)]
}

function oddValue(dice: Dice): unknown {
  const kind = dice.roll(3)
  // A copy, since what is put into a message may be changed there.
  return kind === 0 ? dice.pick(strings) : kind === 1 ? dice.pick(numbers) : structuredClone(dice.pick(others))
}

/** Changes one thing in a message, in place. */
function mutateValue(message: Record<string, unknown>, dice: Dice): void {
  const kind = dice.roll(8)
  if (kind === 0) message['id'] = structuredClone(dice.pick(ids))
  else if (kind === 1) message['method'] = dice.pick(methods)
  else {
    const place = dice.pick(containers(message))
    const keys = Object.keys(place)
    if (Array.isArray(place)) {
      if (kind < 5) place.push(oddValue(dice))
      else place.splice(dice.roll(place.length + 1), 1)
    } else if (kind === 2 || keys.length === 0) place[dice.pick(strings)] = oddValue(dice)
    else if (kind === 3) delete place[dice.pick(keys)]
    else place[dice.pick(keys)] = oddValue(dice)
  }
}

/** Changes the bytes of a message, so that it may be no message any more. */
function mutateBytes(bytes: Buffer, dice: Dice): Buffer {
  const at = dice.roll(bytes.length + 1)
  const to = at + dice.roll(Math.min(40, bytes.length - at + 1))
  switch (dice.roll(6)) {
    case 0:
      return bytes.subarray(0, at)
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Buffer.of(dice.roll(256)), bytes.subarray(at)])
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at === bytes.length ? at : at + 1)])
    case 3:
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)])
    case 4:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(dice.pick(['[', '{', '"', ',', ':', '\\', '\uFEFF', '1e999', '\\u0000', canary])),
        bytes.subarray(at),
      ])
    default:
      return Buffer.from(Array.from({ length: dice.roll(60) }, () => dice.roll(256)))
  }
}

/** What a client sends: one of `corpus`, as it is, with its values changed, or with its bytes changed. */
export function nextText(corpus: readonly string[], dice: Dice): Buffer {
  let text = dice.pick(corpus)
  if (dice.percent(30)) return Buffer.from(text)
  try {
    const value = JSON.parse(text) as unknown
    const message = dice.pick(Array.isArray(value) && value.length > 0 ? value : [value]) as Record<string, unknown>
    if (typeof message === 'object' && message !== null) {
      for (let times = 1 + dice.roll(3); times > 0; times--) mutateValue(message, dice)
    }
    text = JSON.stringify(dice.percent(4) ? [value, value] : value)
  } catch {
    // A line of the corpus that is no JSON on purpose.
  }
  const bytes = Buffer.from(text)
  return dice.percent(25) ? mutateBytes(bytes, dice) : bytes
}
