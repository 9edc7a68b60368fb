/** Creates access keys and tokens on a test server. */
import { expect } from 'vitest'
import type { TestServer } from '../support/server.ts'

export const management = '/apis/management.platform/v1'

export interface Key {
  name: string
  uid: string
  value: string
}

export async function makeKey(server: TestServer, spec: object): Promise<Key> {
  const { status, json } = await server.call(`${management}/ownedaccesskeys`, {
    method: 'POST',
    body: {
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKey',
      metadata: { generateName: 'key-' },
      spec,
    },
  })
  expect([status, json.message]).toEqual([201, undefined])
  return { name: json.metadata.name, uid: json.metadata.uid, value: json.spec.key }
}

/** Merges `spec` into that of the key. */
export async function changeKey(server: TestServer, { name }: Key, spec: object): Promise<void> {
  const { status } = await server.call(`${management}/ownedaccesskeys/${name}`, {
    method: 'PATCH',
    body: { spec },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  expect(status).toBe(200)
}

/** Creates a direct cluster endpoint token with the key. */
export async function directToken(server: TestServer, key: Key, spec: object = {}): Promise<string> {
  const body = { apiVersion: 'management.platform/v1', kind: 'DirectClusterEndpointToken', spec }
  const path = `${management}/directclusterendpointtokens`
  const { status, json } = await server.call(path, { method: 'POST', token: key.value, body })
  expect([status, json.message]).toEqual([201, undefined])
  return json.status.token
}

/** Returns a scope that allows connected clusters, and creating tokens for them. */
export const clusters = (...names: string[]) => ({ clusters: names.map((cluster) => ({ cluster })) })
