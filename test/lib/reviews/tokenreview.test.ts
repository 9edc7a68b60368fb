/** Tests that TokenReview does not pass on users that stored access keys should never have. */
import { expect, test } from 'vitest'
import { parseSpaceNamespace } from '../../../lib/access/scopes/space.ts'
import type { UserInfo } from '../../../lib/access/users/user.ts'
import { readCredential } from '../../../lib/keys/credential/credential.ts'
import { admit } from '../../../lib/keys/requests/admit.ts'
import type { PresentedValue } from '../../../lib/keys/requests/uses.ts'
import { noUsage } from '../../../lib/keys/usage/recorder.ts'
import type { ReviewServices } from '../../../lib/reviews/reviewservices.ts'
import { TokenReview } from '../../../lib/reviews/tokenreview.ts'
import { endless } from '../../support/deadlines.ts'
import { as, master } from '../access/users.ts'
import { itemOf, storedKey } from '../keys/keys.ts'

const scope = { clusters: [{ cluster: 'eu' }] }

const cluster: UserInfo = { ...master, mayReview: true }
const scopes = { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') }
const hash = { version: '1', hash: 'hash' }
const judged: PresentedValue['judged'] = { credential: readCredential(itemOf(storedKey())), state: 'Current' }
const living = { warnings: [], credential: { ...hash, created: 0 }, presented: { hash, judged, source: undefined } }

async function statusFor(
  user: UserInfo,
  { caller = cluster, hasEnded = false, dryRun = false, audiences = ['https://api.example.com/clusters/eu'] } = {},
) {
  const touched: string[] = []
  const recorded: unknown[] = []
  const usage = { ...noUsage, accepted: async (_: unknown, place: unknown) => void recorded.push(place) }
  const services: ReviewServices = {
    scopes,
    issuer: 'https://api.example.com',
    decide: async () => ({ allowed: true, reason: '' }),
    authenticate: async (_, { writes } = { writes: true }) => ({
      ...(writes && touched.push('authenticated') && {}),
      ...living,
      user,
    }),
    admit: (subject, asked, purpose) =>
      admit(subject, asked, purpose, {
        scopes,
        usage,
        async confirm() {
          touched.push('confirmed')
          return hasEnded ? { ended: { dead: 'access key is disabled' } } : { user }
        },
        touch: async () => void touched.push(user.name),
      }),
    reviewedKey: async () => ({ chain: [] }),
    instanceUid: async () => undefined,
    usage,
  }
  const context = { user: caller, now: new Date(0), dryRun, deadline: endless, warn: () => {}, note: () => {} }
  const object = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: {},
    spec: { token: 'token', audiences },
  }
  const { status } = await TokenReview.create({ object, namespace: '', name: '', context }, services)
  return { status, touched, recorded }
}

test('does not authenticate a user with the prefix system:, nor record a use of the key', async () => {
  const { status, touched } = await statusFor({ ...as({ user: 'alice', scope }), name: 'system:admin' })
  expect(status).toEqual({ user: {}, error: 'invalid bearer token' })
  expect(touched).toEqual(['authenticated'])
})

test('records nothing for an administrator, who is no cluster', async () => {
  const { status, touched, recorded } = await statusFor(as({ user: 'alice', scope }), { caller: master })
  expect(status).toMatchObject({ authenticated: true })
  expect([touched, recorded]).toEqual([[], []])
})

test('records nothing for a caller that is of no place', async () => {
  const { status, touched, recorded } = await statusFor(as({ user: 'alice', scope }), { audiences: [] })
  expect(status).toMatchObject({ authenticated: true })
  expect([touched, recorded]).toEqual([[], []])
})

test('records nothing in a dry run', async () => {
  const { status, touched, recorded } = await statusFor(as({ user: 'alice', scope }), { dryRun: true })
  expect(status).toMatchObject({ authenticated: true })
  expect([touched, recorded]).toEqual([[], []])
})

test('authenticates nobody, and records nothing, when the key has ended before its first use was recorded', async () => {
  const { status, touched, recorded } = await statusFor(as({ user: 'alice', scope }), { hasEnded: true })
  expect(status).toEqual({ user: {}, error: 'invalid bearer token' })
  expect([touched, recorded]).toEqual([['authenticated', 'confirmed'], []])
})

test('returns the uid of a user who has one', async () => {
  const { status, touched } = await statusFor({ ...as({ user: 'alice', scope }), uid: 'u-7' })
  expect(status).toMatchObject({ authenticated: true, user: { username: 'alice', uid: 'u-7' } })
  expect(touched).toEqual(['authenticated', 'confirmed', 'alice'])
})

test('records the use of a key at a cluster', async () => {
  const { status, recorded } = await statusFor(as({ user: 'alice', scope }))
  expect(status).toMatchObject({ authenticated: true })
  expect(recorded).toEqual([{ type: 'cluster', name: 'eu' }])
})
