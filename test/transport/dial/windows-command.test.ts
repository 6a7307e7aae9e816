import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { quoteForBatch, resolveCommand } from '../../../src/transport/dial/windows-command.ts'

function place(files: readonly string[], env: Record<string, string> = {}) {
  const there = new Set(files.map((file) => file.toLowerCase()))
  return {
    platform: 'win32',
    env: { Path: 'C:\\a;"C:\\b c"', ...env },
    cwd: 'C:\\work',
    isFile: (path: string) => there.has(path.toLowerCase()),
  } as const
}

test('elsewhere the system finds the command', () => {
  const { file, args, verbatim } = resolveCommand('npx', ['-y', 'x'], {
    ...place(['C:\\a\\npx.cmd']),
    platform: 'linux',
  })
  assert.deepEqual([file, args, verbatim], ['npx', ['-y', 'x'], false])
})

test('programs are found by PATH and PATHEXT, and started as they are', () => {
  const found = (command: string, files: string[], env?: Record<string, string>): string =>
    resolveCommand(command, [], place(files, env)).file
  assert.equal(found('node', ['C:\\a\\node', 'C:\\b c\\node.exe']), 'C:\\b c\\node.EXE')
  assert.equal(found('node', ['C:\\a\\node', 'C:\\a\\node.exe']), 'C:\\a\\node.EXE')
  assert.equal(found('node.exe', ['C:\\a\\node.exe']), 'C:\\a\\node.exe')
  assert.equal(found('tool', ['C:\\a\\tool.py'], { PATHEXT: '.PY' }), 'C:\\a\\tool.PY')
  assert.equal(found('.\\bin\\tool', ['C:\\work\\bin\\tool.exe']), 'C:\\work\\bin\\tool.EXE')
  assert.equal(found('D:\\x\\tool.exe', ['D:\\x\\tool.exe']), 'D:\\x\\tool.exe')
  assert.equal(found('python3.11', ['C:\\a\\python3.11.exe']), 'C:\\a\\python3.11.EXE')
  assert.equal(found('none', []), 'none')
})

test('the current directory is no place to find a command by name', () => {
  assert.equal(resolveCommand('tool', [], place(['C:\\work\\tool.exe'])).file, 'tool')
})

test('a batch file is run by cmd.exe, on one command line', () => {
  const files = ['C:\\a\\npx.cmd']
  const { file, args, verbatim } = resolveCommand('npx', ['-y', 'a b', ''], place(files, { SystemRoot: 'C:\\Windows' }))
  assert.equal(file, 'C:\\Windows\\System32\\cmd.exe')
  assert.deepEqual(args, ['/e:ON', '/v:OFF', '/d', '/c', '""C:\\a\\npx.CMD" "-y" "a b" """'])
  assert.equal(verbatim, true)
})

test('arguments of a batch file are text to cmd.exe, whatever is in them', () => {
  assert.equal(quoteForBatch('a&b|c>d<e^f'), '"a&b|c>d<e^f"')
  assert.equal(quoteForBatch('say "hi" & calc'), '"say ""hi"" & calc"')
  assert.equal(quoteForBatch('C:\\dir\\'), '"C:\\dir\\\\"')
  assert.equal(quoteForBatch('a\\"b'), '"a\\\\""b"')
  assert.equal(quoteForBatch('%PATH%'), '"%%cd:~,%PATH%%cd:~,%"')
  for (const bad of ['a\nb', 'a\rb', 'a\0b']) assert.throws(() => quoteForBatch(bad), TypeError)
})

/** How cmd.exe reads a command line: percent signs first, then operators wherever no quotes are open. */
function readByCmd(line: string): { readonly text: string; readonly operators: string } {
  const text = line.replaceAll('%cd:~,%', '')
  let quoted = false
  let operators = ''
  for (const character of text) {
    if (character === '"') quoted = !quoted
    else if (!quoted && '&|<>()^'.includes(character)) operators += character
  }
  return { text, operators }
}

/** How programs built by Microsoft's compiler read one quoted argument. */
function readByProgram(text: string): string {
  let read = ''
  let at = 1
  while (at < text.length - 1) {
    const slashes = /^\\*/.exec(text.slice(at))?.[0].length ?? 0
    at += slashes
    if (text[at] !== '"') read += '\\'.repeat(slashes)
    else {
      read += '\\'.repeat(slashes / 2)
      if (at < text.length - 1) read += '"'
      at += 2
      continue
    }
    if (slashes === 0) read += text[at++]
  }
  return read
}

test('any argument arrives as it was, and none is more than an argument', () => {
  const argument = fc.string({ unit: fc.constantFrom(...'ab %"\\&|<>()^!;,=\'') })
  fc.assert(
    fc.property(argument, (given) => {
      const { text, operators } = readByCmd(quoteForBatch(given))
      assert.equal(operators, '')
      assert.equal(readByProgram(text), given)
    }),
  )
})
