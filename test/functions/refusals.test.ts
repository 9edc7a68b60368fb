/** Tests that no function does anything for a request that the authorizer refused, whatever the function is. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalSecrets, SECRETS } from '../../lib/clusters/localsecrets.ts'
import { SIGNING_KEYS } from '../../lib/clusters/token/localkeys.ts'
import type { OpenKeys, SigningKeys } from '../../lib/clusters/token/signingkeys.ts'
import { forbiddenPath } from '../../lib/engine/meta/errors/status.ts'
import { provide } from '../../lib/engine/meta/provided.ts'
import type { Items } from '../../lib/engine/storage/items.ts'
import { encodeForbidden } from '../../lib/server/lambda/authorizercontext.ts'
import { useFunctions } from '../support/functions.ts'
import { usePackagedTemplate } from '../support/packagedtemplate.ts'
import { admin } from '../support/users.ts'

/** Stands in for a service: counts calls and answers none of them. */
let calls = 0
const deaf = <T extends object>(known: Partial<T>) =>
  new Proxy(known as T, {
    get: (target, name) =>
      target[name as keyof T] ??
      (async () => {
        calls++
        throw new Error('denied')
      }),
  })

const functions = useFunctions()
const restored: (() => void)[] = []
beforeAll(() => {
  functions.get().store.around = ({ limits }) => deaf<Items>({ limits })
  restored.push(
    provide<OpenKeys>(SIGNING_KEYS, () => deaf<SigningKeys>({})),
    provide(SECRETS, deaf<LocalSecrets>({})),
  )
})
afterAll(() => {
  for (const restore of restored) restore()
})
const packaged = usePackagedTemplate()

/** Returns the functions of routes with an authorizer, by their paths below functions/. */
function authorizedFunctions(): string[] {
  const { routes, functions } = packaged.deployment
  const ids = new Set(routes.flatMap(({ authorizerFunctionId: id, functionId }) => (id ? [functionId] : [])))
  return [...ids].map((id) => functions.get(id)?.module.replace(/^functions\//, '') ?? '')
}

const audits = () => functions.get().log.filter((line) => JSON.parse(line).message === 'audit').length

const message = 'forbidden: User "ü \\"" cannot get path "/x"'
const forbidden = forbiddenPath('User "ü \\"" cannot get path "/x"').status

// threat: context-2, context-4, context-5
test.each([
  { context: { forbidden: encodeForbidden(forbidden) }, code: 403, told: message },
  { context: { unauthorized: 'access key has expired' }, code: 401, told: 'access key has expired' },
  { context: { badRequest: 'Name parameter invalid' }, code: 400, told: 'Name parameter invalid' },
  { context: {}, code: 401, told: 'Unauthorized' },
  // A context that the authorizer did not write has no user, so that a bug gives no access.
  { context: { user: 'alice' }, code: 500, told: expect.any(String) },
])('every function answers a refusal with $code, without a call to AWS', async ({ context, code, told }) => {
  const names = authorizedFunctions()
  expect(names.length).toBeGreaterThan(20)
  for (const name of names) {
    const before = { calls, audits: audits() }
    const { status, json } = await functions.invoke(name, { authorizer: context })
    expect([name, status, json]).toMatchObject([name, code, { kind: 'Status', status: 'Failure', code, message: told }])
    // The authorizer has written the audit record, except where it did not write the context.
    const written = code === 500 || Object.keys(context).length === 0 ? 1 : 0
    expect([name, calls - before.calls, audits() - before.audits]).toEqual([name, 0, written])
  }
})

// A request that impersonates another user must not run as the caller, and no client gets what it does not accept.
// threat: gateway-5
test.each([
  { what: 'impersonation', headers: { 'Impersonate-User': 'bob' }, code: 403, told: 'impersonat' },
  { what: 'any other header of impersonation', headers: { 'IMPERSONATE-Extra-x': '' }, code: 403, told: 'impersonat' },
  { what: 'an unsupported media type in Accept', headers: { accept: 'text/html' }, code: 406, told: 'media types' },
])('every function of an object refuses $what, without a call to AWS', async ({ headers, code, told }) => {
  const documents = /^(namespaces|customresourcedefinitions)\//
  const names = authorizedFunctions().filter((name) => name.includes('/') && !documents.test(name))
  const before = calls
  for (const name of names) {
    const { status, json } = await functions.invoke(name, { user: admin, headers })
    expect([name, status, json.message]).toEqual([name, code, expect.stringContaining(told)])
  }
  expect(calls).toBe(before)
})

// Otherwise the tests above would not notice a call.
test('a function that gets a user calls the store', async () => {
  const before = calls
  expect((await functions.invoke('ownedaccesskeys/get')).status).toBe(500)
  expect(calls).toBeGreaterThan(before)
})

describe('a refusal of a scope', () => {
  const refused = (authorizer: Record<string, string>, accept = 'application/json') =>
    functions.invoke('ownedaccesskeys/get', { authorizer, headers: { accept } })

  test('wins over a user', async () =>
    expect(await refused({ user: 'alice', forbidden: encodeForbidden(forbidden) })).toMatchObject({ status: 403 }))

  // A Status of another code could make a refusal look like success.
  // threat: context-5
  test.each([
    { what: 'no JSON', text: 'x' },
    { what: 'another code', text: Buffer.from('{"code":200}').toString('base64url') },
    { what: 'no object', text: Buffer.from('null').toString('base64url') },
  ])('that is $what fails the request', async ({ text }) => {
    const before = calls
    expect((await refused({ forbidden: text })).status).toBe(500)
    expect(calls).toBe(before)
  })

  // API Gateway limits the context of other kinds of APIs to 8 KB, and documents no limit for this kind.
  test('stays short for the longest path', async () => {
    const long = forbiddenPath(`User "a" cannot get path "/${'\u0001ü'.repeat(8192)}"`).status
    const context = { forbidden: encodeForbidden(long) }
    expect(context.forbidden.length).toBeLessThan(10_240)
    const { status, json } = await refused(context)
    expect([status, json.reason]).toEqual([403, 'Forbidden'])
    expect(json.message).toMatch(/^forbidden: User "a" cannot get path "\/.* \.\.\.$/s)
  })
})
