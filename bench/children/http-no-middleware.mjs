// Dragoman on node:http, told that there is no middleware.
import { serveHttp } from '../../dist/index.js'
import { createDragoman } from './dragoman.mjs'
import { reportTo } from './report.mjs'

const { port } = await serveHttp(createDragoman(Number(process.argv[2]), { middleware: [] }))
reportTo(port)
