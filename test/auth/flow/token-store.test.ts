import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileTokens, keychainTokens, memoryTokens, type Keychain, type TokenStore } from '../../../src/oauth.ts'

const place = (): string => join(mkdtempSync(join(tmpdir(), 'tokens-')), 'below', 'tokens.json')

function keychain(): Keychain & { readonly values: Map<string, string> } {
  const values = new Map<string, string>()
  const later = <Value>(value: Value): Promise<Value> => new Promise((resolve) => setTimeout(resolve, 1, value))
  return {
    values,
    get: (key) => later(values.get(key) ?? null),
    set: async (key, value) => void values.set(key, await later(value)),
    delete: async (key) => values.delete(await later(key)),
  }
}

const stores: Readonly<Record<string, () => TokenStore>> = {
  memory: memoryTokens,
  file: () => fileTokens(place()),
  keychain: () => keychainTokens(keychain()),
  'locked keychain': () => keychainTokens(keychain(), { lockFile: place().replace('/below/', '/') }),
}
for (const [name, create] of Object.entries(stores)) {
  test(`${name}: a value is put where the one before is what was thought`, async () => {
    const store = create()
    assert.equal(await store.get('a'), undefined)
    assert.equal(await store.swap('a', 'x', 'y'), false)
    assert.equal(await store.swap('a', undefined, 'one'), true)
    assert.equal(await store.swap('a', undefined, 'two'), false)
    assert.equal(await store.swap('a', 'one', 'two'), true)
    assert.equal(await store.swap('__proto__', undefined, 'other'), true)
    assert.deepEqual([await store.get('a'), await store.get('__proto__')], ['two', 'other'])
    assert.equal(await store.swap('a', 'one', undefined), false)
    assert.equal(await store.swap('a', 'two', undefined), true)
    assert.equal(await store.swap('a', undefined, undefined), true)
    assert.deepEqual([await store.get('a'), await store.get('__proto__')], [undefined, 'other'])
  })

  test(`${name}: of many who want the same place one gets it`, async () => {
    const store = create()
    const got = await Promise.all(Array.from({ length: 10 }, (_, at) => store.swap('a', undefined, String(at))))
    assert.equal(got.filter(Boolean).length, 1)
    assert.equal(await store.get('a'), String(got.indexOf(true)))
  })
}

test('the file is its owner’s alone, and nothing else is left beside it', async () => {
  const path = place()
  const store = fileTokens(path)
  await store.swap('a', undefined, 'secret')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
  assert.deepEqual(readdirSync(join(path, '..')), ['tokens.json'])
  chmodSync(path, 0o644)
  assert.equal(await store.get('a'), 'secret')
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a file that holds anything else is left as it is', async () => {
  const path = place()
  await fileTokens(path).swap('a', undefined, 'x')
  for (const text of ['', 'nonsense', '[]', '{"a":1}']) {
    writeFileSync(path, text)
    await assert.rejects(fileTokens(path).get('a'), /does not hold tokens/)
    await assert.rejects(fileTokens(path).swap('a', undefined, 'x'), /does not hold tokens/)
    assert.equal(readFileSync(path, 'utf8'), text)
  }
  assert.ok(!existsSync(`${path}.lock`))
})

test('a lock that was left behind is broken, one that is held is not', async () => {
  const path = place()
  const store = fileTokens(path)
  await store.swap('a', undefined, 'x')
  writeFileSync(`${path}.lock`, '4194304 gone')
  assert.equal(await store.swap('a', 'x', 'y'), true)
  writeFileSync(`${path}.lock`, `${process.pid} old`)
  utimesSync(`${path}.lock`, 0, 0)
  assert.equal(await store.swap('a', 'y', 'z'), true)
  writeFileSync(`${path}.lock`, `${process.pid} held`)
  const waiting = store.swap('a', 'z', 'w')
  const early = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 200, 'waiting'))])
  assert.equal(early, 'waiting')
  assert.equal(readFileSync(`${path}.lock`, 'utf8'), `${process.pid} held`)
  utimesSync(`${path}.lock`, 0, 0)
  assert.equal(await waiting, true)
})

test('who has lost the lock writes nothing, and leaves it to its new holder', async () => {
  const path = place()
  const store = fileTokens(path)
  await store.swap('a', undefined, 'x')
  const swapped = store.swap('a', 'x', 'y')
  const taken = (): boolean => existsSync(`${path}.lock`) && statSync(`${path}.lock`).size > 0
  while (!taken()) await new Promise((resolve) => setImmediate(resolve))
  writeFileSync(`${path}.lock`, `${process.pid} another`)
  assert.equal(await swapped, false)
  assert.equal(await store.get('a'), 'x')
  assert.equal(readFileSync(`${path}.lock`, 'utf8'), `${process.pid} another`)
})

test('processes that write the same file lose nothing', async () => {
  const path = place()
  const code = `
    import { fileTokens } from ${JSON.stringify(resolve('src/auth/flow/file-tokens.ts'))}
    const store = fileTokens(${JSON.stringify(path)})
    for (let done = 0; done < 20; ) {
      const before = await store.get('count')
      if (await store.swap('count', before, String(Number(before ?? 0) + 1))) done += 1
    }`
  const run = (): Promise<number | null> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
        stdio: 'inherit',
      })
      child.once('close', resolve)
    })
  assert.deepEqual(await Promise.all([run(), run(), run()]), [0, 0, 0])
  assert.equal(await fileTokens(path).get('count'), '60')
})
