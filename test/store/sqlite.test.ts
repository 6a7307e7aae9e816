import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { sqlite } from '../../src/store/sqlite.ts'
import { storeContract, type StoreUnderTest } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'dragoman-sqlite-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0
const newPath = (): string => join(folder, `${files++}.db`)

function open(): StoreUnderTest {
  let time = 1_700_000_000_000
  const options = { path: newPath(), clock: () => time, pollMs: 5 }
  return {
    store: sqlite(options),
    other: sqlite(options),
    now: () => time,
    second: 1000,
    advance: (milliseconds) => void (time += milliseconds),
  }
}

storeContract('sqlite', open)
