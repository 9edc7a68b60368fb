/** Tests which changes of a Cluster end the tokens of its service accounts. */
import { expect, test } from 'vitest'
import { clusterTarget } from '../../../lib/clusters/serviceaccounts/target.ts'
import { endingOf } from '../../../lib/clusters/serviceaccounts.ts'
import type { JsonObject, KubeObject, ObjectMeta } from '../../../lib/engine/meta/types.ts'
import { ENDING } from '../../../lib/keys/credential/boundsecrets.ts'

const accounts = { server: 'https://prod.example.com', tokens: 'ServiceAccounts' }
const stored = (spec: JsonObject = {}, metadata: ObjectMeta = {}): { object: KubeObject } => ({
  object: {
    apiVersion: 'management.platform/v1',
    kind: 'Cluster',
    metadata: { name: 'prod', uid: 'u-1', ...metadata },
    spec: { ...accounts, ...spec },
  },
})
const held = { finalizers: ['example.com/hold'] }
const deletionTimestamp = '2026-11-21T12:00:00Z'
const endsIn = (after: { object: KubeObject } | undefined, before: { object: KubeObject } | undefined) =>
  endingOf(clusterTarget, after, before, new Date(0))

const what = 'clusters/prod/u-1'
const ends = [{ op: 'put', pk: ENDING, sk: `${what}@0`, attributes: { what, at: 0 } }]

test.each([
  ['is deleted', undefined, stored()],
  [
    'has the mark of a deletion, which a finalizer holds up',
    stored({}, { ...held, deletionTimestamp }),
    stored({}, held),
  ],
  ['issues tokens otherwise', stored({ tokens: 'Issuer' }), stored()],
  ['has other credentials', stored({ credentials: { secretRef: { name: 'other' } } }), stored()],
  ['has its accounts in another namespace', stored({ serviceAccounts: { namespace: 'other' } }), stored()],
])('a cluster that %s ends the tokens', (_what, after, before) => {
  expect(endsIn(after, before)).toEqual(ends)
})

test.each([
  ['is created', stored(), undefined],
  ['has another address for clients', stored({ server: 'https://other.example.com' }), stored()],
  ['has a label', stored({}, { labels: { a: 'b' } }), stored()],
  ['never had such tokens', undefined, stored({ tokens: 'Issuer' })],
  ['gets such tokens', stored(), stored({ tokens: 'Issuer' })],
])('a cluster that %s ends none', (_what, after, before) => {
  expect(endsIn(after, before)).toEqual([])
})
