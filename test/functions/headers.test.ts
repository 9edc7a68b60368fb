/** Tests the headers that say what browsers and proxies may keep of an answer. */
import { expect, test } from 'vitest'
import { responses } from '../../infra/stack/responses.ts'
import { respondError } from '../../lib/engine/endpoints/respond.ts'
import { unauthorized } from '../../lib/engine/meta/errors/status.ts'
import { useFunctions } from '../support/functions.ts'

const functions = useFunctions()
const key = { metadata: { name: 'one' }, spec: { user: 'alice' } }

// threat: gateway-20
test('forbid to store an answer with a credential', async () => {
  const cached = async (name: string, invocation: object) => {
    const { status, headers } = await functions.invoke(name, invocation)
    return [status, headers['cache-control']]
  }
  const parameters = { name: 'one' }
  const applied = { metadata: { name: 'two' }, spec: { user: 'alice' } }
  const asApply = { 'content-type': 'application/apply-patch+yaml' }
  const apply = {
    parameters: { name: 'two' },
    headers: asApply,
    query: { fieldManager: 'test' },
    body: { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', ...applied },
  }
  expect(await cached('ownedaccesskeys/create', { body: key })).toEqual([201, 'no-store'])
  expect(await cached('ownedaccesskeys/patch', apply)).toEqual([201, 'no-store'])
  expect(await cached('ownedaccesskeys/rotate', { parameters, body: {} })).toEqual([201, 'no-store'])
  expect(await cached('directclusterendpointtokens/create', {})).toEqual([201, 'no-store'])
  expect(await cached('ownedaccesskeys/patch', apply)).toEqual([200, 'no-cache, private'])
  expect(await cached('ownedaccesskeys/get', { parameters })).toEqual([200, 'no-cache, private'])
})

// threat: gateway-20
test.each([
  'reviews/tokenreview',
  'reviews/subjectaccessreview',
  'reviews/selfsubjectreview',
  'selves/create',
  'accesskeylookups/create',
])('forbid to store a verdict about a credential or its user: %s', async (name) => {
  const { status, headers } = await functions.invoke(name)
  expect([status, headers['cache-control']]).toEqual([201, 'no-store'])
})

// threat: gateway-20
test('forbid to store that a credential is not valid, whoever says so', async () => {
  const { headers } = await respondError(unauthorized(), undefined)
  expect(headers['cache-control']).toBe('no-store')
  const header = 'gatewayresponse.header.Cache-Control'
  expect(responses.UNAUTHORIZED?.responseParameters[header]).toBe("'no-store'")
  expect(responses.THROTTLED?.responseParameters[header]).toBe("'no-cache, private'")
})

// threat: gateway-20
test('bind browsers to HTTPS, in answers and in errors', async () => {
  const answers = await Promise.all([
    functions.invoke('ownedaccesskeys/get', { parameters: { name: 'none' } }),
    functions.invoke('ownedaccesskeys/list'),
    functions.invoke('oauth2/token', { body: '' }),
  ])
  for (const { headers } of answers) expect(headers['strict-transport-security']).toBe('max-age=31536000')
})

// threat: gateway-21
test('forbid browsers to guess the type of an answer', async () => {
  const answers = await Promise.all([
    functions.invoke('ownedaccesskeys/create', { body: { ...key, metadata: { name: 'typed' } } }),
    functions.invoke('ownedaccesskeys/get', { parameters: { name: 'none' } }),
    functions.invoke('ownedaccesskeys/list'),
    functions.invoke('ownedaccesskeys/list', { query: { watch: 'true', timeoutSeconds: '1' } }),
    functions.invoke('oauth2/token', { body: '' }),
  ])
  for (const { status, headers } of answers) {
    expect([status, headers['x-content-type-options']]).toEqual([status, 'nosniff'])
  }
})
