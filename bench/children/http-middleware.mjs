// Dragoman on node:http with all of its middleware, set so wide that nothing is refused, cut or waited for.
import { serveHttp } from '../../dist/index.js'
import { concurrency, logCalls, rateLimit, resultCap, timeouts } from '../../dist/middleware.js'
import { telemetry } from '../../dist/telemetry.js'
import { createDragoman } from './dragoman.mjs'
import { reportTo } from './report.mjs'

const ignore = () => {}
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const middleware = [
  telemetry(),
  logCalls({ logger }),
  rateLimit({ perMinute: 1_000_000_000 }),
  concurrency({ max: 1_000 }),
  timeouts({ ms: 30_000 }),
  resultCap({ maxBytes: 1_048_576 }),
]
const { port } = await serveHttp(createDragoman(Number(process.argv[2]), { middleware, maskErrors: true }))
reportTo(port)
