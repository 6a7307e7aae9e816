#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { attachCommand, attachUsage } from './attach-command.ts'
import { migrateCommand, migrateUsage } from './migrate.ts'

const usage = [attachUsage, migrateUsage].map((text) => text.split('\n')[0]?.replace('Usage: ', '  ')).join('\n')

const out = (line: string): void => void process.stdout.write(`${line}\n`)
const err = (line: string): void => void process.stderr.write(`${line}\n`)

async function run([command, ...args]: readonly string[]): Promise<number> {
  if (command === 'attach') return attachCommand(args, { input: process.stdin, output: process.stdout, out, err })
  if (command === 'migrate') return migrateCommand(args, { env: process.env, out, err })
  if (command === '--version' || command === '-v') {
    out(version())
    return 0
  }
  const asked = command === 'help' || command === '--help' || command === '-h'
  const say = asked ? out : err
  if (!asked && command !== undefined) say(`There is no command ${JSON.stringify(command)}\n`)
  say(`Usage:\n${usage}\n\nEach tells more with --help.`)
  return asked ? 0 : 2
}

function version(): string {
  const about: { readonly version?: unknown } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return String(about.version)
}

process.exitCode = await run(process.argv.slice(2))
