/** Recorded answers of a kube-apiserver against those of this API, its garbage collector running: README.md. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TestServer } from '../support/server.ts'
import { exceptions } from './exceptions.ts'
import { conformanceSuite } from './suite.ts'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch']
const resources = ['ownedaccesskeys', 'virtualclusterinstances']

/** May read and write both kinds, but neither delete nor touch subresources; and what every key may. */
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
