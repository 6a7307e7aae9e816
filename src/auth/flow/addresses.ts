import { BlockList, isIP } from 'node:net'

/** Where an address leads: anywhere on the Internet, to this machine, or to what is not reachable from everywhere. */
export type Reach = 'public' | 'loopback' | 'private'

const special4 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  special4.addSubnet(network, prefix, 'ipv4')

/** Within 2000::/3, the only part of IPv6 that is routed: transition (Teredo), documentation, benchmarks. */
const special6 = new BlockList()
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
] as const)
  special6.addSubnet(network, prefix, 'ipv6')

/**
 * Where `address` leads, an IPv4 address inside an IPv6 one counting as itself (mapped, NAT64, 6to4, ISATAP). What is no
 * address is `private`. Ranges as registered by IANA for special purposes.
 */
export function reachOf(address: string): Reach {
  const plain = address.replace(/%.*$/, '')
  if (isIP(plain) === 4) return reachOf4(plain)
  return isIP(plain) === 6 ? reachOf6(plain) : 'private'
}

function reachOf4(address: string): Reach {
  if (address.startsWith('127.')) return 'loopback'
  return special4.check(address, 'ipv4') ? 'private' : 'public'
}

function reachOf6(address: string): Reach {
  const words = wordsOf(address)
  if (words.slice(0, 7).every((word) => word === 0) && words[7] === 1) return 'loopback'
  const embedded = embedded4(words)
  if (embedded !== undefined) return reachOf4(embedded)
  if (((words[0] ?? 0) & 0xe000) !== 0x2000 || special6.check(address, 'ipv6')) return 'private'
  const isatap = ((words[4] ?? 0) & 0xfdff) === 0 && words[5] === 0x5efe
  return isatap ? reachOf4(dotted(words[6], words[7])) : 'public'
}

function embedded4(words: readonly number[]): string | undefined {
  const zero = (from: number, to: number): boolean => words.slice(from, to).every((word) => word === 0)
  if (zero(0, 5) && words[5] === 0xffff) return dotted(words[6], words[7])
  if (words[0] === 0x64 && words[1] === 0xff9b && zero(2, 6)) return dotted(words[6], words[7])
  return words[0] === 0x2002 ? dotted(words[1], words[2]) : undefined
}

const dotted = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')

/** The eight words of an IPv6 address, which the URL parser writes without dots first. */
function wordsOf(address: string): readonly number[] {
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
  const read = (part: string): number[] => (part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16)))
  const [before, after] = [read(head), read(tail ?? '')]
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}
