/** Tests the responses of list for every stored kind, one group per status code. */
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import type { Answer } from '../../support/request.ts'
import { bob } from '../../support/users.ts'
import { callsOf, type StoredFunctions, type Used } from './fixtures.ts'
import { describeRefusals } from './refusals.ts'

export function describeList(functions: Used, stored: StoredFunctions): void {
  const { kind, plural, parameters } = stored
  const { call, make, at } = callsOf(functions, stored)
  const list = (query: Record<string, string>, invocation: Invocation = {}) =>
    call('list', { parameters, query, ...invocation })
  const names = ({ json }: Answer) => json.items.map((item: { metadata: { name: string } }) => item.metadata.name)

  describeRefusals((invocation) => functions.invoke(`${plural}/list`, invocation))

  describe('200', () => {
    test('lists the objects ordered by name', async () => {
      for (const name of ['l-b', 'l-a', 'l-c']) await make({ name, labels: { list: 'yes', name } })
      const answer = await list({ labelSelector: 'list=yes' })
      expect([answer.status, answer.json.kind, answer.json.apiVersion]).toEqual([
        200,
        `${kind}List`,
        'management.platform/v1',
      ])
      expect(names(answer)).toEqual(['l-a', 'l-b', 'l-c'])
      expect(names(await list({ labelSelector: 'list,name notin (l-a)' }))).toEqual(['l-b', 'l-c'])
      expect(names(await list({ fieldSelector: 'metadata.name=l-c' }))).toEqual(['l-c'])
    })

    // All pages show one revision, without later objects.
    test('lists in pages', async () => {
      for (const name of ['p-a', 'p-b', 'p-c']) await make({ name, labels: { page: 'yes' } })
      const first = await list({ labelSelector: 'page', limit: '2' })
      await make({ name: 'p-d', labels: { page: 'yes' } })
      const next = { labelSelector: 'page', limit: '2', continue: first.json.metadata.continue }
      const second = await list(next)
      expect([...names(first), ...names(second)]).toEqual(['p-a', 'p-b', 'p-c'])
      expect(second.json.metadata.continue).toBe('')
      expect(second.json.metadata.resourceVersion).toBe(first.json.metadata.resourceVersion)
    })

    test('lists as a Table and as metadata', async () => {
      const accept = (as: string) => ({ accept: `application/json;as=${as};v=v1;g=meta.k8s.io` })
      expect((await list({}, { headers: accept('Table') })).json.kind).toBe('Table')
      const metadata = await list({}, { headers: accept('PartialObjectMetadataList') })
      expect(metadata.json.kind).toBe('PartialObjectMetadataList')
    })

    // A watch sends every change once and in order, from the revision that the client has seen.
    test('sends changes to a watch', async () => {
      const { metadata } = await make({ name: 'watched', labels: { watch: 'yes' } })
      const patch = { 'content-type': 'application/merge-patch+json' }
      await call('patch', { parameters: at('watched'), headers: patch, body: { metadata: { labels: { step: '2' } } } })
      await call('delete', { parameters: at('watched'), body: null })
      const query = { watch: 'true', timeoutSeconds: '1', labelSelector: 'watch' }
      const { status: code, text } = await list({ ...query, resourceVersion: metadata.resourceVersion })
      const events = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(code).toBe(200)
      expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
        'MODIFIED watched',
        'DELETED watched',
      ])
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
      expect(versions[0]).toBeGreaterThan(Number(metadata.resourceVersion))
      expect(versions[1]).toBeGreaterThan(versions[0] ?? 0)
    })

    // fabric8 first requests a WebSocket. It watches over HTTP after that response ends.
    test.each([
      { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==' },
      { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
      { upgrade: 'WebSocket' },
    ])('ends a watch over WebSocket at once without events: %o', async (headers) => {
      await make({ name: `ws-${Object.keys(headers).join('-').toLowerCase()}` })
      const answer = await list({ watch: 'true' }, { headers })
      expect([answer.status, answer.text]).toEqual([200, '\n'])
      expect((await list({ watch: 'true', labelSelector: 'a in' }, { headers })).status).toBe(400)
    })

    // Lists, pages and watches contain only objects that the user may get.
    test('shows no objects of others', async () => {
      await make({ name: 'others' })
      const listed = await list({}, { user: bob })
      expect([listed.json.items, listed.json.metadata.remainingItemCount]).toEqual([[], undefined])
      const paged = await list({ limit: '1' }, { user: bob })
      expect([paged.json.items, paged.json.metadata]).toEqual([
        [],
        { continue: '', resourceVersion: listed.json.metadata.resourceVersion },
      ])
      const watched = await list({ watch: 'true', timeoutSeconds: '1' }, { user: bob })
      expect(watched.text.trim()).toBe('')
    })
  })

  describe('400', () => {
    test.each([
      { query: { labelSelector: 'a in' } },
      { query: { fieldSelector: 'spec.nothing=1' } },
      { query: { limit: 'many' } },
      { query: { resourceVersion: 'new' } },
      { query: { continue: 'nonsense' } },
    ])('for $query', async ({ query }) => {
      const { status: code, json } = await list(query as Record<string, string>)
      expect([code, json.reason]).toEqual([400, 'BadRequest'])
    })
  })

  describe('422', () => {
    test.each([
      { query: { resourceVersionMatch: 'Exact' } },
      { query: { sendInitialEvents: 'true' } },
      { query: { watch: 'true', resourceVersionMatch: 'Exact' } },
    ])('for $query', async ({ query }) => {
      const { status: code, json } = await list(query as Record<string, string>)
      expect([code, json.details.kind]).toEqual([422, 'ListOptions'])
    })
  })
}
