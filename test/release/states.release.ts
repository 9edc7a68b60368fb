/** Keys in every state of their life, judged and changed by the functions of the previous release. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { keys } from '../support/objects.ts'
import { endAsUnused } from '../support/unusedkeys.ts'
import { type MadeKey, makeKey, newValue, type Outcome, patch, STATES, use } from './keys.ts'
import { type Release, type Releases, startReleases } from './releases.ts'

let releases: Releases
beforeAll(async () => {
  releases = await startReleases()
})
afterAll(() => releases?.stop())

/** The outcomes of the values of a key, oldest first. The pending one comes last, because its use ends others. */
async function outcomesOf(release: Release, key: MadeKey): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const value of key.values) outcomes.push(await use(releases, release, key, value))
  return outcomes
}

const read = async ({ name }: MadeKey, by: Release) =>
  (await releases.call(`${keys}/${name}`, { headers: releases.by([by, by]) })).json

test('this release records the sources of uses', async () => {
  const key = await makeKey(releases, 'used', 'with-sources')
  expect((await read(key, 'new')).status.lastSources).toEqual([expect.objectContaining({ ip: '127.0.0.1' })])
})

describe('a key of an exchange', () => {
  const make = async () => {
    const federation = newFederation()
    await openGates(releases.parts, federation)
    const { name, token } = await createExchangedKey(releases.parts, federation)
    return { name, values: [token] }
  }
  const expectAll = async (key: MadeKey, status: number) => {
    for (const release of ['new', 'old'] as const) {
      expect([release, (await outcomesOf(release, key)).map((one) => one.status)]).toEqual([release, [status]])
    }
  }

  test('is disabled and enabled by the previous release', async () => {
    const key = await make()
    await expectAll(key, 201)
    expect((await patch(releases, key, { disabled: true }, 'old')).status).toBe(200)
    await expectAll(key, 401)
    expect((await patch(releases, key, { disabled: false }, 'old')).status).toBe(200)
    await expectAll(key, 201)
  })

  test('is deleted by the previous release', async () => {
    const key = await make()
    const call = { method: 'DELETE', headers: releases.by(['old', 'old']) }
    expect((await releases.call(`${keys}/${key.name}`, call)).status).toBe(200)
    await expectAll(key, 401)
  })
})

// threat: use-19
test('a key that ended unused gives no access in the previous release, and none in this one when that has enabled it', async () => {
  const key = await makeKey(releases, 'plain', 'unused')
  expect(await endAsUnused(releases.parts, key.name)).toBe(1)
  const ended = { status: 401, message: 'access key has ended, because nobody used it for too long' }
  expect(await outcomesOf('new', key)).toEqual([ended])
  expect(await outcomesOf('old', key)).toEqual([{ status: 401, message: 'access key is disabled' }])
  expect((await patch(releases, key, { disabled: false }, 'old')).status).toBe(200)
  expect(await outcomesOf('old', key)).toMatchObject([{ status: 201 }])
  expect(await outcomesOf('new', key)).toEqual([ended])
  expect((await patch(releases, key, { description: 'still here' })).status).toBe(200)
  expect((await patch(releases, key, { disabled: true })).status).toBe(200)
  expect((await patch(releases, key, { disabled: false })).status).toBe(422)
})

describe.each(STATES)('a key that is %s', (state) => {
  const title = state.replaceAll(' ', '-')
  const make = (what: string) => makeKey(releases, state, `${title}-${what}`)

  // threat: releases-2
  test('is judged the same by both releases', async () => {
    const [one, other] = [await make('old'), await make('new')]
    expect(await outcomesOf('old', one)).toEqual(await outcomesOf('new', other))
    // What the uses have changed is understood by the other release.
    expect(await outcomesOf('new', one)).toEqual(await outcomesOf('old', other))
  })

  test('is read and listed by the previous release as by this one', async () => {
    const key = await make('read')
    const [old, now] = [await read(key, 'old'), await read(key, 'new')]
    // The previous release has no phase for a key that has leaked.
    const known = now.spec.disabled ? 'Disabled' : 'Active'
    const phase = now.status.phase === 'Leaked' ? known : now.status.phase
    expect([old.spec, old.metadata, old.status.phase]).toEqual([now.spec, now.metadata, phase])
    const selector = `${keys}?fieldSelector=metadata.name=${key.name}`
    const { json } = await releases.call(selector, { headers: releases.by(['old', 'old']) })
    expect(json.items.map((item: typeof old) => item.spec)).toEqual([old.spec])
  })

  // threat: releases-2
  test('has lost nothing after the previous release has changed it', async () => {
    const [changed, same] = [await make('changed'), await make('same')]
    const { spec } = await read(changed, 'new')
    expect((await patch(releases, changed, { description: 'by the previous release' }, 'old')).status).toBe(200)
    expect((await read(changed, 'new')).spec).toEqual({ ...spec, description: 'by the previous release' })
    expect(await outcomesOf('new', changed)).toEqual(await outcomesOf('new', same))
  })

  test('is disabled and enabled by the previous release', async () => {
    const [changed, same] = [await make('switched'), await make('enabled')]
    expect((await patch(releases, changed, { disabled: true }, 'old')).status).toBe(200)
    for (const release of ['new', 'old'] as const) {
      const outcomes = await outcomesOf(release, changed)
      expect([release, outcomes.filter(({ status }) => status < 400)]).toEqual([release, []])
    }
    expect((await patch(releases, changed, { disabled: false }, 'old')).status).toBe(200)
    await patch(releases, same, { disabled: false })
    expect(await outcomesOf('new', changed)).toEqual(await outcomesOf('new', same))
  })

  test('has only the new value after the previous release has replaced all others', async () => {
    const key = await make('replaced')
    const value = newValue()
    await patch(releases, key, { disabled: false, sourceCIDRs: null })
    expect((await patch(releases, key, { key: value }, 'old')).status).toBe(200)
    for (const release of ['new', 'old'] as const) {
      const outcomes = await outcomesOf(release, key)
      expect([release, outcomes.filter(({ status }) => status !== 401)]).toEqual([release, []])
      expect([release, await use(releases, release, key, value)]).toEqual([release, { status: 201, user: 'alice' }])
    }
  })

  test('has no valid value after the previous release has deleted it', async () => {
    const key = await make('deleted')
    const call = { method: 'DELETE', headers: releases.by(['old', 'old']) }
    expect((await releases.call(`${keys}/${key.name}`, call)).status).toBe(200)
    for (const release of ['new', 'old'] as const) {
      const outcomes = await outcomesOf(release, key)
      expect([release, outcomes.filter(({ status }) => status !== 401)]).toEqual([release, []])
    }
  })
})
