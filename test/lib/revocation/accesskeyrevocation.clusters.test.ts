/** Tests how long a revocation waits for clusters, and which it names. */
import { expect, test } from 'vitest'
import { endSecrets } from '../../../lib/clusters/serviceaccounts/endsecrets.ts'
import { boundItem, boundKey, placeItem } from '../../../lib/keys/credential/boundsecrets.ts'
import { awaitClusters } from '../../../lib/revocation/accesskeyrevocation.clusters.ts'
import { endless } from '../../support/deadlines.ts'
import { createMemoryItems } from '../../support/memoryitems.ts'
import { storageIn } from '../../support/store.ts'

/** Two revoked keys with a Secret in each of two clusters, and another key that was revoked before. */
async function begin() {
  const storage = storageIn(createMemoryItems(Date.now))
  const at = 4_000_000_000
  let waited = 0
  const away = new Set<string>()
  for (const uid of ['a', 'b', 'other']) {
    for (const cluster of uid === 'other' ? ['old'] : ['prod', 'staging']) {
      const where = { account: 'user.alice', namespace: 'keyplane', secret: `s-${uid}`, secretRef: cluster }
      const bound = { ...where, name: uid, uid, server: 'https://x.example', since: at, until: at + 3600 }
      const place = `clusters/${cluster}/u`
      await storage.writeCompanion(placeItem(place, at), { deadline: endless })
      const item = boundItem(boundKey(uid, place, '1'), bound, at)
      await storage.writeCompanion(item, { deadline: endless })
    }
  }
  const end = () =>
    endSecrets({
      storage,
      now: () => new Date(at * 1000),
      hasTime: () => true,
      deadline: endless,
      judge: async () => 0,
      async remove(_, place) {
        if (away.has(place)) throw new Error('away')
      },
      unconfirmed: async () => undefined,
    })
  const ask = ({ uids = ['a', 'b'], hasTime = true, during = async (): Promise<unknown> => undefined } = {}) =>
    awaitClusters(
      {
        storage,
        async sleep(ms) {
          waited += ms
          await during()
        },
        hasTime: () => hasTime,
      },
      new Set(uids),
    )
  return { away, end, ask, waited: () => waited }
}

test('keys without such tokens do not wait', async () => {
  const { ask, waited } = await begin()
  expect([await ask({ uids: ['c'] }), waited()]).toEqual([undefined, 0])
})

test('clusters that confirm are not named', async () => {
  const { end, ask, waited } = await begin()
  expect(await ask({ during: end })).toBeUndefined()
  expect(waited()).toBeLessThan(2000)
})

test('clusters that were asked in vain are named at once', async () => {
  const { away, end, ask, waited } = await begin()
  away.add('clusters/staging/u')
  expect(await ask({ during: end })).toEqual({ keys: 2, clusters: ['staging'] })
  expect(waited()).toBeLessThan(2000)
  away.add('clusters/prod/u')
  expect(await ask()).toEqual({ keys: 2, clusters: ['staging'] })
})

test('clusters that nobody has asked are named after ten seconds, or when the time of the request is up', async () => {
  const { ask, waited } = await begin()
  const both = { keys: 2, clusters: ['prod', 'staging'] }
  expect([await ask({ hasTime: false }), waited()]).toEqual([both, 0])
  expect([await ask(), waited()]).toEqual([both, 10_000])
})
