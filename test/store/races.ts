import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openSpec, type Race, type Raced, type StoreSpec } from './racer.ts'

const racers = 3
const rounds = 60

/** What must hold when several processes want the same at once. */
export function raceContract(name: string, spec: () => StoreSpec, missing?: string): void {
  test(`${name}: of ${racers} processes at once each wins alone`, { skip: missing }, async () => {
    const results = await raceAll(spec())
    const store = await openSpec(spec())
    try {
      const total = racers * rounds
      const versions = results.flatMap((raced) => raced.versions)
      assert.equal(new Set(versions).size, total)
      const counter = await store.get('counter')
      assert.equal(counter?.value, String(total))
      assert.equal(counter.version, Math.max(...versions))

      const upTo = Array.from({ length: total }, (_, at) => at + 1)
      assert.deepEqual(results.flatMap((raced) => raced.sequences).toSorted(byNumber), upTo)
      const { entries } = await store.read('race', 0)
      assert.deepEqual(
        entries.map((entry) => entry.sequence),
        upTo,
      )
      assert.equal(new Set(entries.map((entry) => entry.value)).size, total)
      for (const [racer, raced] of results.entries()) {
        for (const [round, sequence] of raced.sequences.entries()) {
          assert.equal(entries[sequence - 1]?.value, `${racer}:${round}`)
        }
      }

      const firsts = results.flatMap((raced) => raced.firsts).toSorted(byNumber)
      assert.deepEqual(
        firsts,
        Array.from({ length: rounds }, (_, at) => at),
      )
      for (const [racer, raced] of results.entries()) {
        for (const round of raced.firsts) assert.equal((await store.get(`first/${round}`))?.value, String(racer))
      }

      for (const { heard } of results) {
        for (let racer = 0; racer < racers; racer++) {
          const own = heard.filter((text) => text.startsWith(`${racer}:`))
          assert.deepEqual(
            own,
            Array.from({ length: rounds }, (_, round) => `${racer}:${round}`),
          )
        }
      }
    } finally {
      await store.close()
    }
  })
}

async function raceAll(spec: StoreSpec): Promise<readonly Raced[]> {
  const path = fileURLToPath(new URL('./racer.ts', import.meta.url))
  const children = Array.from({ length: racers }, (_, racer) => {
    const race: Race = { spec, racer, rounds }
    return fork(path, [JSON.stringify(race)], { execArgv: ['--import', 'tsx'] })
  })
  await Promise.all(children.map(nextMessage))
  const results = children.map(nextMessage)
  for (const child of children) child.send('go')
  return (await Promise.all(results)) as Raced[] // as racer.ts sends it
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`A racer ended with ${code}`)))
  })
}

function byNumber(one: number, two: number): number {
  return one - two
}
