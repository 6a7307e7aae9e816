// Dragoman on node:http that makes a span of every call, which is then handed to nobody.
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { serveHttp } from '../../dist/index.js'
import { telemetry } from '../../dist/telemetry.js'
import { createDragoman } from './dragoman.mjs'
import { reportTo } from './report.mjs'

const tracerProvider = new BasicTracerProvider()
const { port } = await serveHttp(
  createDragoman(Number(process.argv[2]), { middleware: [telemetry({ tracerProvider })] }),
)
reportTo(port)
