import { after, before } from 'node:test'
import { postgresMissing, startPostgres } from '../../tools/postgres-server.ts'
import { redisMissing, startRedis } from '../../tools/redis-server.ts'
import type { TestServer } from '../../tools/server-process.ts'

/** A server that the tests of a file may use: the one that the environment names, else one of their own. */
export interface Reached {
  /** Known once the tests run. */
  url(): string
  /** Why there is none. */
  readonly missing: string | undefined
}

/** `DRAGOMAN_TEST_REDIS_URL`, or a Redis for this file. */
export function reachRedis(): Reached {
  return reach(process.env.DRAGOMAN_TEST_REDIS_URL, redisMissing(), startRedis)
}

/** `DRAGOMAN_TEST_POSTGRES_URL`, or a PostgreSQL for this file. */
export function reachPostgres(): Reached {
  return reach(process.env.DRAGOMAN_TEST_POSTGRES_URL, postgresMissing(), startPostgres)
}

function reach(given: string | undefined, missing: string | undefined, start: () => Promise<TestServer>): Reached {
  if (given !== undefined) return { url: () => given, missing: undefined }
  let server: TestServer | undefined
  before(async () => {
    if (missing === undefined) server = await start()
  })
  after(() => server?.stop())
  return { url: () => server?.url ?? '', missing }
}

/** The same URL, by another port of 127.0.0.1. */
export function byPort(url: string, port: number): string {
  const other = new URL(url)
  other.hostname = '127.0.0.1'
  other.port = String(port)
  return other.href
}

/** Host and port of a URL. */
export function addressOf(url: string, defaultPort: number): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port || defaultPort) }
}
