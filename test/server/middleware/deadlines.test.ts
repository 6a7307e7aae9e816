import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDeadlines } from '../../../src/server/middleware/deadlines.ts'

test('each is up after its time, in the order in which they began', async () => {
  const deadlines = createDeadlines(40)
  const began = performance.now()
  const up: { readonly name: string; readonly after: number }[] = []
  const start = (name: string): void => {
    deadlines.start(() => up.push({ name, after: performance.now() - began }))
  }
  start('one')
  await sleep(20)
  start('two')
  start('three')
  await sleep(120)
  assert.deepEqual(
    up.map(({ name }) => name),
    ['one', 'two', 'three'],
  )
  for (const [at, least] of [40, 60, 60].entries()) assert.ok((up[at]?.after ?? 0) >= least - 2, JSON.stringify(up))
})

test('what is stopped is never up, and what begins after it has all of its time', async () => {
  const deadlines = createDeadlines(60)
  const up: string[] = []
  deadlines.stop(deadlines.start(() => up.push('stopped')))
  await sleep(40)
  const began = performance.now()
  const after = await new Promise<number>((resolve) => {
    deadlines.start(() => resolve(performance.now() - began))
  })
  assert.ok(after >= 58, String(after))
  assert.deepEqual(up, [])
})

test('a time that is no number is up at once', async () => {
  const deadlines = createDeadlines(Number.NaN)
  const up: string[] = []
  deadlines.start(() => up.push('up'))
  await sleep(50)
  assert.deepEqual(up, ['up'])
})

test('a deadline keeps the process until it is up, and no longer than it is wanted', () => {
  const run = (then: string): { readonly status: number | null; readonly ms: number; readonly said: string } => {
    const source = `
      import { createDeadlines } from './src/server/middleware/deadlines.ts'
      const deadlines = createDeadlines(300)
      deadlines.stop(deadlines.start(() => {}))
      const began = performance.now()
      process.on('exit', () => console.log(Math.round(performance.now() - began)))
      ${then}`
    const child = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    return { status: child.status, ms: Number(child.stdout), said: child.stderr }
  }
  const waited = run('deadlines.start(() => {})')
  assert.equal(waited.status, 0, waited.said)
  assert.ok(waited.ms >= 295, String(waited.ms))
  const done = run('')
  assert.equal(done.status, 0, done.said)
  assert.ok(done.ms < 295, String(done.ms))
})

test('what begins while others are up shares their timer', async (t) => {
  let live = 0
  let most = 0
  const real = globalThis.setTimeout
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => {
    most = Math.max(most, ++live)
    return real(() => {
      live--
      run()
    }, ms)
  })
  const deadlines = createDeadlines(15)
  const up: number[] = []
  const again = (nth: number): void => {
    deadlines.start(() => {
      up.push(nth)
      if (nth < 4) again(nth + 1)
    })
  }
  again(0)
  deadlines.start(() => up.push(9))
  await sleep(200)
  assert.deepEqual(up, [0, 9, 1, 2, 3, 4])
  assert.equal(most, 1)
})
