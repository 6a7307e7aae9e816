// Dragoman on node:http, as built, with as many tools as the first argument says.
import { serveHttp } from '../../dist/index.js'
import { createDragoman } from './dragoman.mjs'
import { reportTo } from './report.mjs'

const { port } = await serveHttp(createDragoman(Number(process.argv[2])))
reportTo(port)
