/** What every function of a kind answers that stores nothing, one group per status. */

import { ScanCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import { admin } from '../../support/users.ts'
import { status, type Used } from '../stored/fixtures.ts'
import { describeBodies, describeRefusals } from '../stored/refusals.ts'

export interface VirtualFunction {
  /** Below functions/. */
  name: string
  kind: string
  apiVersion: string
  spec: object
}

export const describeVirtual = (functions: Used, { name, kind, apiVersion, spec }: VirtualFunction): void => {
  const create = (invocation: Invocation = {}) =>
    functions.invoke(name, {
      user: admin,
      query: {},
      body: { apiVersion, kind, spec },
      ...invocation,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...invocation.headers },
    })

  describeRefusals((invocation) => functions.invoke(name, invocation))
  describeBodies((invocation) => create(invocation))

  describe('201', () => {
    // It answers; nothing is left of it, neither the object nor what it answered.
    test('the answer is the object with its status, and nothing is stored', async () => {
      const before = await items(functions)
      const { status: code, json } = await create()
      expect([code, json?.message]).toEqual([201, undefined])
      expect(json).toMatchObject({ apiVersion, kind, status: expect.any(Object) })
      expect(await items(functions)).toEqual(before)
    })

    test('a body that does not say its kind: the path says it', async () => {
      const { status: code, json } = await create({ body: { spec } })
      expect([code, json.apiVersion, json.kind]).toEqual([201, apiVersion, kind])
    })

    test('YAML in and out', async () => {
      const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' }
      const { status: code, text } = await create({ headers, body: `spec: ${JSON.stringify(spec)}\n` })
      expect([code, text.split('\n')[0]]).toEqual([201, `apiVersion: ${apiVersion}`])
    })

    // Whoever sends a status gets the server's.
    test('a status in the body says nothing', async () => {
      const { json } = await create({ body: { apiVersion, kind, spec, status: { token: 'mine', kubeConfig: 'mine' } } })
      expect(JSON.stringify(json.status)).not.toContain('mine')
    })
  })

  describe('400', () => {
    test('unknown fields, strictly', async () => {
      const body = { apiVersion, kind, spec: { ...spec, nothing: 1 } }
      const { status: code, json } = await create({ body, query: { fieldValidation: 'Strict' } })
      expect([code, json]).toEqual([
        400,
        status(400, 'BadRequest', expect.stringContaining('unknown field "spec.nothing"')),
      ])
    })

    // A body of another kind is a mistake of its author, not a way to another resource.
    test('another kind', async () => {
      const { status: code, json } = await create({ body: { apiVersion, kind: 'Other', spec } })
      const [, version] = apiVersion.split('/')
      const message = `Other in version "${version}" cannot be handled as a ${kind}: no kind "Other" is registered for version "${apiVersion}"`
      expect([code, json]).toEqual([400, status(400, 'BadRequest', message)])
    })
  })

  describe('422', () => {
    test('options that may not be', async () => {
      const { status: code, json } = await create({ query: { dryRun: 'Some' } })
      expect([code, json.details.kind]).toEqual([422, 'CreateOptions'])
    })
  })
}

/** Everything in the table. */
async function items(functions: Used): Promise<unknown> {
  const { dynamodb } = functions.get()
  return (await dynamodb.client.send(new ScanCommand({ TableName: dynamodb.table }))).Items
}
