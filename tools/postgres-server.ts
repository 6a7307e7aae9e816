// Defends: tests speak to a real PostgreSQL.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findBinary, freePort, startServer, temporaryFolder, type TestServer } from './server-process.ts'

/** Why there is no PostgreSQL to start, or undefined. */
export function postgresMissing(): string | undefined {
  if (binary('postgres') === undefined || binary('initdb') === undefined) {
    return 'no postgres and initdb on this machine; apt-get install postgresql'
  }
  return unprivileged() === 'none'
    ? 'PostgreSQL does not run as root, and there is no other user to run it as'
    : undefined
}

/** Starts a PostgreSQL that keeps what it is told over a crash of its processes; as another user where we are root. */
export async function startPostgres(): Promise<TestServer> {
  const user = unprivileged()
  if (user === 'none') throw new Error(postgresMissing())
  const port = await freePort()
  const folder = temporaryFolder('postgres', user)
  const initdb = binary('initdb') ?? 'initdb'
  const options = ['-D', folder, '-U', 'postgres', '--auth', 'trust', '--no-sync', '-E', 'UTF8', '--locale', 'C']
  execFileSync(initdb, options, { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  return startServer({
    url,
    command: binary('postgres') ?? 'postgres',
    args: [
      ...['-D', folder, '-p', String(port), '-h', '127.0.0.1', '-k', folder],
      ...['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'max_connections=200', '-c', 'shared_buffers=32MB'],
    ],
    folder,
    crash: 'SIGQUIT',
    user,
    answers: () => answers(url),
  })
}

function binary(name: string): string | undefined {
  return findBinary(name, versions())
}

/** Where Debian keeps them, the newest first. */
function versions(): readonly string[] {
  const root = '/usr/lib/postgresql'
  try {
    return readdirSync(root)
      .sort((one, two) => Number(two) - Number(one))
      .map((version) => join(root, version, 'bin'))
  } catch {
    return []
  }
}

/** Whom to run it as: nobody else where we are not root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | 'none' | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {}
  }
  return 'none'
}

/** It may take connections before it has recovered, and only refuse them. */
async function answers(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2000 })
  client.on('error', () => {})
  await client.connect()
  await client.end()
}
