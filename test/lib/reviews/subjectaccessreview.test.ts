/** Tests which keys a SubjectAccessReview looks up, and what it says of those that give no access. */
import { expect, test } from 'vitest'
import { parseSpaceNamespace } from '../../../lib/access/scopes/space.ts'
import { extrasOf } from '../../../lib/clusters/token/extras.ts'
import { noUsage } from '../../../lib/keys/usage/recorder.ts'
import type { ReviewServices } from '../../../lib/reviews/reviewservices.ts'
import { SubjectAccessReview } from '../../../lib/reviews/subjectaccessreview.ts'
import { endless } from '../../support/deadlines.ts'
import { as, master } from '../access/users.ts'

const scope = { clusters: [{ cluster: 'eu' }] }
const ISSUED = 1000

/** Asks about a key with this name whose tokens are valid from `notBefore` on. */
async function ask(name: string, tokensNotBefore = 0) {
  const lookedUp: string[] = []
  const services = {
    scopes: { projectNamespacePrefix: 'p-', spaceNamespace: parseSpaceNamespace('p-{project}-s-{space}') },
    decide: async () => ({ allowed: true, reason: '' }),
    async reviewedKey(key: { name: string }) {
      lookedUp.push(key.name)
      return { chain: [scope], tokensNotBefore }
    },
    usage: noUsage,
  } as unknown as ReviewServices
  const user = as({ user: 'alice', scope })
  const extra = extrasOf(
    { ...user, key: { ...user.key, name } },
    { type: 'cluster', name: 'eu' },
    new Date(ISSUED * 1000),
  )
  const resourceAttributes = { verb: 'list', resource: 'pods', namespace: 'x' }
  const { status } = await SubjectAccessReview.create(
    {
      object: { apiVersion: '', kind: '', metadata: {}, spec: { user: 'alice', extra, resourceAttributes } },
      namespace: '',
      name: '',
      context: { user: master, now: new Date(0), dryRun: false, deadline: endless, warn: () => {}, note: () => {} },
    },
    services,
  )
  return { status, lookedUp }
}

test('looks up the key', async () => expect(await ask('ci')).toEqual({ status: { allowed: false }, lookedUp: ['ci'] }))

// The store rejects empty and long keys.
test.each(['', 'A', 'x'.repeat(3000)])(
  'denies a key whose name no key can have, without a look-up: %.5s',
  async (name) => {
    const reason = 'the access key no longer gives access'
    expect(await ask(name)).toEqual({ status: { allowed: false, denied: true, reason }, lookedUp: [] })
  },
)

test.each([
  [ISSUED, undefined],
  [ISSUED + 1, expect.stringMatching(/^the access of the token was ended after it was issued/)],
])('of a key whose tokens are valid from %i on, denies those from before: %s', async (notBefore, reason) => {
  const denied = { allowed: false, denied: true, reason }
  expect((await ask('ci', notBefore)).status).toEqual(reason === undefined ? { allowed: false } : denied)
})
