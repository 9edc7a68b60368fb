/** What is refused whatever the verb and kind. */
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import type { Answer } from '../../support/server.ts'
import { admin } from '../../support/users.ts'
import { status } from './fixtures.ts'

/** What every function that needs a user refuses before it looks at anything else. */
export function describeRefusals(invoke: (invocation: Invocation) => Promise<Answer>): void {
  describe('400', () => {
    // A path that could be taken for another is refused with the reason that the authorizer left.
    test('a path that the authorizer could not read', async () => {
      const authorizer = { badRequest: 'Name parameter invalid' }
      const { status: code, json } = await invoke({ authorizer })
      expect([code, json]).toEqual([400, status(400, 'BadRequest', 'Name parameter invalid')])
      const { text } = await invoke({ authorizer, headers: { accept: 'application/yaml' } })
      expect(text).toContain('message: Name parameter invalid\n')
    })
  })

  describe('401', () => {
    // Nobody gets in by a gateway that forgot its authorizer.
    test('no user', async () => {
      const { status: code, json } = await invoke({ authorizer: {} })
      expect([code, json]).toEqual([401, status(401, 'Unauthorized', 'Unauthorized')])
    })

    // The holder of a dead key learns why it does not work.
    test('a dead key', async () => {
      const { status: code, json } = await invoke({ authorizer: { unauthorized: 'access key has expired' } })
      expect([code, json]).toEqual([401, status(401, 'Unauthorized', 'access key has expired')])
    })

    // What is not exactly the authorizer's own writing is no user: a bug there must not let anybody in.
    test('a context that the authorizer did not write', async () => {
      const { status: code } = await invoke({ authorizer: { user: 'alice' } })
      expect(code).toBe(500)
    })
  })

  describe('403', () => {
    // A request to act as somebody else must not be carried out as oneself.
    test('impersonation', async () => {
      const { status: code, json } = await invoke({ user: admin, headers: { 'Impersonate-User': 'bob' } })
      expect([code, json]).toEqual([403, status(403, 'Forbidden', expect.stringContaining('impersonat'))])
    })
  })

  describe('406', () => {
    // No client gets a form that it did not ask for.
    test('a form that is not served', async () => {
      const { status: code, json } = await invoke({ user: admin, headers: { accept: 'text/html' } })
      expect([code, json.reason]).toEqual([406, 'NotAcceptable'])
    })
  })
}

/** Bodies that are refused before anything of the object is judged. */
export function describeBodies(send: (invocation: Invocation) => Promise<Answer>): void {
  describe('400', () => {
    // A body is read whole or not at all.
    test.each(['{"kind":', '[]', '""', '{"apiVersion":"v2"}'])('the body %s', async (body) => {
      const { status: code, json } = await send({ body })
      expect([code, json]).toEqual([400, status(400, 'BadRequest', expect.any(String))])
    })
  })

  describe('413', () => {
    // Memory and time of a function are not the client's to spend.
    test('a body of more than 3 MiB', async () => {
      const { status: code, json } = await send({ body: ' '.repeat(3 * 1024 * 1024 + 1) })
      expect([code, json.reason]).toEqual([413, 'RequestEntityTooLarge'])
    })
  })

  describe('415', () => {
    // A body is never guessed at.
    test('a media type that is not read', async () => {
      const { status: code, json } = await send({ headers: { 'Content-Type': 'text/plain' } })
      expect([code, json.reason]).toEqual([415, 'UnsupportedMediaType'])
      expect(json.message).toContain('application/json, application/yaml')
    })
  })
}
