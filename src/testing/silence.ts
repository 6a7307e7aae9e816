/** Turns of the event loop without a message after which nothing is taken to be under way any more. */
const quietTurns = 6

/** Resolves once `count` has stood still for a few turns of the event loop. */
export async function silence(count: () => number): Promise<void> {
  let seen = count()
  for (let quiet = 0; quiet < quietTurns; quiet++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (count() === seen) continue
    seen = count()
    quiet = 0
  }
}
