/** Something that is being read, and may change meanwhile. */
export interface Reading {
  /** Whether it changed since it was begun, so that what comes of it is not to be kept. */
  readonly isOld: boolean
  /** Nobody asks any more. */
  end(): void
}

/** What is being read, by name. */
export interface Readings {
  readonly size: number
  begin(name: string): Reading
  changed(name: string): void
  /** Everything may have changed. */
  reset(): void
}

/** Makes the list of what is being read: only that is remembered, however many names there are. */
export function createReadings(): Readings {
  const under = new Map<string, Set<{ isOld: boolean }>>()
  const spoil = (all: Iterable<{ isOld: boolean }>): void => {
    for (const one of all) one.isOld = true
  }
  return {
    get size() {
      return under.size
    },
    begin(name) {
      const reading = { isOld: false }
      const all = under.get(name) ?? new Set()
      under.set(name, all.add(reading))
      return {
        get isOld() {
          return reading.isOld
        },
        end() {
          all.delete(reading)
          if (all.size === 0 && under.get(name) === all) under.delete(name)
        },
      }
    },
    changed: (name) => spoil(under.get(name) ?? []),
    reset() {
      for (const all of under.values()) spoil(all)
    },
  }
}
