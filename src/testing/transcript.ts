/** One turn of a transcript: what the client sends at once, and what it is told until everybody is silent. */
export interface Turn {
  /** Comments and blank lines before the turn, as they stand. */
  readonly notes: readonly string[]
  /** Texts that the client sends, each one message; placeholders stand as they are written. */
  readonly sent: readonly string[]
  /** What the file says comes back, as its lines stand. */
  readonly heard: readonly string[]
  /** The line that the turn starts on, from 1. */
  readonly line: number
}

/** A conversation between a client and a server, as plain text that people can read. */
export interface Transcript {
  /** Settings by name, from lines that start with `@`. */
  readonly settings: ReadonlyMap<string, string>
  /** Values by name, from lines that start with `@ let`: `<name>` in what the client sends stands for the value. */
  readonly values: ReadonlyMap<string, string>
  readonly turns: readonly Turn[]
  /** Comments and blank lines after the last turn. */
  readonly rest: readonly string[]
}

interface Draft {
  notes: string[]
  sent: string[]
  heard: string[]
  line: number
}

const empty = (line: number): Draft => ({ notes: [], sent: [], heard: [], line })

/**
 * Reads a transcript. A line starts with what it is: `#` a comment, `@ name value` a setting, `>` what the client sends,
 * `<` what it is told, `~` what was lost on the way; a line that starts with a space goes on with the one before. Lines
 * of the client that follow one another are sent at once.
 * @throws SyntaxError for a line that is none of these, with its number
 */
export function readTranscript(text: string): Transcript {
  const settings = new Map<string, string>()
  const values = new Map<string, string>()
  const turns: Draft[] = []
  let draft = empty(1)
  const close = (line: number): void => {
    if (draft.sent.length > 0) turns.push(draft)
    else if (draft.heard.length > 0) throw new SyntaxError(`line ${line}: the server speaks before the client`)
    draft = { ...empty(line), notes: draft.sent.length > 0 ? [] : draft.notes }
  }
  let last: string[] = []
  for (const [at, line] of text.replace(/\n$/, '').split('\n').entries()) {
    const kind = line.charAt(0)
    if (kind === ' ') {
      if (last.length === 0) throw new SyntaxError(`line ${at + 1}: nothing to go on with`)
      last.push(`${last.pop() ?? ''}\n${line}`)
      continue
    }
    if (kind === '' || kind === '#' || kind === '@') {
      if (draft.sent.length > 0) close(at + 1)
      if (kind === '@') readSetting(line, settings, values)
      draft.notes.push(line)
      last = []
    } else if (kind === '>') {
      if (draft.heard.length > 0) close(at + 1)
      if (draft.sent.length === 0) draft.line = at + 1
      last = draft.sent
      last.push(line.slice(1).trim())
    } else if (kind === '<' || kind === '~') {
      last = draft.heard
      last.push(line)
    } else {
      throw new SyntaxError(`line ${at + 1}: a line starts with one of # @ > < ~ or a space`)
    }
  }
  const { notes: rest } = draft.sent.length > 0 ? { notes: [] } : draft
  close(0)
  return { settings, values, turns, rest }
}

function readSetting(line: string, settings: Map<string, string>, values: Map<string, string>): void {
  const [, name = '', value = ''] = /^@\s*(\S+)\s*(.*)$/.exec(line) ?? []
  const [, variable, meaning] = name === 'let' ? (/^(\S+)\s+(.*)$/.exec(value) ?? []) : []
  if (variable !== undefined && meaning !== undefined) values.set(variable, meaning)
  else settings.set(name, value)
}

/** Writes a transcript with what each turn heard, which `heard` has by the turn's place. */
export function writeTranscript({ turns, rest }: Transcript, heard: readonly (readonly string[])[]): string {
  const lines = turns.flatMap((turn, at) => [
    ...turn.notes,
    ...turn.sent.map((text) => `> ${text}`),
    ...(heard[at] ?? []),
  ])
  return `${[...lines, ...rest].join('\n')}\n`
}

/** What differs between what a transcript says and what was heard: the first turn that does, for people; else nothing. */
export function firstDifference({ turns }: Transcript, heard: readonly (readonly string[])[]): string | undefined {
  for (const [at, { sent, heard: expected, line }] of turns.entries()) {
    const got = heard[at] ?? []
    if (expected.join('\n') === got.join('\n')) continue
    const [wanted, came] = [expected.join('\n').split('\n'), got.join('\n').split('\n')]
    const missing = wanted.filter((text) => !came.includes(text)).map((text) => `- ${text}`)
    const unexpected = came.filter((text) => !wanted.includes(text)).map((text) => `+ ${text}`)
    const lines =
      missing.length + unexpected.length > 0
        ? [...missing, ...unexpected]
        : ['the same lines in another order', ...came]
    return [`line ${line}, after`, ...sent.map((text) => `> ${text}`), ...lines].join('\n')
  }
  return undefined
}
