/** The state of trusts and providers in words. */
import { describe, expect, test } from 'vitest'
import type { Provider, Trust } from '../../../clients/console/src/api/trusts.ts'
import {
  accessInWords,
  problemsOfTrust,
  stateOfProvider,
  stateOfTrust,
} from '../../../clients/console/src/pages/trusts/state.ts'
import { ownerInWords } from '../../../clients/console/src/text/access.ts'

const metadata = { name: 'one', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-22T12:00:00Z' }

const provider = (spec: Partial<Provider['spec']> = {}, more: Partial<Provider['metadata']> = {}): Provider => ({
  metadata: { ...metadata, name: 'github', ...more },
  spec: { issuer: 'https://token.actions.githubusercontent.com', ...spec },
})

const trust = (spec: Partial<Trust['spec']> = {}, more: Partial<Trust['metadata']> = {}): Trust => ({
  metadata: { ...metadata, ...more },
  spec: { identityProvider: 'github', claims: [], ...spec },
})

const deletionTimestamp = '2026-11-22T13:00:00Z'

describe('the state of a trust', () => {
  test.each<[state: string, trust: Trust, providers: Provider[] | undefined]>([
    ['Active', trust(), [provider()]],
    ['Active', trust(), undefined],
    ['Disabled', trust({ disabled: true }), [provider()]],
    ['Being deleted', trust({ disabled: true }, { deletionTimestamp }), [provider()]],
    ['Provider disabled', trust(), [provider({ disabled: true })]],
    ['Provider disabled', trust(), [provider({}, { deletionTimestamp })]],
    ['Provider not found', trust(), []],
    ['Provider not found', trust({ identityProvider: 'other' }), [provider()]],
    ['Provider was replaced', trust(), [provider({}, { creationTimestamp: '2026-11-22T12:00:01Z' })]],
    ['Active', trust(), [provider({}, { creationTimestamp: '2026-11-22T11:59:59Z' })]],
  ])('is %s', (state, one, providers) => expect(stateOfTrust(one, providers).text).toBe(state))

  test('names the trust and its provider if both are disabled', () => {
    const problems = problemsOfTrust(trust({ disabled: true }), [provider({ disabled: true })])
    expect(problems.map(({ text }) => text)).toEqual(['Disabled', 'Provider disabled'])
  })
})

test.each<[state: string, provider: Provider]>([
  ['Active', provider()],
  ['Disabled', provider({ disabled: true })],
  ['Being deleted', provider({ disabled: true }, { deletionTimestamp })],
])('the state of a provider is %s', (state, one) => expect(stateOfProvider(one).text).toBe(state))

describe('accessInWords', () => {
  test.each<[words: string, access: Provider['spec']['access']]>([
    ['administrators only', undefined],
    ['administrators only', []],
    ['administrators only', [{ verbs: [], teams: ['*'] }]],
    ['administrators only', [{ verbs: ['use'] }]],
    ['everyone with a key', [{ verbs: ['use'], users: ['alice'], teams: ['shop', '*'] }]],
    [
      'team shop, user alice, user bob',
      [
        { verbs: ['use'], users: ['alice'], teams: ['shop'] },
        { verbs: ['use'], users: ['bob'] },
      ],
    ],
    ['user *', [{ verbs: ['use'], users: ['*'] }]],
  ])('says %s', (words, access) => expect(accessInWords(provider(access && { access }).spec)).toBe(words))
})

test.each([
  ['alice', 'alice'],
  ['team:shop', 'team shop'],
  ['subject:a:b', 'subject a:b'],
])('the owner %s is %s in words', (owner, words) => expect(ownerInWords(owner)).toBe(words))
