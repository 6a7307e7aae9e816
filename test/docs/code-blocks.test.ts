// Every `ts` block of the documentation compiles and runs. Blocks of one page share a folder and run in order.
//   ```ts          runs to its end, within 20 s, with exit code 0
//   ```ts server   keeps running until the page is done; the next block starts once it has printed a line
//   ```ts no-run   is only compiled
// A page's port 3000 is replaced by one that is free.
import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { filesUnder } from '../../tools/files.ts'
import { freePort } from '../../tools/fixture.ts'

interface Block {
  readonly file: string
  readonly line: number
  readonly flag: string
  readonly code: string
}

const folder = join('.cache', `docs-${process.pid}`)
const tsconfig = join(folder, 'tsconfig.json')
const pages = [
  ...readdirSync('.').filter((file) => file.endsWith('.md')),
  ...['docs', 'src', 'examples', 'conformance'].flatMap((root) => filesUnder(root, '.md')),
]
const blocks = new Map(
  pages
    .map((page) => [page, blocksOf(page, readFileSync(page, 'utf8'))] as const)
    .filter(([, found]) => found.length > 0),
)

before(async () => {
  const port = String(await freePort())
  for (const block of [...blocks.values()].flat()) {
    mkdirSync(join(block.file, '..'), { recursive: true })
    writeFileSync(block.file, block.code.replaceAll(/\b3000\b/g, port))
  }
  writeFileSync(
    tsconfig,
    JSON.stringify({
      extends: resolve('tsconfig.json'),
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        paths: { dragoman: [resolve('src/index.ts')], 'dragoman/*': [resolve('src/*.ts')] },
      },
      include: ['**/*.ts'],
    }),
  )
})
after(() => rmSync(folder, { recursive: true, force: true }))

test('the blocks are found', () => {
  assert.ok((blocks.get('README.md')?.length ?? 0) >= 2)
})

test('the blocks compile', () => {
  const { status, stdout } = spawnSync('npx', ['--no-install', 'tsc', '-p', tsconfig], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
})

for (const [page, found] of blocks)
  test(`the blocks of ${page} run`, async (context) => {
    const servers: ChildProcess[] = []
    try {
      for (const block of found.filter(({ flag }) => flag !== 'no-run'))
        await context.test(`line ${block.line}`, async () => {
          const running = start(block)
          if (block.flag !== 'server') return assert.equal(await running.exit, 0, running.output())
          servers.push(running.child)
          assert.ok(
            await Promise.race([running.line, running.exit.then(() => false)]),
            `ended, saying ${running.output()}`,
          )
        })
    } finally {
      for (const server of servers) server.kill()
    }
  })

function start({ file, flag }: Block): {
  child: ChildProcess
  line: Promise<boolean>
  exit: Promise<number | null>
  output: () => string
} {
  // Where a block writes files is no place of the repository.
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), resolve(file)], {
    cwd: dirname(file),
    env: { ...process.env, TSX_TSCONFIG_PATH: resolve(tsconfig) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => void (output += part))
  const limit = setTimeout(() => child.kill(), flag === 'server' ? 60_000 : 20_000)
  limit.unref()
  return {
    child,
    line: new Promise((resolve) => child.stdout.once('data', () => resolve(true))),
    exit: new Promise((resolve) => child.once('close', (code) => resolve(code))),
    output: () => output,
  }
}

function blocksOf(page: string, text: string): readonly Block[] {
  return [...text.matchAll(/^```ts(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(({ 1: flag = '', 2: code = '', index }) => {
    const line = text.slice(0, index).split('\n').length
    assert.ok(['', 'server', 'no-run'].includes(flag), `${page}:${line}: what does "${flag}" mean?`)
    return { file: join(folder, page.replace(/\.md$/, ''), `line-${line}.ts`), line, flag, code }
  })
}
