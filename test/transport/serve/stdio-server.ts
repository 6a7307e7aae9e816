// A process that the stdio tests talk to.
import { serveStdio } from '../../../src/transport/serve/stdio.ts'
import { peerOf, standIn } from './stand-in.ts'

const served = standIn()
const plain = served.handle
served.handle = async (call, context) => {
  if (call.params['name'] === 'noisy') {
    console.log('noise on the log')
    console.info('info %s', 'too')
    process.stdout.write('raw noise\n')
  }
  return plain(call, context)
}
serveStdio(peerOf(served), { graceMs: 1_000 })
