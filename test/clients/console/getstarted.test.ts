/** What "Get started" shows to whom, and when a step is done. */
import { beforeEach, describe, expect, test } from 'vitest'
import { ApiError } from '../../../clients/console/src/api/status.ts'
import { readFacts } from '../../../clients/console/src/components/getstarted/readfacts.ts'
import { dismiss, isOver, showAgain } from '../../../clients/console/src/components/getstarted/remembered.ts'
import { type State, steps } from '../../../clients/console/src/components/getstarted/steps.ts'
import { needs } from '../../../clients/console/src/keylist/attention.ts'
import type { Self } from '../../../clients/core/src/objects.ts'
import { SESSION_LABEL } from '../../../clients/core/src/sessions.ts'
import { ago, ahead, byExchange, DAY, type Facts, keyOf, NOW } from './keys.ts'

const ADMIN: Self = { uid: 'uid-mine', accessKey: 'mine', groups: ['system:masters'] }
const ALICE: Self = { uid: 'uid-mine', accessKey: 'mine', groups: ['team:shop'] }

const FIRST: Facts = {
  name: 'admin-x7k2p',
  spec: { scope: undefined, user: 'admin', description: 'Created by bootstrap.' },
  status: { expirationTimestamp: undefined },
}
const DEMO: Facts = {
  name: 'vcluster-demo',
  spec: { user: 'vcluster-demo', scope: { roles: [{ role: 'vcluster' }] } },
  status: { expirationTimestamp: undefined },
}
const AGENT: Facts = { name: 'agent-eu', spec: { user: 'agent-eu', scope: { roles: [{ role: 'agent' }] } } }
const SESSION: Facts = { name: 'run', metadata: { labels: { [SESSION_LABEL]: 'x' } }, spec: { ttl: 3600 } }
const EXCHANGED: Facts = {
  name: 'job',
  metadata: { ownerReferences: byExchange },
  status: { expirationTimestamp: ahead(DAY / 2) },
}

/** A new deployment, with whatever else is given. */
const state = (more: Partial<State> = {}, keys: readonly Facts[] = [FIRST]): State => ({
  self: ADMIN,
  isFederated: false,
  hasSignIn: false,
  isLocal: false,
  hasTrust: false,
  hasVirtualCluster: false,
  keys: keys.map(keyOf),
  now: NOW,
  ...more,
})
const shown = (given: State) => steps.filter((step) => step.isAllowed(given)).map(({ title }) => title)
const done = (given: State) => steps.filter((step) => step.isDone(given)).map(({ title }) => title)

const [JOB, TRUST, OWN, SIGN_IN, CLUSTER] = steps.map(({ title }) => title) as [string, string, string, string, string]

describe('the steps', () => {
  test.each<[string, Partial<State>, string[]]>([
    ['an administrator', {}, [JOB, TRUST, OWN, SIGN_IN, CLUSTER]],
    ['somebody who may use a provider', { self: ALICE, hasProvider: true }, [JOB, TRUST]],
    ['somebody without a provider', { self: ALICE, hasProvider: false }, [JOB]],
    ['an administrator whose key has a scope', { self: { ...ADMIN, accessKeyScope: {} } }, []],
    [
      'an administrator whose key ends, which makes no trust',
      { self: { ...ADMIN, expirationTimestamp: ahead(DAY) } },
      [JOB, OWN, SIGN_IN, CLUSTER],
    ],
    [
      'an administrator who has signed in with the company',
      { self: { ...ADMIN, expirationTimestamp: ahead(DAY) }, isFederated: true },
      [JOB, TRUST, OWN, SIGN_IN, CLUSTER],
    ],
  ])('of %s are those that the person may do', (_, given, expected) => expect(shown(state(given))).toEqual(expected))

  test('are left out if nothing is known of them', () => {
    const { hasTrust: _, hasVirtualCluster: __, ...unknown } = state()
    expect(shown(unknown)).toEqual([JOB, OWN, SIGN_IN])
  })

  test.each<[string, Partial<State>, readonly Facts[], string[]]>([
    ['none in a new deployment', {}, [FIRST], []],
    ['none with what npm start makes', {}, [FIRST, DEMO], []],
    ['none with the keys of exchanges', {}, [FIRST, EXCHANGED], []],
    ['none with the keys of keyplane run', {}, [FIRST, SESSION], []],
    ['none with keys that may do everything', {}, [FIRST, { spec: { scope: undefined } }], []],
    ['none with keys that do not work', {}, [FIRST, { status: { phase: 'Disabled' } }], []],
    ['that of a job with a key that has a scope', {}, [FIRST, {}], [JOB]],
    ['that of a cluster with the key of a connected one', {}, [FIRST, AGENT], [CLUSTER]],
    ['that of a cluster with a virtual cluster', { hasVirtualCluster: true }, [FIRST], [CLUSTER]],
    ['CI with a trust', { hasTrust: true }, [FIRST], [TRUST]],
    ['the sign-in with its settings', { hasSignIn: true }, [FIRST], [SIGN_IN]],
    ['an own key when the first one rests', {}, [{ ...FIRST, status: { lastActivity: ago(DAY) } }], [OWN]],
    ['an own key when the first one was never used', {}, [{ ...FIRST, status: { lastActivity: undefined } }], [OWN]],
    ['an own key when the first one does not work', {}, [{ ...FIRST, status: { phase: 'Disabled' } }], [OWN]],
    ['an own key here, where the server uses the first one', { isLocal: true }, [FIRST], [OWN]],
    [
      'no own key for whoever uses the first one',
      { isLocal: true, self: { ...ADMIN, uid: 'uid-admin-x7k2p' } },
      [FIRST],
      [],
    ],
  ])('that are done: %s', (_, given, keys, expected) => expect(done(state(given, keys))).toEqual(expected))
})

