import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { isRefusal } from '../../src/model/refusal.ts'
import { isStoreUnavailable } from '../../src/model/store-unavailable.ts'
import { never } from '../../src/store/expiry.ts'
import { migrations } from '../../src/store/sqlite-schema.ts'
import {
  hasNoRoom,
  isBusy,
  openDatabase,
  type SqliteDatabase,
  type SqliteDriver,
} from '../../src/store/sqlite-driver.ts'
import { sqlite } from '../../src/store/sqlite.ts'
import { storeContract, type StoreUnderTest } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'dragoman-sqlite-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0
const newPath = (): string => join(folder, `${files++}.db`)

for (const driver of ['node:sqlite', 'libsql', 'better-sqlite3'] as const) {
  storeContract(`sqlite by ${driver}`, () => open(driver), absent(driver))
}

function open(driver: SqliteDriver): StoreUnderTest {
  let time = 1_700_000_000_000
  const options = { path: newPath(), driver, clock: () => time, pollMs: 5 }
  return {
    store: sqlite(options),
    other: sqlite(options),
    now: () => time,
    second: 1000,
    advance: (milliseconds) => void (time += milliseconds),
  }
}

function absent(driver: SqliteDriver): string | undefined {
  try {
    createRequire(import.meta.url)(driver)
    return undefined
  } catch {
    return driver === 'node:sqlite' ? 'only Node 22.5 and later have it' : `${driver} is not installed`
  }
}

/** A connection beside the store's, by the same package: the locks of two do not see one another within one process. */
const beside = (path: string): SqliteDatabase => openDatabase(path, undefined)

test('everything outlives the store, and versions go on', async () => {
  const path = newPath()
  const first = sqlite(path)
  assert.equal(first.durable, true)
  const version = (await first.put('a', 'kept')) ?? assert.fail()
  await first.put('gone', 'x')
  await first.delete('gone')
  await first.append('log', 'kept', { maxEntries: 5, expiresAt: Date.now() + 60_000 })
  await first.close()
  const second = sqlite({ path })
  assert.deepEqual(await second.get('a'), { value: 'kept', version })
  assert.equal(await second.append('log', 'next', { maxEntries: 5, expiresAt: Date.now() + 60_000 }), 2)
  assert.ok(Number(await second.put('gone', 'y')) > version)
  await second.close()
})

test('it outlives a process that is killed in the middle', async () => {
  const path = newPath()
  const script = `
    import { sqlite } from './src/store/sqlite.ts'
    const store = sqlite(process.argv[1])
    for (let at = 0; ; at++) {
      await store.put('count', String(at))
      await store.append('log', String(at), { maxEntries: 1e6, expiresAt: Date.now() + 60_000 })
      if (at === 200) process.kill(process.pid, 'SIGKILL')
    }`
  const flags = ['--import', 'tsx', '--input-type=module', '-e', script, path]
  assert.throws(() => execFileSync(process.execPath, flags, { timeout: 20_000 }), { signal: 'SIGKILL' })
  const store = sqlite(path)
  assert.equal((await store.get('count'))?.value, '200')
  assert.equal((await store.read('log', 0)).entries.length, 201)
  await store.close()
})

test('while another holds the file, calls wait in their order without blocking, and reject in time', async () => {
  const path = newPath()
  const store = sqlite({ path, timeoutMs: 400 })
  const holder = beside(path)
  const heard: string[] = []
  await store.subscribe('c', (message) => heard.push(message))
  holder.exec('BEGIN IMMEDIATE')
  const waiting = ['1', '2', '3'].map((message) => store.publish('c', message))
  let turns = 0
  const ticking = setInterval(() => turns++, 5)
  await delay(150)
  holder.exec('ROLLBACK')
  await Promise.all(waiting)
  await delay(10)
  assert.deepEqual(heard, ['1', '2', '3'])
  assert.ok(turns >= 5, `${turns} turns`)
  holder.exec('BEGIN IMMEDIATE')
  const started = performance.now()
  await assert.rejects(store.put('a', 'b'), isStoreUnavailable)
  await assert.rejects(store.put('a/a', 'b', { maxInGroup: 1 }), isStoreUnavailable)
  assert.ok(performance.now() - started < 4000)
  holder.exec('ROLLBACK')
  clearInterval(ticking)
  assert.equal(await store.get('a'), undefined)
  assert.notEqual(await store.put('a', 'b'), undefined)
  await store.close()
  holder.close()
})

