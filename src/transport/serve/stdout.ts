/** Standard output, held by one writer. */
export interface SeizedStdout {
  /** Writes to the real standard output. `false`: wait for `drain` on `process.stdout` before writing more. */
  write(text: string): boolean
  /** Gives standard output back to everybody. */
  release(): void
}

let seized = false

/**
 * Takes standard output for messages alone (specification, "stdio"): what `console` or anybody else writes to
 * `process.stdout` goes to standard error until {@link SeizedStdout.release}.
 * @throws Error when it is taken already
 */
export function seizeStdout(): SeizedStdout {
  if (seized) throw new Error('standard output is already taken by another stdio server in this process')
  seized = true
  const { stdout, stderr } = process
  const original = stdout.write
  // The console writes by `process.stdout.write` too, so this one replacement catches both.
  stdout.write = stderr.write.bind(stderr)
  return {
    write: (text) => original.call(stdout, text),
    release() {
      stdout.write = original
      seized = false
    },
  }
}
