/** The stored kinds as the tests of their functions see them. What is particular to one stands in the files of its folder. */
import { expect } from 'vitest'
import type { JsonObject } from '../../../lib/meta/types.ts'
import type { Invocation, useFunctions } from '../../support/functions.ts'
import type { Answer } from '../../support/server.ts'
import { admin } from '../../support/users.ts'

export type Used = ReturnType<typeof useFunctions>

/** A stored kind as its functions' tests see it. */
export interface StoredFunctions {
  kind: string
  /** Folder in functions/, and the resource in messages. */
  plural: string
  /** Path parameters besides the name. */
  parameters: Record<string, string>
  /** Name in the events. */
  name: string
  spec: JsonObject
  /** The same and more, also valid, which anyone who may change the object may write. */
  changed: JsonObject
  /** A spec with one mistake, and where it is. */
  wrong: { spec: JsonObject; field: string }
}

export const accessKeys: StoredFunctions = {
  kind: 'OwnedAccessKey',
  plural: 'ownedaccesskeys',
  parameters: {},
  name: 'ci',
  spec: { user: 'alice', displayName: 'CI' },
  changed: { user: 'alice', displayName: 'CI', ttl: 60 },
  wrong: { spec: { ttl: -1 }, field: 'spec.ttl' },
}

export const instances: StoredFunctions = {
  kind: 'VirtualClusterInstance',
  plural: 'virtualclusterinstances',
  parameters: { namespace: 'p-web' },
  name: 'preview',
  spec: { owner: { user: 'alice' } },
  changed: { owner: { user: 'alice' }, displayName: 'Preview' },
  wrong: { spec: { access: [{ subresources: ['nothing'] }] }, field: 'spec.access[0].subresources[0]' },
}

export const objectOf = (
  { kind, spec }: Pick<StoredFunctions, 'kind' | 'spec'>,
  metadata: object,
  more: object = spec,
) => ({ apiVersion: 'management.platform/v1', kind, metadata, spec: more })

const json = { accept: 'application/json' }

/** Calls of the functions of one kind, as an administrator unless said otherwise. */
export function callsOf(functions: Used, stored: StoredFunctions) {
  const { plural, parameters } = stored
  const call = (verb: string, invocation: Invocation = {}): Promise<Answer> =>
    functions.invoke(`${plural}/${verb}`, {
      user: admin,
      query: {},
      ...invocation,
      headers: { ...json, ...invocation.headers },
    })
  const at = (name: string) => ({ ...parameters, name })
  return {
    call,
    at,
    async make(metadata: { name: string; [member: string]: unknown }, spec: object = stored.spec) {
      const answer = await call('create', { parameters, body: objectOf(stored, metadata, spec) })
      expect([answer.status, answer.json?.message]).toEqual([201, undefined])
      return answer.json
    },
    read: async (name: string, user = admin) => (await call('get', { parameters: at(name), user })).json,
  }
}

export const status = (code: number, reason: string, message: unknown) =>
  expect.objectContaining({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message })
