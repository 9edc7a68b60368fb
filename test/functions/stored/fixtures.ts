/** Describes the stored kinds for the tests of their functions. Tests of a single kind are in the folder of that kind. */
import { expect } from 'vitest'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import type { Invocation, useFunctions } from '../../support/functions.ts'
import type { Answer } from '../../support/request.ts'
import { admin } from '../../support/users.ts'

export type Used = ReturnType<typeof useFunctions>

/** Describes a stored kind for the tests of its functions. */
export interface StoredFunctions {
  kind: string
  /** Folder in functions/, and the resource in messages. */
  plural: string
  /** Path parameters besides the name. */
  parameters: Record<string, string>
  /** Name in the events. */
  name: string
  spec: JsonObject
  /** A valid spec with more fields, which every user who may change the object may write. */
  changed: JsonObject
  /** Whether all of the status is computed, so that clients can write nothing into it. */
  computedStatus?: true
}

export const accessKeys: StoredFunctions = {
  kind: 'OwnedAccessKey',
  plural: 'ownedaccesskeys',
  parameters: {},
  name: 'ci',
  spec: { user: 'alice', displayName: 'CI' },
  changed: { user: 'alice', displayName: 'CI', ttl: 60 },
}

export const instances: StoredFunctions = {
  kind: 'VirtualClusterInstance',
  plural: 'virtualclusterinstances',
  parameters: { namespace: 'p-web' },
  name: 'preview',
  spec: { owner: { user: 'alice' } },
  changed: { owner: { user: 'alice' }, displayName: 'Preview' },
}

const provider = { issuer: 'https://issuer.example.com', access: [{ verbs: ['use'], users: ['alice'] }] }

export const providers: StoredFunctions = {
  kind: 'IdentityProvider',
  plural: 'identityproviders',
  parameters: {},
  name: 'github',
  spec: provider,
  changed: { displayName: 'Issuer', ...provider, maxTTL: 600 },
  computedStatus: true,
}

const cluster = { server: 'https://eu.example.com' }

export const clusters: StoredFunctions = {
  kind: 'Cluster',
  plural: 'clusters',
  parameters: {},
  name: 'eu',
  spec: cluster,
  changed: { displayName: 'Europe', ...cluster },
  computedStatus: true,
}

const trust = {
  identityProvider: 'github',
  claims: [
    { claim: 'repository_id', values: ['1'] },
    { claim: 'environment', values: ['production'] },
  ],
  user: 'alice',
  scope: {},
}

/** Credentials for the provider of the sample event. */
export const trusts: StoredFunctions = {
  kind: 'FederatedIdentityCredential',
  plural: 'federatedidentitycredentials',
  parameters: {},
  name: 'shop-deploy',
  spec: trust,
  changed: { displayName: 'Deployment', ...trust, ttl: 600 },
  computedStatus: true,
}

export const objectOf = (
  { kind, spec }: Pick<StoredFunctions, 'kind' | 'spec'>,
  metadata: object,
  more: object = spec,
) => ({ apiVersion: 'management.platform/v1', kind, metadata, spec: more })

const json = { accept: 'application/json' }
const patchTypes = { merge: 'merge-patch+json', json: 'json-patch+json', apply: 'apply-patch+yaml' }

/** Calls the functions of a kind, by default as an administrator. */
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
    put: (name: string, body: unknown, more: Invocation = {}) =>
      call('update', { parameters: at(name), body, ...more }),
    patch(name: string, form: keyof typeof patchTypes, body: unknown, more: Invocation = {}) {
      const headers = { 'content-type': `application/${patchTypes[form]}` }
      return call('patch', { parameters: at(name), headers, body, ...more })
    },
    remove: (name: string, more: Invocation = {}) => call('delete', { parameters: at(name), body: null, ...more }),
    read: async (name: string, user = admin) => (await call('get', { parameters: at(name), user })).json,
  }
}

export const status = (code: number, reason: string, message: unknown) =>
  expect.objectContaining({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message })

/** Matches the answer that is such a Status. */
export const refused = (code: number, reason: string, message: unknown) => ({
  status: code,
  json: status(code, reason, message),
})
