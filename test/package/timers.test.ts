// Defends: no time that somebody else says reaches a timer as it is. What is longer than a timer can wait would be one
// millisecond to it, so it goes through `timerMs`.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { filesUnder } from '../../tools/files.ts'

const rooms = ['src']

/** Calls that start a timer, and which of their arguments is the time. */
const starts = /(?<![.\w])(setTimeout|setInterval|delay|sleep|AbortSignal\.timeout)\(/g
const places: Readonly<Record<string, number>> = { setTimeout: 1, setInterval: 1 }

/** The arguments of a call whose opening bracket is at `from`. */
function argumentsAt(text: string, from: number): readonly string[] {
  const found: string[] = []
  let depth = 0
  let begin = from + 1
  for (let at = from; at < text.length; at++) {
    const one = text[at] ?? ''
    if ('([{'.includes(one)) depth += 1
    if (')]}'.includes(one)) depth -= 1
    if ((one === ',' && depth === 1) || depth === 0) {
      found.push(text.slice(begin, at).trim())
      begin = at + 1
    }
    if (depth === 0) return found
  }
  throw new Error('a call that does not end')
}

/** Whether a time is known to be short: a number, a constant of the file that is one, or what is made of them. */
function isShort(time: string | undefined, text: string): boolean {
  if (time === undefined || time === '' || /^timerMs\(.*\)$/s.test(time)) return true
  const names = time.match(/(?<!\w)[A-Za-z_][\w.]*/g) ?? []
  const known = (name: string): boolean => {
    const [object = '', member] = name.split('.')
    const value = member === undefined ? '[\\d_]+$' : `\\{[^}]*\\b${member}: [\\d_]+`
    return object === 'Math' || new RegExp(`^const ${object} = ${value}`, 'm').test(text)
  }
  return names.every(known)
}

/** The timers of `text` that take somebody's word. */
function unclamped(text: string): readonly string[] {
  return [...text.matchAll(starts)].flatMap(({ 0: call, 1: name = '', index }) => {
    const time = argumentsAt(text, index + call.length - 1)[places[name] ?? 0]
    return isShort(time, text) ? [] : [`${name}: ${time}`]
  })
}

test('times that are not clamped are found', () => {
  const text = `
const shortMs = 1_000
const patience = { times: 3, everyMs: 20 }
setTimeout(() => end(1, [2, 3]), shortMs)
setTimeout(end)
setInterval(end, timerMs(given))
await delay(5 + Math.random() * shortMs)
await delay(patience.everyMs)
setTimeout(end, 1_000)
socket.setTimeout(given)
`
  assert.deepEqual(unclamped(text), [])
  const all = [
    'setTimeout(() => end(1), given)',
    'await sleep(ms, 1)',
    'AbortSignal.timeout(o.ms ?? 10)',
    'delay(2 * ms)',
  ]
  for (const one of all) assert.equal(unclamped(one).length, 1, one)
})

for (const room of rooms) {
  test(`${room} clamps them all`, () => {
    const faults = filesUnder(room, '.ts').flatMap((file) =>
      unclamped(readFileSync(file, 'utf8')).map((fault) => `${file}: ${fault}`),
    )
    assert.deepEqual(faults, [])
  })
}
