// Loaded before every test file by tools/test.ts: whatever our servers say in a test is held against the official schema
// of the revision it is said in, where those schemas are at hand.
import { existsSync } from 'node:fs'
import { register } from 'node:module'
import { schemaFolder } from '../codec/official-schema.ts'

if (existsSync(schemaFolder)) register('./hooks.mjs', import.meta.url)
