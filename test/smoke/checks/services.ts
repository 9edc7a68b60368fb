/** Checks what the functions do with other services: KMS, the stream of the table, Lambda, EventBridge. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { assertStatus, type Check, keyObject, keys, management, withKey } from './check.ts'

/** The number of projects in a scope of nearly 4096 bytes, the longest that there may be. */
const PROJECTS = 78

export const services: readonly Check[] = [
  {
    name: 'KMS signs a token, which the published keys verify',
    emulated: true,
    async run(client) {
      const spec = { ttl: 600, scope: { clusters: [{ cluster: 'smoke' }] } }
      const path = `${management}/directclusterendpointtokens`
      const made = await client.call(path, {
        method: 'POST',
        body: { apiVersion: 'management.platform/v1', kind: 'DirectClusterEndpointToken', spec },
      })
      assert.equal(made.status, 201, made.text)
      const { json: published } = await client.call('/openid/v1/jwks', { token: '' })
      const { payload } = await jwtVerify(made.json.status.token, createLocalJWKSet(published))
      assert.match(String(payload.aud), /\/clusters\/smoke$/)
    },
  },
  {
    name: 'the longest scope reaches a function',
    emulated: true,
    async run(client) {
      const projects = Array.from({ length: PROJECTS }, (_, index) => ({ project: `smoke-${'x'.repeat(26)}-${index}` }))
      const { length } = JSON.stringify({ projects })
      assert.ok(length > 3500 && length <= 4096, `${length} bytes`)
      await withKey(client, keyObject({ user: 'smoke', scope: { projects } }), async ({ value }) => {
        const path = (project: string) => `${management}/namespaces/p-${project}/virtualclusterinstances/none`
        const last = projects.at(-1)?.project ?? ''
        assertStatus(await client.call(path(last), { token: value }), 404, 'NotFound')
        assertStatus(await client.call(path('other'), { token: value }), 403, 'Forbidden')
      })
    },
  },
  {
    name: 'the garbage collector deletes a key after its owner, told by the stream',
    emulated: true,
    async run(client) {
      const owner = await client.call(keys, { method: 'POST', body: keyObject({ user: 'smoke' }) })
      assert.equal(owner.status, 201, owner.text)
      const { name, uid } = owner.json.metadata
      const ownerReferences = [{ apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', name, uid }]
      const dependent = keyObject({ user: 'smoke' }, { ownerReferences })
      await withKey(client, dependent, async (key) => {
        await client.call(`${keys}/${name}`, { method: 'DELETE' })
        const end = Date.now() + 60_000
        // The schedule of the collector would take up to an hour.
        while ((await client.call(`${keys}/${key.name}`)).status !== 404) {
          assert.ok(Date.now() < end, 'the key is still there after a minute')
          await delay(500)
        }
      })
    },
  },
]

/** Runs the AWS command line, and returns its output. */
export type Aws = (...args: readonly string[]) => Promise<string>

/** Returns the checks that need the AWS command line, for a stage. `patienceMs`: how long Lambda may take to change a concurrency. */
export const servicesOf = (stage: string, aws: Aws, patienceMs = 30_000): readonly Check[] => [
  {
    name: 'an event reaches the queue of examples/events',
    emulated: true,
    async run(client) {
      const queue = ['--queue-name', `keyplane-${stage}-events`, '--query', 'QueueUrl', '--output', 'text']
      const url = (await aws('sqs', 'get-queue-url', ...queue)).trim()
      const name = `smoke-${randomUUID()}`
      await withKey(client, keyObject({ user: 'smoke' }, { name }), async () => {
        const messages = ['--max-number-of-messages', '10', '--wait-time-seconds', '5', '--visibility-timeout', '1']
        const end = Date.now() + 120_000
        while (!(await aws('sqs', 'receive-message', '--queue-url', url, ...messages)).includes(name))
          assert.ok(Date.now() < end, 'the event has not arrived after two minutes')
      })
    },
  },
  {
    // Whether Firehose writes to a bucket with an object lock, and one record a line, is what no emulator answers.
    name: 'an audit record reaches the bucket for them, if there is one, and is locked',
    emulated: true,
    async run(client) {
      const read = async (...args: readonly string[]) => JSON.parse((await aws(...args, '--output', 'json')) || '{}')
      const described = await read('cloudformation', 'describe-stacks', '--stack-name', `keyplane-${stage}`)
      const { Outputs } = described.Stacks[0] as { Outputs: { OutputKey: string; OutputValue: string }[] }
      const bucket = Outputs.find(({ OutputKey }) => OutputKey === 'AuditBucketName')?.OutputValue
      if (bucket === undefined) return
      const began = Date.now()
      const since = `audit/day=${new Date(began).toISOString().slice(0, 10)}`
      const { headers } = await client.call(`${keys}/smoke-missing`)
      const folder = await mkdtemp(join(tmpdir(), 'keyplane-smoke-'))
      const file = join(folder, 'records.gz')
      const seen = new Set<string>()
      try {
        for (; ; await delay(5_000)) {
          const listed = await read('s3api', 'list-objects-v2', '--bucket', bucket, '--start-after', since)
          const { Contents = [] } = listed as { Contents?: { Key: string; LastModified: string }[] }
          for (const { Key, LastModified } of Contents) {
            if (seen.has(Key) || Date.parse(LastModified) < began - 60_000) continue
            seen.add(Key)
            await aws('s3', 'cp', '--quiet', `s3://${bucket}/${Key}`, file)
            const lines = gunzipSync(await readFile(file))
              .toString()
              .trimEnd()
              .split('\n')
            if (!lines.some((line) => JSON.parse(line).requestId === headers['audit-id'])) continue
            const lock = await read('s3api', 'get-object-retention', '--bucket', bucket, '--key', Key)
            assert.equal(lock.Retention.Mode, 'COMPLIANCE')
            return
          }
          // Firehose waits five minutes for more records.
          assert.ok(Date.now() < began + 600_000, 'the record has not arrived after ten minutes')
        }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  },
  {
    name: 'a function that Lambda throttles is a 503 with a Status',
    emulated: false,
    async run(client) {
      const name = ['--function-name', `keyplane-${stage}-reviews-selfsubjectrulesreview`]
      const review = () =>
        client.call('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
          method: 'POST',
          body: {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectRulesReview',
            spec: { namespace: 'default' },
          },
        })
      /** A change of the concurrency takes seconds. */
      const becomes = async (status: number) => {
        const end = Date.now() + patienceMs
        for (let answer = await review(); ; answer = await review()) {
          if (answer.status === status) return answer
          assert.ok(Date.now() < end, `a ${answer.status}, not a ${status}, for ${patienceMs} ms`)
          await delay(500)
        }
      }
      await aws('lambda', 'put-function-concurrency', ...name, '--reserved-concurrent-executions', '0')
      try {
        assertStatus(await becomes(503), 503, 'ServiceUnavailable')
      } finally {
        await aws('lambda', 'delete-function-concurrency', ...name)
      }
      await becomes(201)
    },
  },
]
