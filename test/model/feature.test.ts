import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientPath, requiredCapabilities } from '../../src/model/feature.ts'

test('features as an object keyed like client capabilities', () => {
  assert.deepEqual(requiredCapabilities([]), {})
  assert.deepEqual(requiredCapabilities(['sampling']), { sampling: {} })
  assert.deepEqual(requiredCapabilities(['elicitation.url']), { elicitation: { url: {} } })
  assert.deepEqual(requiredCapabilities(['elicitation', 'elicitation.url', 'elicitation.form']), {
    elicitation: { url: {}, form: {} },
  })
  assert.deepEqual(requiredCapabilities(['elicitation.url', 'elicitation']), { elicitation: { url: {} } })
  assert.deepEqual(requiredCapabilities(['roots.listChanged', 'roots']), { roots: { listChanged: true } })
  assert.deepEqual(requiredCapabilities(['extensions.a.b/c']), { extensions: { 'a.b/c': {} } })
  assert.deepEqual(requiredCapabilities(['client.tasks.list']), { tasks: { list: {} } })
  assert.deepEqual(requiredCapabilities(['tools', 'batch', 'tasks']), {})
})

test('an extension may be called anything', () => {
  const required = requiredCapabilities(['extensions.__proto__'])
  assert.equal(JSON.stringify(required), '{"extensions":{"__proto__":{}}}')
})

test('where a client declares a feature', () => {
  assert.deepEqual(clientPath('sampling.tools'), ['sampling', 'tools'])
  assert.deepEqual(clientPath('client.tasks'), ['tasks'])
  assert.equal(clientPath('tasks'), undefined)
  assert.equal(clientPath('tools.listChanged'), undefined)
})
