/** Compares recorded answers of kube-apiserver with this API and its garbage collector. See README.md. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TestServer } from '../support/server.ts'
import { exceptions } from './exceptions.ts'
import { conformanceSuite } from './suite.ts'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch']
const resources = ['ownedaccesskeys', 'virtualclusterinstances']

/** A scope that allows reads and writes of both kinds, without deletes and subresources, and what every key is allowed. */
async function limitedKey(server: TestServer): Promise<string> {
  const rules = [{ verbs, resources: [{ group: 'management.platform', resources }] }]
  const body = {
    apiVersion: 'management.platform/v1',
    kind: 'OwnedAccessKey',
    metadata: { name: 'limited' },
    spec: { user: 'limited', groups: ['system:masters'], scope: { rules } },
  }
  const { json } = await server.call('/apis/management.platform/v1/ownedaccesskeys', { method: 'POST', body })
  return json.spec.key
}

await conformanceSuite({
  folder: 'scenarios',
  collectsGarbage: true,
  tokens: async (server) => ({ limited: await limitedKey(server) }),
})

test('every exception names a scenario', async () => {
  const folders = ['scenarios', 'recorded'].map((folder) => readdir(join(import.meta.dirname, folder)))
  const files = (await Promise.all(folders)).flat()
  expect(exceptions.filter(({ file }) => !files.includes(file))).toEqual([])
})
