import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environmentOf } from '../../../src/transport/dial/environment.ts'

const from = { PATH: '/bin', HOME: '/me', TOKEN: 'secret', SHELL: '() { echo; }', Odd: undefined }

test('few variables are inherited, more by name, or all', () => {
  assert.deepEqual(environmentOf(from, 'linux'), { PATH: '/bin', HOME: '/me' })
  assert.deepEqual(environmentOf(from, 'linux', ['TOKEN', 'token', 'NONE']), {
    PATH: '/bin',
    HOME: '/me',
    TOKEN: 'secret',
  })
  assert.deepEqual(environmentOf(from, 'linux', 'all'), {
    PATH: '/bin',
    HOME: '/me',
    TOKEN: 'secret',
    SHELL: '() { echo; }',
  })
})

test('what is given wins, and can leave a name out', () => {
  assert.deepEqual(environmentOf(from, 'linux', 'minimal', { PATH: '/other', HOME: undefined, A: '' }), {
    PATH: '/other',
    A: '',
  })
})

test('names do not differ by case on Windows', () => {
  const windows = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', Secret: 'x' }
  assert.deepEqual(environmentOf(windows, 'win32'), { Path: 'C:\\bin', SystemRoot: 'C:\\Windows' })
  assert.deepEqual(environmentOf(windows, 'win32', ['SECRET'], { PATH: 'D:\\' }), {
    PATH: 'D:\\',
    SystemRoot: 'C:\\Windows',
    Secret: 'x',
  })
})
