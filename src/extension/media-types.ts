/** Media types of what skills are made of, by the end of a file's name. */
const known: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python',
  sh: 'application/x-sh',
  svg: 'image/svg+xml',
  toml: 'application/toml',
  ts: 'text/x-typescript',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
}

/** The media type of a file: by its name, else by whether it is text. */
export function mediaTypeOf(name: string, isText: boolean): string {
  const end = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (Object.hasOwn(known, end)) return known[end] ?? ''
  return isText ? 'text/plain' : 'application/octet-stream'
}
