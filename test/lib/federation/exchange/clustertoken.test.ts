/** Tests which scopes open a target for an exchange, by whether its clusters are sure to ask about the scopes of tokens. */
import { expect, test } from 'vitest'
import type { Scope } from '../../../../lib/access/scopes/scope.ts'
import { openTarget } from '../../../../lib/federation/exchange/clustertoken.ts'
import type { Server } from '../../../../lib/server/server.ts'
import { endless } from '../../../support/deadlines.ts'
import { alice, withScopes } from '../../../support/users.ts'
import { localSigner } from '../../clusters/token/localsigner.ts'

const making = {
  verbs: ['create'],
  resources: [{ group: 'management.platform', resources: ['directclusterendpointtokens'] }],
}

// threat: exchange-43
test.each<[string, Scope, 'ES256' | 'RS256', boolean]>([
  ['a rule that restricts', { rules: [{ cluster: 'eu', verbs: ['get'] }] }, 'ES256', true],
  ['a rule that restricts', { rules: [{ cluster: 'eu', verbs: ['get'] }] }, 'RS256', false],
  ['a rule about the whole cluster', { rules: [{ cluster: 'eu' }] }, 'RS256', true],
  ['a rule that restricts beside the request', { rules: [{ cluster: 'eu', verbs: ['get'] }, making] }, 'RS256', true],
  ['the cluster', { clusters: [{ cluster: 'eu' }] }, 'RS256', true],
])('%s: %j with %s', async (_, scope, algorithm, isOpen) => {
  const noted: Record<string, unknown>[] = []
  const server = {
    storage: { get: async () => undefined },
    scopes: { projectNamespacePrefix: 'p-' },
    tokens: {
      signer: await localSigner(algorithm),
      settings: { issuer: 'https://api.example.com', maxSeconds: 3600, projectNamespacePrefix: 'p-', uuid: () => 'u' },
    },
  } as unknown as Server
  const call = { now: new Date(), deadline: endless, note: (facts: object) => void noted.push({ ...facts }) }
  const { check } = await openTarget(server, call, { type: 'cluster', name: 'eu' }, 'json')
  const checked = check(withScopes(alice, scope)).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(await checked).toEqual(isOpen ? undefined : expect.objectContaining({ code: 'invalid_target' }))
  expect(noted.flatMap(({ missing }) => missing ?? [])).toEqual(
    isOpen ? [] : [expect.stringContaining('directclusterendpointtokens')],
  )
})
