/** Makes access keys as the API returns them, for tests of the console. */
import fc from 'fast-check'
import type { AccessKey } from '../../../clients/core/src/objects.ts'

export const NOW = new Date('2026-11-22T12:00:00Z')
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Returns the time so many milliseconds ago. */
export const ago = (milliseconds: number): string => new Date(NOW.getTime() - milliseconds).toISOString()
export const ahead = (milliseconds: number): string => ago(-milliseconds)

type Changes<T> = { [K in keyof T]?: T[K] | undefined }

export interface Facts {
  name?: string
  metadata?: Changes<AccessKey['metadata']>
  spec?: Changes<AccessKey['spec']>
  status?: Changes<NonNullable<AccessKey['status']>>
}

/**
 * Returns an active key with a scope that was made two hours ago, expires in 300 days and was just used. A fact that is undefined is
 * absent.
 */
export const keyOf = ({ name = 'ci', metadata, spec, status }: Facts = {}): AccessKey =>
  withoutAbsent({
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: ago(2 * HOUR), ...metadata },
    spec: { scope: { projects: [{ project: 'demo' }] }, ...spec },
    status: { phase: 'Active', owner: 'alice', lastActivity: ago(0), expirationTimestamp: ahead(300 * DAY), ...status },
  })

const withoutAbsent = (key: object): AccessKey => JSON.parse(JSON.stringify(key)) as AccessKey

/** The controller of a key that an exchange made. */
export const byExchange = [
  {
    apiVersion: 'management.platform/v1',
    kind: 'FederatedIdentityCredential',
    name: 'shop',
    uid: 'u',
    controller: true,
  },
]

const time = fc.option(
  fc.integer({ min: -400, max: 400 }).map((days) => ago(days * DAY)),
  { nil: undefined },
)
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })

/** Any keys, with names that occur once. */
export const keys: fc.Arbitrary<AccessKey[]> = fc.uniqueArray(
  fc
    .record({
      name: fc.oneof(
        fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,6}[a-z0-9])?$/),
        fc.string({ unit: 'grapheme', minLength: 1 }),
      ),
      displayName: maybe(fc.string({ unit: 'grapheme' })),
      labels: maybe(fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 })),
      isExchange: fc.boolean(),
      sliding: maybe(fc.boolean()),
      scope: fc.constantFrom(undefined, {}, { rules: [{}] }, { projects: [{ project: 'a' }] }),
      phase: fc.constantFrom('Active', 'Active', 'Active', 'Disabled', 'Expired', 'Terminating', undefined),
      made: time,
      used: time,
      expires: time,
      state: fc.constantFrom('Current' as const, 'Pending' as const, 'Retiring' as const),
    })
    .map(
      ({ name, displayName, labels, isExchange, sliding, scope, phase, made, used, expires, state }): AccessKey =>
        withoutAbsent({
          metadata: {
            name,
            uid: name,
            resourceVersion: '1',
            creationTimestamp: made ?? 'never',
            labels,
            ownerReferences: isExchange ? byExchange : undefined,
          },
          spec: { displayName, scope, ttlAfterLastActivity: sliding },
          status: { phase, lastActivity: used, expirationTimestamp: expires, values: [{ state }] },
        }),
    ),
  { selector: ({ metadata }) => metadata.name, maxLength: 12 },
)
