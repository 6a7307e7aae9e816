import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestTimerMs, timerMs } from '../../src/model/timer.ts'

test('a time that no timer takes is the longest that one does', () => {
  for (const ms of [0, 1, 1.5, longestTimerMs]) assert.equal(timerMs(ms), ms)
  for (const ms of [longestTimerMs + 1, 3e9, Infinity]) assert.equal(timerMs(ms), longestTimerMs)
})

test('a timer takes it', async () => {
  const timer = setTimeout(() => assert.fail('at once'), timerMs(Infinity))
  await new Promise((resolve) => setTimeout(resolve, 20))
  clearTimeout(timer)
})