test('a file that cannot be opened is told of at once', () => {
  assert.throws(() => sqlite(join(folder, 'no', 'such', 'folder.db')), isStoreUnavailable)
  assert.throws(() => sqlite({ path: newPath(), driver: 'none' as SqliteDriver }), /npm install none/)
})

test('many may open a new file at once', async () => {
  const path = newPath()
  const script = `
    import { sqlite } from './src/store/sqlite.ts'
    const store = sqlite(process.argv[1])
    await store.put('k' + process.pid, 'x')`
  const { spawn } = await import('node:child_process')
  const flags = ['--import', 'tsx', '--input-type=module', '-e', script, path]
  const codes = await Promise.all(
    Array.from(
      { length: 4 },
      () => new Promise((resolve) => spawn(process.execPath, flags, { stdio: 'inherit' }).on('exit', resolve)),
    ),
  )
  assert.deepEqual(codes, [0, 0, 0, 0])
  const check = beside(path)
  assert.equal(check.prepare('SELECT * FROM kept').all().length, 4)
  check.close()
})

test('a file from before tables had ids keeps its values, their versions, and what was deleted', async () => {
  const path = newPath()
  const before = beside(path)
  before.exec(migrations[0] ?? '')
  const row = before.prepare('INSERT INTO kept VALUES (?, ?, ?, ?, 0, ?)')
  row.run('a', 'late', 7, never, 20)
  row.run('b', 'early', 1, never, 10)
  before.exec('UPDATE meta SET floor = 9; PRAGMA user_version = 1')
  before.close()

  const store = sqlite(path)
  assert.deepEqual(await store.get('a'), { value: 'late', version: 7 })
  assert.deepEqual(await store.get('b'), { value: 'early', version: 1 })
  assert.equal(await store.put('a', 'later', { ifVersion: 7 }), 8)
  assert.ok(((await store.put('deleted once', 'x', { ifVersion: 0 })) ?? 0) > 9)
  await store.close()
})

test('no version comes twice, however often a key was put over before it was deleted', async () => {
  const store = sqlite(newPath())
  let latest = 0
  for (let at = 0; at < 20; at++) latest = (await store.put('often', String(at))) ?? assert.fail()
  await store.delete('often')
  for (const again of ['often', 'other', 'often']) {
    const version = (await store.put(again, 'x', { ifVersion: 0 })) ?? assert.fail()
    assert.ok(version > latest, `${version} after ${latest}`)
    if (again === 'often') {
      latest = version
      await store.delete('often', version)
    }
  }
  await store.close()
})

test('a text that is longer than SQLite takes is refused as StoreFull, and what is written beside it is written', async () => {
  const path = newPath()
  await sqlite(path).close()
  const database = openDatabase(path, undefined)
  // A text of a gigabyte takes several to make: one that the file itself makes longer meets the same end.
  for (const table of ['kept', 'log_entry']) {
    database.exec(`CREATE TRIGGER long_${table} BEFORE INSERT ON ${table} WHEN new.value = 'long'
      BEGIN SELECT length(zeroblob(2000000000)); END`)
  }
  database.close()
  const store = sqlite(path)
  const options = { maxEntries: 5, expiresAt: Date.now() + 60_000 }
  const tooLong = [
    store.put('a', 'long'),
    store.put('b', 'long', { ifVersion: 0 }),
    store.append('log', 'long', options),
  ]
  const beside = store.put('c', 'short')
  await Promise.all(tooLong.map((each) => assert.rejects(each, { kind: 'StoreFull' })))
  assert.equal((await store.get('c'))?.version, await beside)
  assert.deepEqual([await store.get('a'), await store.get('b')], [undefined, undefined])
  assert.deepEqual((await store.read('log', 0)).entries, [])
  await store.close()
})

