// Dragoman's client, as built: URL, revision, how many tools are listed.
import { connect } from '../../dist/client.js'
import { driveBy, toAdd, verifySum, verifyTools } from './client.mjs'

const [url, revision, count] = process.argv.slice(2)
const client = await connect(url, { revision })
if (client.revision !== revision) throw new Error(`${client.revision} was agreed`)
verifyTools(await client.tools(), Number(count))
driveBy({
  call: async () => verifySum((await client.call(toAdd.name, toAdd.arguments)).structured),
  list: async () => verifyTools(await client.tools(), Number(count)),
})
