import type { NetConnectOpts } from 'node:net'

/** An address that a socket can dial. */
export type Address = NetConnectOpts & { readonly timeout?: undefined }

/**
 * Reads `tcp:HOST:PORT`, or the path of a Unix socket or of a Windows named pipe. A name without a slash is a pipe's
 * on Windows. `undefined` for what is none of these.
 */
export function readAddress(text: string, platform: NodeJS.Platform = process.platform): Address | undefined {
  if (!text.startsWith('tcp:')) {
    if (text === '') return undefined
    return { path: platform === 'win32' && !/[\\/]/.test(text) ? `\\\\.\\pipe\\${text}` : text }
  }
  const [, bracketed, plain, digits] = /^tcp:(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  return host === undefined || !(port > 0 && port < 65_536) ? undefined : { host, port }
}
