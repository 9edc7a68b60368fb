/** Tests that TokenReview does not pass on users that stored access keys should never have. */
import { expect, test } from 'vitest'
import { TokenReview } from '../../../../../lib/apis/authentication/v1/tokenreview.ts'
import type { ReviewServices } from '../../../../../lib/apis/authorization/v1/reviewservices.ts'
import { parseSpaceNamespace } from '../../../../../lib/authorization/scopes/space.ts'
import type { UserInfo } from '../../../../../lib/authorization/users/user.ts'
import { endless } from '../../../../support/deadlines.ts'
import { as, master } from '../../../authorization/users.ts'

const scope = { clusters: [{ cluster: 'eu' }] }

async function statusFor(user: UserInfo) {
  const touched: string[] = []
  const services: ReviewServices = {
    scopes: { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') },
    issuer: 'https://api.example.com',
    decide: async () => ({ allowed: true, reason: '' }),
    authenticate: async () => ({
      user,
      warnings: [],
      credential: { version: '1', hash: 'hash', created: 0 },
      value: { state: 'Current' },
      confirm: async () => undefined,
      touch: async () => void touched.push(user.name),
    }),
    reviewedKey: async () => ({ chain: [] }),
    instanceUid: async () => undefined,
  }
  const context = { user: master, now: new Date(0), dryRun: false, deadline: endless, warn: () => {}, note: () => {} }
  const object = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: {},
    spec: { token: 'token', audiences: ['https://api.example.com/clusters/eu'] },
  }
  const { status } = await TokenReview.create({ object, namespace: '', name: '', context }, services)
  return { status, touched }
}

test('does not authenticate a user with the prefix system:, nor record a use of the key', async () => {
  const { status, touched } = await statusFor({ ...as({ user: 'alice', scope }), name: 'system:admin' })
  expect(status).toEqual({ user: {}, error: 'invalid bearer token' })
  expect(touched).toEqual([])
})

test('returns the uid of a user who has one', async () => {
  const { status, touched } = await statusFor({ ...as({ user: 'alice', scope }), uid: 'u-7' })
  expect(status).toMatchObject({ authenticated: true, user: { username: 'alice', uid: 'u-7' } })
  expect(touched).toEqual(['alice'])
})
