// Defends: a link says that it hears what the server says unasked only while it does, and nobody waits for long to hear so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHearingState } from '../../../src/transport/dial/http-hearing.ts'
import { notification } from '../serve/stand-in.ts'
import { respond, scripted, stream } from './scripted.ts'
import { agreementOn, until } from './support.ts'

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(() => (settled = true))
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

test('what is heard counts from its opening until it breaks', async () => {
  const told: boolean[] = []
  const state = createHearingState(1_000, (hears) => void told.push(hears))
  assert.equal((await state.wait())(), false)
  state.begun()
  const waiting = state.wait()
  assert.equal(await isSettled(waiting), false)
  state.opened()
  const first = await waiting
  assert.equal(first(), true)
  state.broke()
  assert.equal(first(), false)

  const again = state.wait()
  assert.equal(await isSettled(again), false)
  // Failing to get it back is nothing new.
  state.broke()
  assert.equal(await isSettled(again), false)
  state.opened()
  const second = await again
  assert.deepEqual([first(), second()], [false, true])
  state.opened()
  assert.equal(second(), false)
  assert.equal((await state.wait())(), true)
  state.ended()
  assert.deepEqual(told, [true, false, true, false, true, false])
})

test('where it cannot be had nobody waits, nor for long where it does not come', async () => {
  const told: boolean[] = []
  const state = createHearingState(1_000, (hears) => void told.push(hears))
  state.begun()
  const waiting = state.wait()
  state.ended()
  assert.equal((await waiting)(), false)
  assert.equal(await isSettled(state.wait()), true)
  assert.equal(told.length, 0)

  const late = createHearingState(30, (hears) => void told.push(hears))
  late.begun()
  const since = performance.now()
  const hears = await late.wait()
  assert.ok(performance.now() - since < 900)
  late.opened()
  // Whoever was told that nothing is heard may have missed something since.
  assert.equal(hears(), false)
  assert.equal((await late.wait())(), true)
  assert.deepEqual(told, [true])
})

test('the link: from the stream that the server takes up, to its end, and again', async () => {
  let cut = (): void => {}
  let gets = 0
  await using server = await scripted(({ method }, r) => {
    if (method !== 'GET') return respond(r, 202)
    gets += 1
    if (gets === 2) return respond(r, 503)
    if (gets === 4) return respond(r, 405)
    stream(r)
    cut = () => r.destroy()
  })
  const { heard, link, send } = await server.talk()
  const hears = async () => (await link.listening?.())?.()
  assert.equal(await hears(), false)
  link.agree(agreementOn('2025-06-18'))
  await send(notification('notifications/initialized'))
  const first = await link.listening?.()
  assert.equal(first?.(), true)
  cut()
  await until(() => !first?.())
  assert.equal(await hears(), true)
  assert.equal(gets, 3)
  cut()
  await until(() => gets === 4)
  await until(async () => !(await hears()))
  await link.close()
  assert.deepEqual(heard.hearings, [true, false, true, false])
})
