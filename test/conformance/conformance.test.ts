/** Compares recorded answers of kube-apiserver with this API and its garbage collector. See README.md. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TestServer } from '../support/server.ts'
import { exceptions, strangerExceptions } from './exceptions.ts'
import { readScenarios } from './scenario.ts'
import { startSubject } from './subject.ts'
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

conformanceSuite({
  title: 'this API, and its garbage collector',
  scenarios: await readScenarios('scenarios'),
  exceptions,
  async start() {
    const { server, subject } = await startSubject({ collectsGarbage: true })
    const tokens = { ...subject.tokens, limited: await limitedKey(server) }
    return { subject: { ...subject, tokens }, stop: server.stop }
  },
})

test('every exception names a scenario', async () => {
  const folders = ['scenarios', 'recorded', 'engine'].map((folder) => readdir(join(import.meta.dirname, folder)))
  const files = (await Promise.all(folders)).flat()
  expect([...exceptions, ...strangerExceptions].filter(({ file }) => !files.includes(file))).toEqual([])
})
