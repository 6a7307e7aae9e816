import type { Clock } from '../model/ports.ts'
import type { Store } from '../model/store.ts'
import { createBus } from './bus.ts'
import { sqliteBus } from './sqlite-bus.ts'
import type { SqliteDriver } from './sqlite-driver.ts'
import { openFile } from './sqlite-file.ts'
import { sqliteLogs } from './sqlite-logs.ts'
import { sqliteValues } from './sqlite-values.ts'

/** Where and how SQLite keeps things. */
export interface SqliteStoreOptions {
  /** The file; it is made where there is none, its folder is not. Two more files stand beside it. */
  readonly path: string
  /** Default: `node:sqlite` where the runtime has it, else `libsql` or `better-sqlite3`, whichever is installed. */
  readonly driver?: SqliteDriver
  /**
   * `normal` outlives the process, but a loss of power may take the latest writes; `full` outlives that too, and makes
   * each write wait for the disk. Default `normal`.
   */
  readonly synchronous?: 'normal' | 'full'
  /** Pages of 4 KiB that the file may have; beyond them it is full. Default: as many as the disk takes. */
  readonly maxPages?: number
  /** Milliseconds between two looks for messages of other processes, while anybody listens. Default 50. */
  readonly pollMs?: number
  /** Milliseconds that a call waits for other processes to let go of the file. Default 5,000. */
  readonly timeoutMs?: number
  /** Tells when things expire. Default: `Date.now`. */
  readonly clock?: Clock
}

/** What has expired is looked for once in so many writes. */
const sweepEvery = 100

/**
 * A store in one file, which several processes of one machine may share. It survives them, and no timer keeps them alive.
 * @throws StoreUnavailable if the file cannot be opened, or there is no driver
 */
export function sqlite(where: string | SqliteStoreOptions): Store {
  const options = typeof where === 'string' ? { path: where } : where
  const { path, driver, synchronous = 'normal', maxPages, pollMs = 50, timeoutMs = 5000, clock = Date.now } = options
  const file = openFile({ path, driver, synchronous, maxPages, timeoutMs })
  const values = sqliteValues(file, clock)
  const logs = sqliteLogs(file, clock)
  const bus = createBus()
  const fanOut = sqliteBus(file, bus, clock, pollMs)
  let writes = 0

  function write<Result>(work: () => Result, single?: boolean): Promise<Result> {
    writes += 1
    const done = file.write(work, single)
    // A sweep that fails is made up for by a later one.
    if (writes % sweepEvery === 0) void file.write(sweep).catch(() => {})
    return done
  }

  function sweep(): void {
    const now = clock()
    values.sweep(now)
    logs.sweep(now)
  }

  return {
    durable: path !== '' && path !== ':memory:',
    get: (key) => file.read(() => values.get(key)),
    put: (key, value, putOptions = {}) =>
      write(() => values.put(key, value, putOptions), values.isOneStatement(putOptions)),
    delete: (key, ifVersion) => write(() => values.delete(key, ifVersion)),
    list: (group, listOptions = {}) => file.read(() => values.list(group, listOptions)),
    append: (log, value, appendOptions) => write(() => logs.append(log, value, appendOptions)),
    read: (log, after) => file.read(() => logs.read(log, after)),
    publish: (channel, message) => fanOut.publish(channel, message),
    subscribe: (channel, listener, missed) =>
      file.read(() => {
        fanOut.listen()
        const stop = bus.subscribe(channel, listener, missed)
        return async () => {
          stop()
          if (bus.channels().length === 0) fanOut.rest()
        }
      }),
    async close() {
      fanOut.rest()
      bus.clear()
      file.close()
    },
  }
}
