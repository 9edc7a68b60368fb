/** Tests the responses of every create-only kind, one group per status code. */

import { describe, expect, test } from 'vitest'
import { warningHeaders } from '../../../lib/engine/endpoints/warnings.ts'
import type { Invocation } from '../../support/functions.ts'
import type { Answer } from '../../support/request.ts'
import { admin } from '../../support/users.ts'
import { parseYaml } from '../../support/yaml.ts'
import { refused, status, type Used } from '../stored/fixtures.ts'

export interface VirtualFunction {
  /** Below functions/. */
  name: string
  kind: string
  apiVersion: string
  spec: object
  /** Whether the answer can be an ExecCredential. */
  hasCredential?: boolean
}

export const describeVirtual = (
  functions: Used,
  { name, kind, apiVersion, spec, hasCredential = false }: VirtualFunction,
): void => {
  const create = (invocation: Invocation = {}) =>
    functions.invoke(name, {
      user: admin,
      query: {},
      body: { apiVersion, kind, spec },
      ...invocation,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...invocation.headers },
    })

  describe('201', () => {
    // Neither the object nor the response is stored.
    test('returns the object with its status and stores nothing', async () => {
      const before = await items(functions)
      const { status: code, json } = await create()
      expect([code, json?.message]).toEqual([201, undefined])
      expect(json).toMatchObject({ apiVersion, kind, status: expect.any(Object) })
      expect(await items(functions)).toEqual(before)
    })

    test('takes the kind from the path if the body has none', async () =>
      expect(await create({ body: { spec } })).toMatchObject({ status: 201, json: { apiVersion, kind } }))

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
    test.each(['{"kind":', '[]', '""', '{"apiVersion":"v2"}'])('for the body %s', async (body) => {
      expect(await create({ body })).toMatchObject(refused(400, 'BadRequest', expect.any(String)))
    })

    test('for unknown fields with strict validation', async () => {
      const body = { apiVersion, kind, spec: { ...spec, nothing: 1 } }
      expect(await create({ body, query: { fieldValidation: 'Strict' } })).toMatchObject(
        refused(400, 'BadRequest', expect.stringContaining('unknown field "spec.nothing"')),
      )
    })

    // A body of another kind is a mistake of the client, not a way to another resource.
    test('for another kind', async () => {
      const { status: code, json } = await create({ body: { apiVersion, kind: 'Other', spec } })
      const [, version] = apiVersion.split('/')
      const message = `Other in version "${version}" cannot be handled as a ${kind}: no kind "Other" is registered for version "${apiVersion}"`
      expect([code, json]).toEqual([400, status(400, 'BadRequest', message)])
    })
  })

  const asked = 'application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1'
  if (hasCredential) describeExecCredential(create, asked)
  else {
    test('406 for an ExecCredential', async () => {
      const { status: code, json } = await create({ headers: { accept: asked } })
      const message = 'only the following media types are accepted: application/json, application/yaml'
      expect([code, json]).toEqual([406, status(406, 'NotAcceptable', message)])
    })
  }

  test('422 for invalid options', async () => {
    const { status: code, json } = await create({ query: { dryRun: 'Some' } })
    expect([code, json.details.kind]).toEqual([422, 'CreateOptions'])
  })
}

/** Tests the answers to clients that ask for the credential alone. The request without changes succeeds. */
function describeExecCredential(create: (invocation: Invocation) => Promise<Answer>, asked: string): void {
  const ask = (invocation: Invocation = {}) =>
    create({ ...invocation, headers: { accept: asked, ...invocation.headers } })
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: {
      expirationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    },
  }

  describe('an ExecCredential', () => {
    test('contains the credential and nothing else', async () => {
      const { status: code, json, headers } = await ask()
      expect([code, json]).toEqual([201, credential])
      expect(headers['content-type']).toContain('application/json')
    })

    test('has version v1beta1 if the client asks for that', async () => {
      const { json } = await ask({ headers: { accept: asked.replace('v=v1', 'v=v1beta1') } })
      expect(json).toEqual({ ...credential, apiVersion: 'client.authentication.k8s.io/v1beta1' })
    })

    test('is YAML if the client asks for YAML', async () => {
      const { status: code, text, headers } = await ask({ headers: { accept: asked.replace('json', 'yaml') } })
      expect([code, await parseYaml(text)]).toEqual([201, credential])
      expect(headers['content-type']).toContain('application/yaml')
    })

    test('is indented for curl and with pretty=true', async () => {
      const lines = async (invocation: Invocation) => (await ask(invocation)).text.trimEnd().split('\n').length
      expect(await lines({ headers: { 'user-agent': 'kubectl/v1.34.4' } })).toBe(1)
      expect(await lines({ headers: { 'user-agent': 'curl/8.5.0' } })).toBe(8)
      expect(await lines({ query: { pretty: 'true' } })).toBe(8)
      expect(await lines({ headers: { 'user-agent': 'curl/8.5.0' }, query: { pretty: 'false' } })).toBe(1)
    })

    test('has no credential in a dry run', async () => {
      const { status: code, json } = await ask({ query: { dryRun: 'All' } })
      expect([code, json]).toEqual([201, { ...credential, status: expect.any(Object) }])
      expect(Object.keys(json.status)).not.toContain('token')
    })

    // Anyone who runs the plugin sees headers that the plugin prints, and not its output.
    test('is not an error: that is a Status, whose message is a Warning too', async () => {
      const { status: code, json, headers } = await ask({ body: '[]' })
      expect([code, json]).toEqual([400, status(400, 'BadRequest', expect.any(String))])
      expect(headers.warning).toEqual(warningHeaders([json.message]))
      const accept = `${asked},application/json`
      expect((await ask({ body: '[]', headers: { accept } })).headers).not.toHaveProperty('warning')
    })
  })
}

/** Returns all items of the table. */
async function items(functions: Used): Promise<unknown> {
  return functions.get().store.all()
}
