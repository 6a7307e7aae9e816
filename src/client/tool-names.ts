/** What a tool of one among many servers is called. */
export interface ToolNames {
  /** The name of a server's tool, at most 64 characters of `A-Z`, `a-z`, `0-9`, `_` and `-`. */
  toName(server: string, tool: string): string
  /** What a name that carries no hash stands for; `undefined` for one that does, and for one of no server. */
  fromName(name: string): ServerToolName | undefined
  /** The servers to one of which a name may belong. */
  candidates(name: string): readonly string[]
}

/** A tool by its own name. */
export interface ServerToolName {
  readonly server: string
  readonly tool: string
}

/** What the narrowest of the well-known models takes. */
const maxLength = 64
/** Of a name that is cut, its server's part keeps at least so much. */
const leastPrefix = 20
const hashLength = 12
const hashed = /_[\da-f]{12}$/

/**
 * Names for the tools of `servers`: `server_tool`. A name that had to be bent, cut, or could be read as another's ends in
 * a hash of both. It depends on nothing but the names of the servers and of the tool: neither on which servers are
 * there nor on what else they offer, so that a name never comes to mean another tool.
 */
export function createToolNames(servers: readonly string[]): ToolNames {
  const prefixes = servers.map((server) => ({ server, prefix: `${clean(server)}_` }))
  // The longest first: whoever reads a name takes the most of it for the server.
  prefixes.sort((a, b) => b.prefix.length - a.prefix.length)

  function ownerOf(name: string): string | undefined {
    const [first, second] = prefixes.filter(({ prefix }) => name.startsWith(prefix))
    return first && first.prefix === second?.prefix ? undefined : first?.server
  }

  return {
    toName(server, tool) {
      const name = `${clean(server)}_${tool}`
      const isPlain = clean(tool) === tool && name.length <= maxLength && !hashed.test(name)
      return isPlain && ownerOf(name) === server ? name : withHash(server, tool)
    },
    fromName(name) {
      if (name.length > maxLength || hashed.test(name)) return undefined
      const server = ownerOf(name)
      if (server === undefined) return undefined
      const tool = name.slice(clean(server).length + 1)
      return clean(tool) === tool ? { server, tool } : undefined
    },
    candidates: (name) => servers.filter((server) => name.startsWith(clean(server).slice(0, leastPrefix))),
  }
}

function clean(text: string): string {
  return text.replaceAll(/[^\w-]/g, '_')
}

function withHash(server: string, tool: string): string {
  // Loaded here: who needs no hash starts sooner.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, hashLength)
  const room = maxLength - hashLength - 1
  const prefix = clean(server).slice(0, Math.max(leastPrefix, room - 1 - tool.length))
  return `${`${prefix}_${clean(tool)}`.slice(0, room)}_${hash}`
}
