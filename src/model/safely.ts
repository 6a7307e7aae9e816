/** Tells somebody something, of whom nothing depends: what they throw, or reject with later, is told to `failed` alone. */
export function safely(tell: () => unknown, failed: (error: unknown) => void): void {
  try {
    // Whoever writes a listener as an async function returns a promise all the same.
    const said = tell()
    if (said instanceof Promise) said.catch(failed)
  } catch (error) {
    failed(error)
  }
}