test('what every driver says of a full file, of a long text, and of a file that another holds, is understood', () => {
  const said = (members: object): Error => Object.assign(new Error('said'), members)
  for (const [name, number] of [
    ['SQLITE_FULL', 13],
    ['SQLITE_TOOBIG', 18],
  ] as const) {
    assert.ok(hasNoRoom(said({ code: name })))
    assert.ok(hasNoRoom(said({ code: 'ERR_SQLITE_ERROR', errcode: number })))
    assert.ok(!isBusy(said({ errcode: number })))
  }
  assert.ok(isBusy(said({ code: 'SQLITE_BUSY_SNAPSHOT' })) && isBusy(said({ errcode: 517 })))
  for (const other of [said({ code: 'SQLITE_IOERR' }), said({ errcode: 10 }), said({}), 'SQLITE_FULL'])
    assert.ok(!hasNoRoom(other) && !isBusy(other))
})

test('a full disk refuses as StoreFull, and nothing has happened', async () => {
  const path = newPath()
  const store = sqlite(path)
  const version = await store.put('kept', 'a')
  await store.close()
  const limited = sqlite({ path, maxPages: 40 })
  const full = async (): Promise<void> => {
    for (let at = 0; at < 100; at++) await limited.put(`k${at}`, 'x'.repeat(10_000))
  }
  await assert.rejects(full(), (error) => isRefusal(error) && error.kind === 'StoreFull')
  const log = limited.append('log', 'x'.repeat(100_000), { maxEntries: 5, expiresAt: Date.now() + 60_000 })
  await assert.rejects(log, (error) => isRefusal(error) && error.kind === 'StoreFull')
  assert.deepEqual((await limited.read('log', 0)).entries, [])
  assert.deepEqual(await limited.get('kept'), { value: 'a', version })
  await limited.delete('k0')
  assert.notEqual(await limited.put('k0', 'small'), undefined)
  await limited.close()
})

test('what has expired is deleted in time, and its versions stay used', async () => {
  const path = newPath()
  let time = 1000
  const store = sqlite({ path, clock: () => time })
  for (let at = 0; at < 50; at++) await store.put(`old${at}`, 'x', { expiresAt: 2000 })
  for (let at = 0; at < 5; at++) await store.put('old0', 'x', { expiresAt: 2000 })
  const version = (await store.put('old0', 'x', { expiresAt: 2000 })) ?? assert.fail()
  for (let at = 0; at < 3; at++) await store.append(`old${at}`, 'x', { maxEntries: 2, expiresAt: 2000 })
  time = 3000
  for (let at = 0; at < 100; at++) await store.put('new', 'x')
  const check = beside(path)
  assert.equal(check.prepare('SELECT * FROM kept').all().length, 1)
  assert.equal(check.prepare('SELECT * FROM log').all().length, 0)
  assert.equal(check.prepare('SELECT * FROM log_entry').all().length, 0)
  check.close()
  assert.ok(Number(await store.put('old0', 'x')) > version)
  await store.close()
})

test('old messages are deleted', async () => {
  const path = newPath()
  let time = 1000
  const store = sqlite({ path, clock: () => time })
  for (let at = 0; at < 130; at++) {
    time += 1000
    await store.publish('c', 'x')
  }
  const check = beside(path)
  assert.ok(check.prepare('SELECT * FROM message').all().length <= 128)
  check.close()
  await store.close()
})

test('other processes hear within two looks', async () => {
  const path = newPath()
  const one = sqlite({ path, pollMs: 20 })
  const two = sqlite({ path, pollMs: 20 })
  const took: number[] = []
  let sent = 0
  await one.subscribe('c', () => took.push(performance.now() - sent))
  for (let at = 0; at < 10; at++) {
    sent = performance.now()
    await two.publish('c', 'x')
    for (const last = Date.now() + 5000; took.length === at && Date.now() < last;) await delay(1)
  }
  took.sort((a, b) => a - b)
  assert.equal(took.length, 10)
  assert.ok((took[4] ?? Infinity) < 500, `${took[4]} ms`)
  await one.close()
  await two.close()
})

test('it keeps no process alive', () => {
  const script = `
    import { sqlite } from './src/store/sqlite.ts'
    const store = sqlite(process.argv[1])
    await store.put('a', 'b', { expiresAt: Date.now() + 3600_000 })
    await store.subscribe('c', () => {})
    console.log('over')`
  const flags = ['--import', 'tsx', '--input-type=module', '-e', script, newPath()]
  assert.equal(execFileSync(process.execPath, flags, { timeout: 20_000, encoding: 'utf8' }), 'over\n')
})
