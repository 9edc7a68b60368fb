/** Runs the checks of `npm run smoke` on the local gateway, which must pass all of them. */
import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deployedWith } from '../../infra/local/gateway/deployment.ts'
import { throttling } from '../smoke/checks/answers.ts'
import { type Aws, servicesOf } from '../smoke/checks/services.ts'
import { checks } from '../smoke/checks.ts'
import { type Client, createClient } from '../smoke/client.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let client: Client
beforeAll(async () => {
  server = await startServer()
  client = createClient({ url: server.base, key: server.adminKey, ca: server.certificateAuthority, watchSeconds: 1 })
})
afterAll(() => server?.stop())

test.each(checks)('$name', ({ run }) => run(client))

test.each([
  ['COMPLIANCE', undefined],
  ['GOVERNANCE', 'COMPLIANCE'],
])('finds the audit record of its request in the bucket, with the lock %s', async (Mode, problem) => {
  const asked: string[] = []
  const aws: Aws = async (service, command, ...args) => {
    if (service === 'cloudformation')
      return JSON.stringify({ Stacks: [{ Outputs: [{ OutputKey: 'AuditBucketName', OutputValue: 'records' }] }] })
    if (command === 'list-objects-v2')
      return JSON.stringify({
        Contents: [
          { Key: 'earlier', LastModified: '2020-01-01T00:00:00Z' },
          { Key: 'now', LastModified: new Date() },
        ],
      })
    if (command === 'get-object-retention') return JSON.stringify({ Retention: { Mode } })
    asked.push(String(args[1]))
    const records = [{ requestId: 'another' }, { requestId: lastAuditId }]
    await writeFile(String(args[2]), gzipSync(records.map((record) => `${JSON.stringify(record)}\n`).join('')))
    return ''
  }
  let lastAuditId: string | undefined
  const listening: Client = {
    ...client,
    async call(...call) {
      const answer = await client.call(...call)
      lastAuditId = answer.headers['audit-id']
      return answer
    },
  }
  const check = servicesOf('prod', aws).find(({ name }) => name.startsWith('an audit record'))
  const ran = check?.run(listening)
  if (problem === undefined) await ran
  else await expect(ran).rejects.toThrow(problem)
  expect(asked).toEqual(['s3://records/now'])
})

test('the checks leave no key behind', async () => {
  const { json } = await server.call('/apis/management.platform/v1/ownedaccesskeys')
  expect(json.items.filter(({ metadata }: { metadata: { name: string } }) => /^smoke-/.test(metadata.name))).toEqual([])
})

test(throttling.name, async () => {
  const slow = await startServer({}, { deployment: deployedWith({ ThrottleRate: '1', ThrottleBurst: '10' }) })
  try {
    await throttling.run(createClient({ url: slow.base, key: slow.adminKey, ca: slow.certificateAuthority }))
  } finally {
    await slow.stop()
  }
})
