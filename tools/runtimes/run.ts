// Defends: the fetch handler is the same on workerd, Bun and Deno as on Node. The runtimes come from npm, without their
// install scripts, and are kept in .cache. A runtime that cannot be had or started is said so, and fails the run unless
// it is left out by name:  node --import tsx tools/runtimes/run.ts [workerd] [bun] [deno]
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build as bundle } from 'esbuild'
import { freePort } from '../fixture.ts'
import { requests, type Asked } from './requests.ts'
import { build } from './server.ts'

const home = join('.cache', 'runtimes')
const file = join(home, 'server.mjs')
const versions: Readonly<Record<string, string>> = { workerd: '1.20261117.1', bun: '1.4.5', deno: '2.9.6' }
const scopes: Readonly<Record<string, string>> = { workerd: '@cloudflare', bun: '@oven', deno: '@deno' }

interface Reply {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly session: string | undefined
}

type Send = (asked: Asked, extra: Record<string, string>, body: string | undefined) => Promise<Reply>

/** The program itself, from the package for this platform, which needs no script to be run. */
function binary(name: string): string | undefined {
  const folder = join(home, 'node_modules', scopes[name] ?? '')
  const packages = existsSync(folder) ? readdirSync(folder) : []
  return packages
    .flatMap((one) => ['', 'bin'].map((part) => join(folder, one, part, name)))
    .find((path) => existsSync(path))
}

function install(names: readonly string[]): void {
  const missing = names.filter((name) => binary(name) === undefined)
  if (missing.length === 0) return
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{"private":true}')
  const wanted = names.map((name) => `${name}@${versions[name]}`)
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', home, ...wanted],
    { encoding: 'utf8' },
  )
  if (status !== 0) console.log(`npm could not install ${missing.join(', ')}: ${stderr.trim().split('\n').at(-1)}`)
}

/** How each runtime serves the module on a port. */
function argumentsOf(name: string, port: number): string[] {
  if (name === 'bun') return ['run', join(home, 'bun.mjs')]
  if (name === 'deno')
    return [
      'serve',
      '--no-lock',
      '--no-config',
      '--node-modules-dir=none',
      '--allow-all',
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      file,
    ]
  writeFileSync(
    join(home, 'workerd.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .server)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
const server :Workerd.Worker = (
  modules = [(name = "server.mjs", esModule = embed "server.mjs")],
  compatibilityDate = "2026-09-01"
);
`,
  )
  return ['serve', join(home, 'workerd.capnp')]
}

/** Node itself, by the same handler and without a socket. */
function onNode(): Send {
  const handler = build()
  return async ({ method = 'POST', path = '/mcp', headers = {} }, extra, body) => {
    const response = await handler(
      new Request(`http://localhost${path}`, {
        method,
        headers: { ...headers, ...extra },
        ...(body !== undefined && { body }),
      }),
    )
    return {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      body: await response.text(),
      session: response.headers.get('mcp-session-id') ?? undefined,
    }
  }
}

function overPort(port: number): Send {
  return ({ method = 'POST', path = '/mcp', headers = {} }, extra, body) =>
    new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          agent: false,
          headers: { ...headers, ...extra, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
        },
        (response) => {
          let said = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
          response.on('error', reject).on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              type: response.headers['content-type'] ?? '',
              body: said,
              session: response.headers['mcp-session-id']?.toString(),
            }),
          )
        },
      )
      request.setTimeout(10_000, () => request.destroy(new Error('no answer in 10 s')))
      request.on('error', reject).end(body)
    })
}

/** The answers to all requests, without what differs from run to run. */
async function answers(send: Send): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  let session = ''
  let state = ''
  for (const asked of requests) {
    const message = asked.needs === 'state' ? (JSON.parse(asked.body ?? '{}') as { params: object }) : undefined
    const body = message
      ? JSON.stringify({ ...message, params: { ...message.params, requestState: state } })
      : asked.body
    try {
      const reply = await send(asked, asked.needs === 'session' ? { 'mcp-session-id': session } : {}, body)
      session = reply.session ?? session
      state = /"requestState":"([^"]+)"/.exec(reply.body)?.[1] ?? state
      const said = state === '' ? reply.body : reply.body.replaceAll(state, '<state>')
      found.set(asked.name, `${reply.status} ${reply.type} ${said}`)
    } catch (error) {
      found.set(asked.name, `no answer: ${String(error)}`)
    }
  }
  return found
}

async function started(child: ChildProcess, send: Send): Promise<boolean> {
  for (let tries = 0; tries < 100 && child.exitCode === null; tries++) {
    try {
      await send({ name: 'start', method: 'OPTIONS' }, {}, undefined)
      return true
    } catch {
      await sleep(200)
    }
  }
  return false
}

function isSame(name: string, expected: string, answer: string | undefined): boolean {
  const { mayClose = false } = requests.find((asked) => asked.name === name) ?? {}
  return answer === expected || (mayClose && /^no answer: .*(EPIPE|ECONNRESET)/.test(answer ?? ''))
}

/** Compares a runtime with Node. @returns what is wrong */
async function compare(name: string, expected: ReadonlyMap<string, string>): Promise<string[]> {
  const program = binary(name)
  if (program === undefined) return [`there is no ${name} for this platform in npm, or it could not be installed`]
  const port = await freePort()
  writeFileSync(
    join(home, 'bun.mjs'),
    `import server from './server.mjs'\nexport default { port: ${port}, hostname: '127.0.0.1', fetch: server.fetch }\n`,
  )
  const child = spawn(program, argumentsOf(name, port), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  child.on('error', (error) => (said += String(error)))
  try {
    const send = overPort(port)
    if (!(await started(child, send))) return [`${name} did not start: ${said.trim().slice(-800)}`]
    const got = await answers(send)
    const different = [...expected].filter(([asked, answer]) => !isSame(asked, answer, got.get(asked)))
    const faults = different.map(
      ([asked, answer]) =>
        `${asked}\n      Node: ${answer.slice(0, 300)}\n      ${name}: ${got.get(asked)?.slice(0, 300)}`,
    )
    return faults.length > 0 && said !== '' ? [...faults, `it said: ${said.trim().slice(0, 800)}`] : faults
  } finally {
    child.kill('SIGKILL')
  }
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(versions)
install(names)
mkdirSync(home, { recursive: true })
await bundle({
  entryPoints: ['tools/runtimes/server.ts'],
  outfile: file,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'es2022',
  external: ['node:*'],
  logLevel: 'error',
})
const expected = await answers(onNode())
let failed = 0
for (const name of names) {
  const faults = await compare(name, expected)
  failed += faults.length > 0 ? 1 : 0
  console.log(
    `${faults.length === 0 ? 'ok  ' : 'FAIL'} ${name} ${versions[name]}: ${requests.length} answers compared with those of Node`,
  )
  for (const fault of faults) console.log(`    ${fault}`)
}
process.exit(failed > 0 ? 1 : 0)
