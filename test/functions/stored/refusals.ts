/** Tests errors that do not depend on the verb and kind. */
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import type { Answer } from '../../support/request.ts'
import { admin } from '../../support/users.ts'
import { status } from './fixtures.ts'

/** Tests the checks that every function with a user makes first. */
export function describeRefusals(invoke: (invocation: Invocation) => Promise<Answer>): void {
  describe('400', () => {
    // An ambiguous path is rejected with the reason from the authorizer.
    test('for a path that the authorizer rejected', async () => {
      const authorizer = { badRequest: 'Name parameter invalid' }
      const { status: code, json } = await invoke({ authorizer })
      expect([code, json]).toEqual([400, status(400, 'BadRequest', 'Name parameter invalid')])
      const { text } = await invoke({ authorizer, headers: { accept: 'application/yaml' } })
      expect(text).toContain('message: Name parameter invalid\n')
    })
  })

  describe('401', () => {
    // A gateway without its authorizer gives no access.
    test('without a user', async () => {
      const { status: code, json } = await invoke({ authorizer: {} })
      expect([code, json]).toEqual([401, status(401, 'Unauthorized', 'Unauthorized')])
    })

    // The response explains to the holder of a key why it is invalid.
    test('for an invalid key', async () => {
      const { status: code, json } = await invoke({ authorizer: { unauthorized: 'access key has expired' } })
      expect([code, json]).toEqual([401, status(401, 'Unauthorized', 'access key has expired')])
    })

    // A context that the authorizer did not write has no user, so that a bug gives no access.
    test('for a context that the authorizer did not write', async () => {
      const { status: code } = await invoke({ authorizer: { user: 'alice' } })
      expect(code).toBe(500)
    })
  })

  describe('403', () => {
    // A request that impersonates another user must not run as the caller.
    test('for impersonation', async () => {
      const { status: code, json } = await invoke({ user: admin, headers: { 'Impersonate-User': 'bob' } })
      expect([code, json]).toEqual([403, status(403, 'Forbidden', expect.stringContaining('impersonat'))])
    })
  })

  describe('406', () => {
    // Clients receive only media types that they accept.
    test('for an unsupported media type in Accept', async () => {
      const { status: code, json } = await invoke({ user: admin, headers: { accept: 'text/html' } })
      expect([code, json.reason]).toEqual([406, 'NotAcceptable'])
    })
  })
}

/** Tests bodies that are rejected before the object is validated. */
export function describeBodies(send: (invocation: Invocation) => Promise<Answer>): void {
  describe('400', () => {
    // A body must be complete and valid.
    test.each(['{"kind":', '[]', '""', '{"apiVersion":"v2"}'])('for the body %s', async (body) => {
      const { status: code, json } = await send({ body })
      expect([code, json]).toEqual([400, status(400, 'BadRequest', expect.any(String))])
    })
  })

  describe('413', () => {
    // The limit bounds the memory and time of a function.
    test('for a body of more than 3 MiB', async () => {
      const { status: code, json } = await send({ body: ' '.repeat(3 * 1024 * 1024 + 1) })
      expect([code, json.reason]).toEqual([413, 'RequestEntityTooLarge'])
    })
  })

  describe('415', () => {
    // The server never guesses the format of a body.
    test('for an unsupported media type', async () => {
      const { status: code, json } = await send({ headers: { 'Content-Type': 'text/plain' } })
      expect([code, json.reason]).toEqual([415, 'UnsupportedMediaType'])
      expect(json.message).toContain('application/json, application/yaml')
    })
  })
}
