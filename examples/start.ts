// `npm start`: the library over HTTP, and how to connect to it. With --stdio: the same over standard input and output.
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { serveHttp, serveStdio } from '../src/index.ts'
import type { Loss } from '../src/index.ts'
import { openDatabase } from './library/database.ts'
import { createLibrary } from './library/library.ts'
import { createLibraryServer } from './library/server.ts'
import { createShelvesApp } from './library/shelves.ts'

const values = readOptions()
const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN
if (!(port <= 65_535)) giveUp(`--port is a number from 0 to 65535, and not ${JSON.stringify(values.port)}.`)

mkdirSync(dirname(values.database), { recursive: true })
const database = openDatabase(values.database)
const library = createLibrary(database)
const server = createLibraryServer(library)
if (values.app) server.use(createShelvesApp(library))

// What a revision could not say, as lines of JSON on standard error, for whoever asks.
const reportsLosses = process.env['LIBRARY_REPORTS_LOSSES'] === '1'
const onLoss = (loss: Loss): void => void (reportsLosses && process.stderr.write(`${JSON.stringify({ loss })}\n`))

if (values.stdio) {
  await serveStdio(server, { onLoss })
  database.close()
} else {
  const http = await serveHttp(server, { port, onLoss }).catch((error: unknown) => {
    giveUp(`Cannot listen on port ${port} (${String(error)}). Another one: npm start -- --port 3001`)
  })
  console.log(howToConnect(http.url, values.database))
  const stop = (): void => void http.close().then(() => database.close())
  process.once('SIGINT', stop).once('SIGTERM', stop)
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: '3000' },
        stdio: { type: 'boolean', default: false },
        app: { type: 'boolean', default: false },
        database: { type: 'string', default: fileURLToPath(new URL('../.cache/library.db', import.meta.url)) },
      },
    }).values
  } catch (error) {
    return giveUp(error instanceof Error ? error.message : String(error))
  }
}

function giveUp(why: string): never {
  console.error(why)
  process.exit(1)
}

function howToConnect(url: string, file: string): string {
  const command = [process.execPath, '--import', import.meta.resolve('tsx'), fileURLToPath(import.meta.url), '--stdio']
  const [executable, ...args] = command
  const settings = { mcpServers: { library: { url }, 'library-over-stdio': { command: executable, args } } }
  return [
    url,
    '',
    `The library is open, with ${file}. Clients of every revision are served; Ctrl-C closes it.`,
    '',
    'Over standard input and output:',
    `  ${command.join(' ')}`,
    '',
    'In the settings of an editor or an assistant (either entry will do):',
    JSON.stringify(settings, undefined, 2).replace(/^/gm, '  '),
    '',
    'A first call, by hand:',
    ...firstCall(url).map((line) => `  ${line}`),
    '',
    'The same, by a client of an older revision:',
    `  npx @modelcontextprotocol/inspector --cli ${url} --method tools/call --tool-name search_books --tool-arg text=whale`,
  ].join('\n')
}

/** A call that stands alone, as of 2026-07-28: nothing has to be opened before it. */
function firstCall(url: string): readonly string[] {
  const params = {
    name: 'search_books',
    arguments: { text: 'whale' },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }
  const headers = [
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    'mcp-protocol-version: 2026-07-28',
    'mcp-method: tools/call',
    'mcp-name: search_books',
  ]
  return [
    `curl -s ${url} \\`,
    ...headers.map((header) => `  -H '${header}' \\`),
    `  -d '${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}'`,
  ]
}
