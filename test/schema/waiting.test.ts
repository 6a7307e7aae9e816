import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { z } from 'zod'
import { compileInput, type Checked } from '../../src/schema/schema.ts'

const wait = async (value: unknown): Promise<boolean> => {
  await Promise.resolve()
  return value !== 'wrong'
}

test('what has nothing to wait for is checked at once', () => {
  let ran = 0
  const one = compileInput(z.object({ a: z.string().refine((text) => ++ran > 0 && text !== 'wrong', 'is wrong') }))
  assert.deepEqual(one.validate({ a: 'right' }), { value: { a: 'right' } })
  assert.equal(ran, 1)
  assert.deepEqual(one.validate({ a: 'wrong' }), { issues: [{ path: 'a', message: 'is wrong' }] })
  const other = compileInput(z.object({ a: z.string().refine(wait).optional() }))
  assert.deepEqual(other.validate({}), { value: {} })
})

for (const [what, schema] of [
  ['refinement', z.object({ a: z.string().refine(wait, 'is wrong') })],
  ['one of a part', z.object({ a: z.union([z.number(), z.string().refine(wait, 'is wrong')]) })],
  ['one that is made later', z.object({ a: z.lazy(() => z.string().refine(wait, 'is wrong')) })],
  ['transformation', z.object({ a: z.string().transform(async (text) => text) })],
] as const) {
  test(`what waits is waited for, and told in its words: ${what}`, async () => {
    const { validate } = compileInput(schema, { type: 'object' })
    assert.deepEqual(await validate({ a: 'right' }), { value: { a: 'right' } })
    const checked: Checked<unknown> = await validate({ a: what === 'transformation' ? {} : 'wrong' })
    assert.ok('issues' in checked)
    assert.equal(checked.issues[0]?.path, 'a')
  })
}

test('a check that fails while it is waited for ends nothing but itself', () => {
  const script = `
    import { z } from 'zod'
    import { compileInput } from './src/schema/schema.ts'
    const broken = async () => { await null; throw new Error('mine') }
    for (const schema of [
      z.object({ a: z.string().refine(broken) }),
      z.object({ a: z.string() }).superRefine(broken),
      z.object({ a: z.string().transform(broken) }),
      z.object({ a: z.array(z.string().refine(broken)) }),
    ]) {
      const { validate } = compileInput(schema, { type: 'object' })
      for (const a of ['x', ['x', 'y']]) await Promise.resolve(validate({ a })).catch(({ message }) => console.log(message))
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    console.log('over')
  `
  const flags = ['--import', 'tsx', '--input-type=module', '-e', script]
  const said = execFileSync(process.execPath, flags, { timeout: 20_000, encoding: 'utf8' })
  assert.equal(said, 'mine\n'.repeat(4) + 'over\n')
})
