import { parseArgs } from 'node:util'
import { isStoreUnavailable } from '../model/store-unavailable.ts'
import { migratePostgres } from '../store/postgres-migrate.ts'

/** What a command may use of the process it runs in. */
export interface CommandEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Prints a line for whoever asked. */
  out(line: string): void
  /** Prints a line about what went wrong. */
  err(line: string): void
}

/** How `dragoman migrate` is used. */
export const migrateUsage = `Usage: dragoman migrate [--url postgres://…] [--schema dragoman]

Makes the tables of the PostgreSQL store, or brings them up to date. Any number of runs at once do it once.

  --url     where PostgreSQL is. Default: the variable DRAGOMAN_POSTGRES_URL, else DATABASE_URL
  --schema  the schema of the tables. Default: dragoman`

/** Runs `dragoman migrate`. @returns the exit code: 0 done, 1 failed and nothing changed, 2 not understood */
export async function migrateCommand(args: readonly string[], { env, out, err }: CommandEnvironment): Promise<number> {
  const options = optionsIn(args)
  if (typeof options === 'string') {
    err(`${options}\n\n${migrateUsage}`)
    return 2
  }
  if (options.help) {
    out(migrateUsage)
    return 0
  }
  const { schema } = options
  const connectionString = options.url ?? env.DRAGOMAN_POSTGRES_URL ?? env.DATABASE_URL
  if (connectionString === undefined) {
    err(`Which PostgreSQL?\n\n${migrateUsage}`)
    return 2
  }
  try {
    const { from, to } = await migratePostgres({ connectionString, schema })
    out(from === to ? `${schema} is up to date, at version ${to}` : `${schema} went from version ${from} to ${to}`)
    return 0
  } catch (error) {
    if (!isStoreUnavailable(error) && !(error instanceof TypeError)) throw error
    err(error.message)
    return 1
  }
}

interface MigrateOptions {
  readonly url: string | undefined
  readonly schema: string
  readonly help: boolean
}

/** The options, or what is wrong with them. */
function optionsIn(args: readonly string[]): MigrateOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { url: { type: 'string' }, schema: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    return { url: values.url, schema: values.schema ?? 'dragoman', help: values.help ?? false }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
