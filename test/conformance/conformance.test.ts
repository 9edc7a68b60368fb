/** Recorded answers of a kube-apiserver against those of this API: one test for each recorded scenario. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { type Exception, exceptions } from './exceptions.ts'
import { check, type Failure, type Subject } from './player.ts'
import { readScenarios } from './scenario.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const folders = ['scenarios', 'recorded'].map((folder) => join(import.meta.dirname, folder))
const scenarios = (await Promise.all(folders.map(readScenarios))).flat()

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch']
const resources = ['ownedaccesskeys', 'virtualclusterinstances']

let server: TestServer
let subject: Subject

/** May read and write both kinds, but neither delete nor touch subresources; and what every key may. */
async function limitedKey(): Promise<string> {
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

beforeAll(async () => {
  server = await startServer()
  subject = {
    base: server.base,
    certificateAuthority: server.certificateAuthority,
    tokens: { '': server.adminKey, limited: await limitedKey() },
    additions: (code) => [
      '/status/owner',
      '/status/phase',
      '/status/expirationTimestamp',
      ...(code === 201 ? ['/spec/key'] : []),
    ],
  }
})

afterAll(() => server?.stop())

const below = (pointer: string, parent: string): boolean => pointer === parent || pointer.startsWith(`${parent}/`)

/** What no exception explains, and the exceptions that explain nothing. */
function judged(failures: readonly Failure[], allowed: readonly Exception[]) {
  const explains = ({ step, pointers }: Exception, { number, pointer }: Failure): boolean =>
    step === number && pointers.some((parent) => below(pointer, parent))
  return {
    unexpected: failures.filter((failure) => !allowed.some((exception) => explains(exception, failure))),
    needless: allowed.flatMap((exception) =>
      exception.pointers
        .filter((pointer) => !failures.some((failure) => explains({ ...exception, pointers: [pointer] }, failure)))
        .map((pointer) => ({ ...exception, pointers: [pointer] })),
    ),
  }
}

describe.concurrent('answers like a kube-apiserver', () => {
  test.for(scenarios.map((scenario) => [scenario.file, scenario] as const))('%s', async ([file, scenario]) => {
    const failures = await check(scenario, subject)
    const allowed = exceptions.filter((exception) => exception.file === file)
    expect(judged(failures, allowed)).toEqual({ unexpected: [], needless: [] })
  })
})

test('every exception names a scenario', () => {
  const files = scenarios.map(({ file }) => file)
  expect(exceptions.filter(({ file }) => !files.includes(file))).toEqual([])
})
