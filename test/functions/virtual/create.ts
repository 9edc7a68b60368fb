/** Tests the responses of every create-only kind, one group per status code. */

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
    // Neither the object nor the response is stored.
    test('returns the object with its status and stores nothing', async () => {
      const before = await items(functions)
      const { status: code, json } = await create()
      expect([code, json?.message]).toEqual([201, undefined])
      expect(json).toMatchObject({ apiVersion, kind, status: expect.any(Object) })
      expect(await items(functions)).toEqual(before)
    })

    test('takes the kind from the path if the body has none', async () => {
      const { status: code, json } = await create({ body: { spec } })
      expect([code, json.apiVersion, json.kind]).toEqual([201, apiVersion, kind])
    })

    test('accepts and returns YAML', async () => {
      const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' }
      const { status: code, text } = await create({ headers, body: `spec: ${JSON.stringify(spec)}\n` })
      expect([code, text.split('\n')[0]]).toEqual([201, `apiVersion: ${apiVersion}`])
    })

    // The server overwrites the status of the client.
    test('ignores a status in the body', async () => {
      const { json } = await create({ body: { apiVersion, kind, spec, status: { token: 'mine', kubeConfig: 'mine' } } })
      expect(JSON.stringify(json.status)).not.toContain('mine')
    })
  })

  describe('400', () => {
    test('for unknown fields with strict validation', async () => {
      const body = { apiVersion, kind, spec: { ...spec, nothing: 1 } }
      const { status: code, json } = await create({ body, query: { fieldValidation: 'Strict' } })
      expect([code, json]).toEqual([
        400,
        status(400, 'BadRequest', expect.stringContaining('unknown field "spec.nothing"')),
      ])
    })

    // A body of another kind is a mistake of the client, not a way to another resource.
    test('for another kind', async () => {
      const { status: code, json } = await create({ body: { apiVersion, kind: 'Other', spec } })
      const [, version] = apiVersion.split('/')
      const message = `Other in version "${version}" cannot be handled as a ${kind}: no kind "Other" is registered for version "${apiVersion}"`
      expect([code, json]).toEqual([400, status(400, 'BadRequest', message)])
    })
  })

  describe('422', () => {
    test('for invalid options', async () => {
      const { status: code, json } = await create({ query: { dryRun: 'Some' } })
      expect([code, json.details.kind]).toEqual([422, 'CreateOptions'])
    })
  })
}

/** Returns all items of the table. */
async function items(functions: Used): Promise<unknown> {
  const { dynamodb } = functions.get()
  return (await dynamodb.client.send(new ScanCommand({ TableName: dynamodb.table }))).Items
}