describe('what the server made for itself', () => {
  test.each([FIRST, DEMO])('needs no end, no scope and no use: $name', (facts) => {
    const old = keyOf({
      ...facts,
      metadata: { creationTimestamp: ago(900 * DAY) },
      status: { ...facts.status, lastActivity: undefined },
    })
    const cards = (key: typeof old) =>
      (['never-expires', 'no-scope', 'unused'] as const).filter((card) => needs(card, key, NOW))
    expect(cards(old)).toEqual([])
    expect(needs('leaked', { ...old, status: { ...old.status, phase: 'Leaked' } }, NOW)).toBe(true)
  })

  test('is no key that somebody made with another one and called the same', () => {
    const key = keyOf({ ...FIRST, status: { ...FIRST.status, madeWith: { uid: 'u' } } })
    expect(needs('never-expires', key, NOW)).toBe(true)
  })

  test.each([{}, undefined, { roles: [{ role: 'vcluster' }], rules: [{}] }, { roles: [{ role: 'platformCLI' }] }])(
    'is no key of the user of the demo with the scope %j, which may do more',
    (scope) => {
      const key = keyOf({ ...DEMO, spec: { ...DEMO.spec, scope } })
      expect(needs('never-expires', key, NOW)).toBe(true)
    },
  )
})

describe('the facts', () => {
  const asked: string[] = []
  const read = (self: Self, isLocal: boolean, lists: Record<string, { name: string; namespace?: string }[]>) => {
    const send = async (path: string) => {
      const resource = /\/(\w+)\?limit=2$/.exec(path)?.[1] ?? path
      asked.push(resource)
      const items = lists[resource]
      if (items === undefined) throw new ApiError(403, {})
      return { metadata: {}, items: items.map((metadata) => ({ metadata })) }
    }
    return readFacts({ send: send as never }, self, isLocal, new AbortController().signal)
  }
  beforeEach(() => {
    asked.length = 0
  })
  const demo = {
    federatedidentitycredentials: [{ name: 'demo' }],
    virtualclusterinstances: [{ name: 'demo', namespace: 'p-demo' }],
    identityproviders: [{ name: 'demo' }],
  }

  test('leave out the demo of the local server, and take two requests', async () => {
    expect(await read(ADMIN, true, demo)).toEqual({ hasTrust: false, hasVirtualCluster: false })
    expect(await read(ADMIN, false, demo)).toEqual({ hasTrust: true, hasVirtualCluster: true })
    const others = [{ name: 'demo', namespace: 'p-shop' }]
    expect(await read(ADMIN, true, { ...demo, virtualclusterinstances: others })).toMatchObject({
      hasVirtualCluster: true,
    })
    expect(asked).toHaveLength(6)
  })

  test('of others are about providers, and what cannot be read is absent', async () => {
    expect(await read(ALICE, true, { identityproviders: demo.identityproviders })).toEqual({ hasProvider: true })
    expect(asked.sort()).toEqual(['federatedidentitycredentials', 'identityproviders'])
  })
})

describe('this browser', () => {
  beforeEach(showAgain)

  test('shows nothing after it was dismissed, until somebody asks for it again', () => {
    expect([ADMIN, ALICE].map(isOver)).toEqual([false, false])
    dismiss()
    expect([ADMIN, ALICE].map(isOver)).toEqual([true, true])
    showAgain()
    expect([ADMIN, ALICE].map(isOver)).toEqual([false, false])
  })

  test('shows nothing to a key with a scope', () => {
    expect(isOver({ ...ADMIN, accessKeyScope: {} })).toBe(true)
  })
})
