import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { timerMs } from '../../model/timer.ts'
import { CallFailed } from '../../model/failure.ts'
import { environmentOf, type Environment, type Inherited } from './environment.ts'
import { resolveCommand } from './windows-command.ts'

/** What is started, and in which surroundings. */
export interface ProcessOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** Variables on top of what is inherited. */
  readonly env?: Environment
  /** Which variables of this process the server gets; `minimal` by default, see `inheritedVariables`. */
  readonly inherit?: Inherited
  /** The directory to run in; that of this process by default. */
  readonly cwd?: string
  /** Milliseconds that each of the gentler ways to end the process has before the next; 2,000 by default. */
  readonly graceMs?: number
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

/** A process that runs, with all that it starts in turn. */
export interface ServerProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves once the process has ended and what it wrote was read. */
  readonly exited: Promise<Exit>
  /**
   * Ends the process and what it started (specification, "stdio", shutdown): closes its input, waits, then SIGTERM, waits,
   * then SIGKILL. Whatever it started that outlives it is ended the same way. Can be called again.
   */
  end(): Promise<void>
}

/** Milliseconds that output may still come in after the process itself has ended: a child of it may hold the pipe. */
const lastWordsMs = 200
/** Milliseconds that the system may take to end what was killed. */
const killedMs = 500

const windows = process.platform === 'win32'
const running = new Set<number>()

/**
 * Starts a process without a shell, as the leader of a group of its own, so that all of it can be ended.
 * @throws CallFailed `Unreachable` where it cannot be started
 */
export async function startProcess(options: ProcessOptions): Promise<ServerProcess> {
  const { graceMs = 2_000 } = options
  const child = await spawnChild(options)
  const pid = child.pid ?? 0
  remember(pid)
  const exited = whenExited(child)
  void exited.then(() => running.delete(pid))
  let ending: Promise<void> | undefined

  async function end(): Promise<void> {
    child.stdin.end()
    if (!(await settles(exited, graceMs))) {
      signalGroup(pid, 'SIGTERM')
      if (!(await settles(exited, graceMs))) signalGroup(pid, 'SIGKILL')
      await settles(exited, killedMs)
    }
    await endGroup(pid, graceMs)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    child.unref()
  }
  const { stdin, stdout, stderr } = child
  return { stdin, stdout, stderr, exited, end: () => (ending ??= end()) }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

async function spawnChild(options: ProcessOptions): Promise<Child> {
  const { command, args = [], cwd } = options
  const env = environmentOf(process.env, process.platform, options.inherit, options.env)
  // Loaded here: a client of servers elsewhere starts sooner without it.
  const { spawn } = await import('node:child_process')
  try {
    const place = { platform: process.platform, env, cwd: cwd ?? process.cwd(), isFile }
    const { file, args: resolved, verbatim } = resolveCommand(command, args, place)
    const child = spawn(file, resolved, {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own. On Windows that would be a window of its own instead.
      detached: !windows,
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    })
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    // A broken pipe is known by the end of the process; without a listener it would end this one.
    for (const stream of [child, child.stdin, child.stdout, child.stderr]) stream.on('error', () => {})
    return child
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CallFailed('Unreachable', { ran: 'no', message: `cannot start ${command}: ${why}`, cause })
  }
}

function isFile(path: string): boolean {
  // An import of it would load all of Node's streams with it.
  return process.getBuiltinModule('node:fs').statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function whenExited(child: Child): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      const done = (): void => {
        clearTimeout(timer)
        resolve({ code, signal })
      }
      const timer = setTimeout(done, lastWordsMs)
      child.once('close', done)
    })
  })
}

/** This process may end without closing what it started. It cannot wait for that any more, but it can say so. */
function remember(pid: number): void {
  if (running.size === 0 && !process.listeners('exit').includes(endAll)) process.once('exit', endAll)
  running.add(pid)
}

function endAll(): void {
  for (const pid of running) signalGroup(pid, 'SIGTERM')
}

/** @returns whether there is anybody left in the group */
function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    if (windows) return killTree(pid, signal)
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** Windows knows no groups and no signals: what a process started is known for as long as that lives, so all go at once. */
function killTree(pid: number, signal: string | 0): boolean {
  if (signal === 0) return false
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  return spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true }).status === 0
}

/** Ends what outlived the leader of its group. */
async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return
  if (await isGone(pid, graceMs)) return
  signalGroup(pid, 'SIGKILL')
  await isGone(pid, killedMs)
}

async function isGone(pid: number, ms: number): Promise<boolean> {
  for (const until = Date.now() + ms; Date.now() < until; await sleep(10)) {
    if (!signalGroup(pid, 0)) return true
  }
  return !signalGroup(pid, 0)
}

async function settles(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const limit = new AbortController()
  const late = sleep(timerMs(ms), false, { signal: limit.signal }).catch(() => false)
  const settled = await Promise.race([promise.then(() => true), late])
  limit.abort()
  return settled
}
