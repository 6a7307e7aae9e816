import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guarded, silent, type Logger } from '../../src/model/ports.ts'

test('a guarded logger says the same, and neither throws nor leaves a rejection behind', async () => {
  const said: unknown[] = []
  const fails = (...all: readonly unknown[]): void => {
    said.push(all)
    throw new Error('the disk is full')
  }
  const rejects = async (...all: readonly unknown[]): Promise<void> => fails(...all)
  const logger = guarded({ debug: fails, info: rejects, warn: fails, error: rejects })
  logger.debug('a', { b: 1 })
  logger.info('c')
  logger.warn('d')
  logger.error('e')
  await new Promise(setImmediate)
  assert.deepEqual(said, [['a', { b: 1 }], ['c'], ['d'], ['e']])
})

test('a logger keeps what it is called on, and is guarded once', () => {
  class Counting implements Logger {
    count = 0
    debug(): void {
      this.count += 1
    }
    info = this.debug
    warn = this.debug
    error = this.debug
  }
  const logger = new Counting()
  const guard = guarded(logger)
  guard.debug('x')
  assert.equal(logger.count, 1)
  assert.equal(guarded(guard), guard)
  assert.equal(guarded(logger), guard)
  assert.equal(guarded(undefined), silent)
})
