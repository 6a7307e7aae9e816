/** The variables that a server started by a command gets of this process unless told otherwise. */
export const inheritedVariables: Readonly<Record<'posix' | 'windows', readonly string[]>> = {
  posix: ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'],
  windows: [
    'APPDATA',
    'COMSPEC',
    'HOMEDRIVE',
    'HOMEPATH',
    'LOCALAPPDATA',
    'PATH',
    'PATHEXT',
    'PROCESSOR_ARCHITECTURE',
    'PROGRAMDATA',
    'PROGRAMFILES',
    'SYSTEMDRIVE',
    'SYSTEMROOT',
    'TEMP',
    'TMP',
    'USERNAME',
    'USERPROFILE',
    'WINDIR',
  ],
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Which variables of this process a server gets: the few it needs to run, some more by name, or all of them. */
export type Inherited = 'minimal' | 'all' | readonly string[]

/**
 * The environment of a server: what it inherits, and over it what it is given. Secrets of this process stay here unless
 * they are named. Names are compared without case on Windows, as that does; `undefined` in `given` leaves a name out.
 */
export function environmentOf(
  from: Environment,
  platform: NodeJS.Platform,
  inherited: Inherited = 'minimal',
  given: Environment = {},
): Record<string, string> {
  const windows = platform === 'win32'
  const fold = (name: string): string => (windows ? name.toUpperCase() : name)
  const usual = inheritedVariables[windows ? 'windows' : 'posix']
  const wanted = new Set([...usual, ...(typeof inherited === 'string' ? [] : inherited)].map(fold))
  const result: Record<string, string> = {}
  const names = new Map<string, string>()
  const set = (name: string, value: string | undefined): void => {
    const earlier = names.get(fold(name))
    if (earlier !== undefined) delete result[earlier]
    if (value === undefined) return
    names.set(fold(name), name)
    result[name] = value
  }
  for (const [name, value] of Object.entries(from)) {
    // Shells hand functions down as variables; a server has no use for those, and a shell of its own would run them.
    if (value?.startsWith('()') === true && inherited !== 'all') continue
    if (inherited === 'all' || wanted.has(fold(name))) set(name, value)
  }
  for (const [name, value] of Object.entries(given)) set(name, value)
  return result
}
