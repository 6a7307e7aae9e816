// The least that an HTTP server which answers JSON can do: it reads the body, parses it, and writes the answer it was
// given for the path. An answer given as an object is stringified each time; of one given as text the bytes are kept and
// sent as they are, which costs Node far less than a long string does.
import { createServer } from 'node:http'
import { reportTo } from './report.mjs'

const answers = new Map()

const server = createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { id } = JSON.parse((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString())
    const { result, bytes } = answers.get(request.url)
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
    const body = bytes ? '' : JSON.stringify({ jsonrpc: '2.0', id, result })
    const length = bytes ? Buffer.byteLength(head) + bytes.length + 1 : Buffer.byteLength(body)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
    if (!bytes) return response.end(body)
    response.cork()
    response.write(head)
    response.write(bytes)
    response.end('}')
  })
})
server.listen(0, '127.0.0.1', () =>
  reportTo(
    server.address().port,
    ({ path, result, text }) => void answers.set(path, { result, bytes: text && Buffer.from(text) }),
  ),
)
