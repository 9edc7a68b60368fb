import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { type Instance, serverAddress, toInstance } from '../../../lib/clusters/instance.ts'
import { formatValue } from '../../../lib/engine/meta/encoding/badvalue.ts'
import { StatusError } from '../../../lib/engine/meta/errors/status.ts'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import { patience } from '../../support/patience.ts'
import cases from './vectors/instance.cases.json' with { type: 'json' }

const read = (spec: JsonObject) =>
  toInstance({
    apiVersion: 'management.platform/v1',
    kind: 'VirtualClusterInstance',
    metadata: { namespace: 'p-shop', name: 'dev', uid: 'u' },
    spec,
  })

describe('toInstance', () => {
  test('reads the stored object', () => {
    const spec = {
      accessPoint: { ingress: { enabled: true, host: 'dev.example.com:8443' } },
      certificateAuthorityData: 'AAAA',
      credentialsSecretRef: { secretName: 'shared' },
    }
    expect(read(spec)).toEqual({
      namespace: 'p-shop',
      name: 'dev',
      uid: 'u',
      host: 'dev.example.com:8443',
      certificateAuthorityData: 'AAAA',
      secretReference: 'shared',
    })
  })

  test.each(cases.unnamed as [string, JsonObject][])(
    'returns no host, and the default name of the secret: %s',
    (_, spec) => {
      expect(read(spec)).toEqual({ namespace: 'p-shop', name: 'dev', uid: 'u', secretReference: 'p-shop/dev' })
    },
  )
})

const instance = (host?: string): Instance => ({
  namespace: 'p-shop',
  name: 'dev',
  uid: 'u',
  secretReference: 'x',
  ...(host !== undefined && { host }),
})

describe('serverAddress', () => {
  test('prefers the requested address over the ingress', () => {
    expect(serverAddress(instance('a.example.com'), 'https://b.example.com/x')).toBe('https://b.example.com/x')
    expect(serverAddress(instance('a.example.com'), '')).toBe('https://a.example.com')
    expect(serverAddress(instance('a.example.com:8443'), undefined)).toBe('https://a.example.com:8443')
  })

  test.each([
    ...cases.fieldErrors,
    ...['\0', '\u0001', '\u001b', '\u007f', '\u0085', '\u200b', '\u202e', 'é', '\ud800'].flatMap((character) => [
      `https://b.example.com/${character}`,
      `https://b.exa${character}mple.com`,
      `https://b.example.com${character}`,
      `${character}https://b.example.com`,
    ]),
  ])('returns a field error for %j', (server) => {
    expect(serverAddress(instance(), server)).toEqual({
      error: {
        type: 'FieldValueInvalid',
        field: 'spec.server',
        message: `Invalid value: ${formatValue(server)}: must be an absolute https URL without user, query and fragment`,
      },
    })
  })

  test.each(cases.unchanged)('uses %j unchanged', (server) => expect(serverAddress(instance(), server)).toBe(server))

  // In quadratic time, a request with such an address would occupy its function for hours.
  // threat: gateway-11
  test.each(['?', '#', ' ', '\\'])('rejects a long address that ends in %j in linear time', (end) => {
    const read = () => serverAddress(instance(), `https://${'a'.repeat(500_000)}${end}`)
    expect(runInNewContext('read()', { read }, patience)).toMatchObject({ error: { field: 'spec.server' } })
  })

  test('does not repeat a password in the address', () =>
    expect(JSON.stringify(serverAddress(instance(), 'https://u:hunter2@b.example.com'))).not.toContain('hunter2'))

  test.each([undefined, 'a/../b', 'user@evil.example.com', 'a?b'])(
    'throws 400 without an address (host %j)',
    (host) => {
      expect(() => serverAddress(instance(host), undefined)).toThrow(StatusError)
      expect(() => serverAddress(instance(host), undefined)).toThrow(
        'virtual cluster "p-shop/dev" has no ingress endpoint: specify an address in spec.server',
      )
    },
  )
})
