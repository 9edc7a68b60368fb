/** Tests the hints in answers to unserved paths, with and without a scope that allows the path. */
import { beforeAll, describe, expect, test } from 'vitest'
import { apiVersion, keys, management } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
let scoped: string
beforeAll(async () => {
  const spec = { user: 'alice', scope: { projects: [{ project: 'a' }] } }
  scoped = (await server.make(keys, { apiVersion, kind: 'OwnedAccessKey', metadata: { name: 'scoped' }, spec })).spec
    .key
})

const rows: [method: string, path: string, code: number, hint: string][] = [
  [
    'POST',
    `${management}/virtualclusterinstances`,
    404,
    `virtualclusterinstances are namespaced: ${management}/namespaces/NAMESPACE/virtualclusterinstances`,
  ],
  [
    'GET',
    `${management}/namespaces/p-a/ownedaccesskeys`,
    404,
    `ownedaccesskeys are cluster-scoped: ${management}/ownedaccesskeys`,
  ],
  [
    'GET',
    `${management}/things`,
    404,
    'management.platform/v1 has no resource "things"; its resources are ownedaccesskeys, accesskeyrevocations, accesskeylookups, federatedidentitycredentials, identityproviders, virtualclusterinstances, clusters, directclusterendpointtokens and selves',
  ],
  ['GET', `${management}/selves`, 405, 'this path does not support "GET"; it supports POST'],
  ['POST', '/apis/authentication.k8s.io/v1', 405, 'this path does not support "POST"; it supports GET'],
  [
    'GET',
    `${management}/namespaces/p-a/virtualclusterinstances/x/kubeconfig`,
    405,
    'this path does not support "GET"; it supports POST',
  ],
  [
    'GET',
    '/apis/management.platform/v2/ownedaccesskeys',
    404,
    '"management.platform/v2" is not served; ownedaccesskeys are served in management.platform/v1',
  ],
  ['GET', '/apis/nobody.example/v1/things', 404, '"nobody.example/v1" is not served; GET /apis lists the API groups'],
  ['DELETE', '/api/v1/namespaces/p-web', 405, 'this path does not support "DELETE"; it supports GET, PUT and PATCH'],
  ['POST', '/nothing/here', 404, 'nothing is served at "/nothing/here"; GET /apis lists the API groups'],
]

describe.each(rows)('%s %s', (method, path, code, hint) => {
  test('names the alternatives where kube-apiserver does not answer in plain text', async () => {
    const { status, json, text, headers } = await server.call(path, { method })
    expect([status, headers.warning]).toEqual([code, undefined])
    if (json === undefined) expect([code, text]).toEqual([404, '404 page not found\n'])
    else expect(json.message).toContain(hint)
  })

  test('names the alternatives to a key whose scope allows nothing there', async () => {
    const { status, json } = await server.call(path, { method, token: scoped })
    expect([status, json.message]).toEqual([
      403,
      expect.stringMatching(/User "alice" cannot (get|post|create|delete) /),
    ])
    if (json.message.includes(' path ')) expect(json.message).toContain(hint)
  })
})

test('quotes and truncates text from clients', async () => {
  const { json } = await server.call(`/apis/${'x'.repeat(3000)}/v1/things`)
  expect(json.message.length).toBeLessThan(400)
})
