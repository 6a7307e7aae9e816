import { setTimeout as sleep } from 'node:timers/promises'
import { CallFailed } from '../../model/failure.ts'
import type { Link, LinkListener } from '../../peer/link.ts'
import type { Caps } from '../../wire/caps.ts'
import { capsOf } from './caps.ts'
import { closedFailure } from './closed.ts'
import { createLinePipe, type LinePipe } from './line-pipe.ts'
import { tellNoise } from './messages.ts'
import { startProcess, type Exit, type ProcessOptions, type ServerProcess } from './process.ts'
import { createStderrTail, type StderrTail } from './stderr.ts'

/** A server that is started by a command. */
export interface CommandOptions extends ProcessOptions {
  /** What becomes of the server's standard error besides its last lines being kept: nothing, or it is written to this process's. */
  readonly stderr?: 'capture' | 'forward'
  readonly caps?: Partial<Caps>
}

/** Milliseconds between a broken pipe and the end of the process that explains it. */
const explainedMs = 500

/**
 * A link to a server that this process starts and talks to over its standard input and output, one message a line
 * (specification, "stdio"). What else it prints is skipped and told as noise. `open` resolves once the process runs.
 */
export function createStdioLink(options: CommandOptions): Link {
  const caps = capsOf(options.caps)
  let starting: Promise<ServerProcess> | undefined
  let server: ServerProcess | undefined
  let closed = false
  let pipe: LinePipe | undefined
  let listener: LinkListener | undefined
  let failure = new CallFailed('ServerExited', { ran: 'no', message: 'the server is not running' })

  /** Ends the link, once. */
  function lose(why: CallFailed): void {
    const hearing = listener
    if (hearing === undefined) return
    listener = undefined
    failure = why
    void server?.end()
    hearing.closed(why)
  }

  function listen(running: ServerProcess): LinePipe {
    const lines = createLinePipe({
      output: running.stdin,
      caps,
      listener: () => listener,
      from: 'stdout',
      gone: () => failure,
    })
    const tail = createStderrTail((line) => tellNoise(listener, 'stderr', line))
    running.stdout.on('data', lines.receive)
    running.stderr.on('data', (chunk: Buffer) => {
      tail.push(chunk)
      if (options.stderr === 'forward') process.stderr.write(chunk)
    })
    const broken = (message: string): void => void explain(running, message).then(lose)
    running.stdout.on('end', () => {
      lines.end()
      broken('the server closed its output')
    })
    running.stdin.on('close', () => broken('the server closed its input'))
    void running.exited.then((exit) => {
      tail.end()
      lose(exitFailure(options.command, exit, tail))
    })
    return lines
  }

  return {
    transport: 'stdio',
    async open(hearing) {
      starting = startProcess(options)
      server = await starting
      if (closed) throw failure
      listener = hearing
      pipe = listen(server)
    },
    send: (outgoing) => (listener && pipe ? pipe.send(outgoing) : Promise.reject(failure)),
    agree() {},
    async close() {
      listener = undefined
      closed = true
      failure = closedFailure()
      await (await starting?.catch(() => undefined))?.end()
    },
  }
}

/** A pipe that breaks mostly does so because the process ended, which then is what to tell. */
async function explain(server: ServerProcess, message: string): Promise<CallFailed> {
  await Promise.race([server.exited, sleep(explainedMs, undefined, { ref: false })])
  return new CallFailed('ConnectionLost', { ran: 'unknown', message })
}

/** Lines of standard error that a message shows. All that were kept are in its data. */
const shownLines = 10

/** The last lines that say something: the trace below an error would hide it. */
function lastWords(lines: readonly string[]): readonly string[] {
  const words = lines.filter((line) => line.trim() !== '' && !/^\s+at\s/.test(line))
  return (words.length > 0 ? words : lines).slice(-shownLines)
}

function exitFailure(command: string, { code, signal }: Exit, { lines }: StderrTail): CallFailed {
  const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`
  const words = lines.length === 0 ? '' : `; its last words:\n${lastWords(lines).join('\n')}`
  return new CallFailed('ServerExited', {
    ran: 'unknown',
    message: `the server (${command}) ${how}${words}`,
    data: { code, signal, stderr: [...lines] },
  })
}
