// Defends: a host of skills that is built on the client loads what our servers offer, and nothing that is not what was listed.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { listSkills, loadSkill } from '../../fixtures/conformance-client/skills.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { skills } from '../../src/skills.ts'
import { serverOf } from '../server/support.ts'
import { connected, eras } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'skills-'))
after(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'pdf', 'references'), { recursive: true })
const front = '---\nname: pdf\ndescription: Fills forms\n---\n'
writeFileSync(join(folder, 'pdf', 'SKILL.md'), `${front}\nHow.\n`)
writeFileSync(join(folder, 'pdf', 'references', 'FORMS.md'), 'Forms.\n')

/** What one file says, in place of what it said. */
type Alter = (text: string) => string

for (const revision of eras) {
  /** The files that are read of a skill whose every file is altered, and what loading it rejects with. */
  const load = async (alter: Alter, relist = (entry: JsonObject): JsonObject => entry) => {
    await using pair = await connected(serverOf({ extensions: [skills(folder)] }), { revision })
    pair.target.alter = (message, way) => {
      const contents = (message.result as JsonObject | undefined)?.contents as { text: string }[] | undefined
      if (way === '>' || !contents) return message
      return {
        ...message,
        result: {
          ...(message.result as JsonObject),
          contents: contents.map((one) => ({ ...one, text: alter(one.text) })),
        },
      }
    }
    const [entry] = await listSkills(pair.client)
    if (!entry) throw new Error('no skill is listed')
    assert.ok(!pair.target.sent().includes('resources/read'))
    const loading = loadSkill(pair.client, { ...entry, ...relist({}) })
    const failure = await loading.then(
      () => undefined,
      ({ message }: Error) => message,
    )
    return { reads: pair.target.sent().filter((method) => method === 'resources/read').length, failure }
  }

  test(`${revision}: a skill is loaded in whole, once it is asked for`, async () => {
    assert.deepEqual(await load((text) => text), { reads: 2, failure: undefined })
  })

  test(`${revision}: one that is not what was listed is not loaded`, async () => {
    assert.match((await load((text) => text.replace('How', 'Now'))).failure ?? '', /another digest/)
    assert.match((await load((text) => `${text}more`)).failure ?? '', /another size/)
    assert.equal((await load((text) => `${text}more`)).reads, 1)
    const frontmatter = { name: 'pdf', description: 'Does something else' }
    assert.deepEqual(
      await load(
        (text) => text,
        () => ({ frontmatter }),
      ),
      {
        reads: 1,
        failure: 'skill://pdf/SKILL.md says another thing of itself than was listed',
      },
    )
    assert.equal((await load((text) => text.replace('Forms.', 'Form'))).reads, 2)
    assert.match((await load((text) => text.replace('Forms.', 'Form'))).failure ?? '', /another size/)
  })
}
