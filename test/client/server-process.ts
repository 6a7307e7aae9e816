// A server that the tests of the client start: `node … REVISION…` serves these revisions, none meaning all.
import { serveStdio } from '../../src/index.ts'
import { everything } from './everything.ts'

const revisions = process.argv.slice(2)
await serveStdio(everything(), revisions.length > 0 ? { revisions } : {})
