/** Tests that an open watch ends with the privileges of its key, and that selectors find no hidden data. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import * as below from '../support/objects.ts'
import { alice, contextOf } from '../support/users.ts'
import { key, keys, useVictims } from '../support/victims.ts'

const victims = useVictims()
const { held, send, refused } = victims

describe('privileges', () => {
  // threat: use-2
  test('end for an open watch when the value or the scope of its key changes', async () => {
    const { metadata } = await victims.server.make(below.keys, key('watching', { user: 'alice', groups: ['dev'] }))
    const { parts } = victims.server
    const generation = () => parts.currentGeneration(contextOf({ ...alice, key: { ...metadata, type: 'User' } }))
    const patchAndRead = async (body: object) => {
      const headers = { 'content-type': 'application/merge-patch+json' }
      const { status } = await send({ method: 'PATCH', path: `${keys}/watching`, token: held.alice, headers, body })
      return [status, await generation()]
    }
    expect(await generation()).toBe(1)
    expect(await patchAndRead({ metadata: { labels: { a: 'b' } } })).toEqual([200, 1])
    expect(await patchAndRead({ spec: { key: randomBytes(24).toString('hex') } })).toEqual([200, 2])
    expect(await patchAndRead({ spec: { scope: {} } })).toEqual([200, 3])
    expect(await patchAndRead({ spec: { disabled: true } })).toEqual([200, undefined])
    expect((await send({ method: 'DELETE', path: `${keys}/watching`, token: held.alice })).status).toBe(200)
  })
})

describe('a hidden object', () => {
  test('is not found by selectors', async () => {
    const fields = [
      'spec.key',
      'spec.identity.connectorData',
      'spec.oidcLogin.idToken',
      'metadata.uid',
      'spec',
      'internal',
      'credential',
      '__proto__',
      'constructor.name',
      'spec.groups',
    ]
    await refused(
      fields.flatMap((field) =>
        ['', '&watch=1'].map((more) => ({ path: `${keys}?fieldSelector=${field}%3Dx${more}`, token: held.alice })),
      ),
      [400],
    )
  })
})

test('attacks leave everything of other users unchanged', () => victims.unharmed())
