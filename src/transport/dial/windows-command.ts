import { win32 } from 'node:path'
import type { Environment } from './environment.ts'

/** What is started, without a shell in between. */
export interface ResolvedCommand {
  readonly file: string
  readonly args: readonly string[]
  /** The arguments are a command line already, to be passed on as it is (Windows). */
  readonly verbatim: boolean
}

/** Where a command is looked for. */
export interface CommandPlace {
  readonly platform: NodeJS.Platform
  readonly env: Environment
  readonly cwd: string
  /** Whether there is a file at `path`. */
  isFile(path: string): boolean
}

const defaultExtensions = '.COM;.EXE;.BAT;.CMD'

/**
 * Finds what `command` names. Elsewhere than on Windows the system does that. There it is looked for in the directories of
 * `PATH` with the extensions of `PATHEXT`, never in the current directory unless the command says so; a batch file (`npx`
 * is one) can only be run by `cmd.exe`, which gets it on a command line that it cannot read as anything else.
 * @throws TypeError for a batch file's argument that no quoting carries: a line end or NUL
 */
export function resolveCommand(command: string, args: readonly string[], place: CommandPlace): ResolvedCommand {
  if (place.platform !== 'win32') return { file: command, args, verbatim: false }
  const found = findCommand(command, place)
  if (found === undefined || !/\.(?:bat|cmd)$/i.test(found)) return { file: found ?? command, args, verbatim: false }
  const root = variable(place.env, 'SYSTEMROOT') ?? 'C:\\Windows'
  const line = [found, ...args].map(quoteForBatch).join(' ')
  // Extensions on, for the escape below; delayed expansion off, so that `!` is text; no AutoRun; one command.
  const cmdArgs = ['/e:ON', '/v:OFF', '/d', '/c', `"${line}"`]
  return { file: win32.join(root, 'System32', 'cmd.exe'), args: cmdArgs, verbatim: true }
}

function findCommand(command: string, { env, cwd, isFile }: CommandPlace): string | undefined {
  const extensions = (variable(env, 'PATHEXT') ?? defaultExtensions).split(';').filter(Boolean)
  // A file without any extension is a script for other systems: npm puts one beside each batch file.
  const endings = /\.[^\\/.]+$/.test(command) ? ['', ...extensions] : extensions
  const isPath = /[\\/]/.test(command) || /^[a-z]:/i.test(command)
  const directories = isPath ? [cwd] : (variable(env, 'PATH') ?? '').split(';').map(unquoted).filter(Boolean)
  for (const directory of directories) {
    for (const ending of endings) {
      const path = win32.resolve(cwd, directory, command + ending)
      if (isFile(path)) return path
    }
  }
  return undefined
}

function unquoted(directory: string): string {
  return directory.replaceAll('"', '')
}

function variable(env: Environment, name: string): string | undefined {
  const found = Object.keys(env).find((key) => key.toUpperCase() === name)
  return found === undefined ? undefined : env[found]
}

/**
 * Quotes one argument so that it survives both `cmd.exe` and a batch file that hands it on: always within quotes, where no
 * operator means anything; a quote doubled, which leaves the text quoted; backslashes before a quote doubled, as programs
 * count them; and a percent sign followed by an expansion to nothing, so that it starts none of its own.
 */
export function quoteForBatch(argument: string): string {
  if (/[\r\n\0]/.test(argument)) throw new TypeError('a batch file takes no argument with a line end or NUL in it')
  const inner = argument
    .replaceAll(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, '$1$1')
    .replaceAll('%', '%%cd:~,%')
  return `"${inner}"`
}
