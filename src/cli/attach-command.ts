import type { Readable, Writable } from 'node:stream'
import { parseArgs } from 'node:util'
import { readAddress } from './address.ts'
import { attach } from './attach.ts'

/** How `dragoman attach` is used. */
export const attachUsage = `Usage: dragoman attach PATH|tcp:HOST:PORT [--timeout SECONDS] [--connect-timeout SECONDS]

Joins a client that only speaks stdio to a running application. PATH is a Unix socket or a Windows named pipe.
A request that the application does not answer is answered with an error.

  --timeout          without an answer, or progress on it; 0: wait for ever. Default: 300
  --connect-timeout  for connecting. Default: 5`

/** The streams of the process, and where it says what goes on. */
export interface AttachEnvironment {
  readonly input: Readable
  readonly output: Writable
  out(line: string): void
  err(line: string): void
}

/** Runs `dragoman attach`. @returns the exit code: 0 when the client has ended, 2 where the command was not understood */
export async function attachCommand(
  args: readonly string[],
  { input, output, out, err }: AttachEnvironment,
): Promise<number> {
  const options = optionsIn(args)
  if (options === 'help') {
    out(attachUsage)
    return 0
  }
  const address = typeof options === 'string' ? undefined : readAddress(options.address)
  if (typeof options === 'string' || address === undefined) {
    err(`${typeof options === 'string' ? options : 'This is no address'}\n\n${attachUsage}`)
    return 2
  }
  const log = (line: string): void => err(`dragoman attach: ${line}`)
  await attach({ ...options, address, input, output, log })
  return 0
}

interface ReadOptions {
  readonly address: string
  readonly timeoutMs: number
  readonly connectTimeoutMs: number
}

/** The options, what is wrong with them, or that help is wanted. */
function optionsIn(args: readonly string[]): ReadOptions | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        timeout: { type: 'string', default: '300' },
        'connect-timeout': { type: 'string', default: '5' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return 'help'
    const [address, ...more] = positionals
    if (address === undefined || more.length > 0) return 'One address is needed'
    const timeoutMs = toMs(values.timeout)
    const connectTimeoutMs = toMs(values['connect-timeout'])
    if (timeoutMs === undefined || !connectTimeoutMs) return 'Timeouts are seconds'
    return { address, timeoutMs, connectTimeoutMs }
  } catch (error) {
    return error instanceof Error ? error.message : 'Not understood'
  }
}

/** Seconds as milliseconds, as far as a timer reaches; `undefined` for anything else. */
function toMs(seconds: string): number | undefined {
  const ms = /^\d{1,7}(\.\d{1,3})?$/.test(seconds) ? Number(seconds) * 1_000 : Number.NaN
  return ms <= 2_147_483_647 ? ms : undefined
}
