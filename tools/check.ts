// Defends: what the linter cannot say. Room imports, revision dates and import cycles (rooms.ts), doc comments (docs.ts).
import { readFileSync } from 'node:fs'
import { filesUnder } from './files.ts'
import { undocumented } from './docs.ts'
import { checkRooms } from './rooms.ts'

const sources = new Map(filesUnder('src', '.ts').map((file) => [file.slice('src/'.length), readFileSync(file, 'utf8')]))
const faults = [
  ...checkRooms(sources),
  ...[...sources].flatMap(([file, text]) =>
    undocumented(text).map((name) => ({ file, message: `the export ${name} has no doc comment` })),
  ),
]
for (const { file, message } of faults) console.error(`src/${file}: ${message}`)
console.log(
  `${sources.size} files in ${new Set([...sources.keys()].map((file) => file.split('/')[0])).size} rooms, ${faults.length} faults`,
)
process.exit(faults.length > 0 || sources.size === 0 ? 1 : 0)
