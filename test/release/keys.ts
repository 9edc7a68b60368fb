/** Keys in every state of their life, made by the functions of this release. */
import { randomBytes } from 'node:crypto'
import { accessKey, keys, management } from '../support/objects.ts'
import type { Pair, Release, Releases } from './releases.ts'

const merge = { 'content-type': 'application/merge-patch+json' }
const both = (release: Release): Pair => [release, release]

/** A key and its values, oldest first. */
export interface MadeKey {
  name: string
  values: string[]
}

/** What a value gives: a status, the message of a refusal without the name of the key, and the name of the user. */
export interface Outcome {
  status: number
  message?: string
  user?: string
}

export const newValue = (): string => `own-${randomBytes(24).toString('base64url')}`

/** Uses a value of a key as `release` judges it. */
export async function use(releases: Releases, release: Release, { name }: MadeKey, value = ''): Promise<Outcome> {
  const call = { method: 'POST', body: {}, token: value, headers: releases.by([release, 'new']) }
  const { status, json } = await releases.call(`${management}/selves`, call)
  if (status === 201) return { status, user: json.status.user.name }
  return { status, message: String(json?.message).replaceAll(name, 'NAME') }
}

export const patch = (releases: Releases, { name }: MadeKey, spec: object, by: Release = 'new') =>
  releases.call(`${keys}/${name}`, {
    method: 'PATCH',
    body: { spec },
    headers: { ...merge, ...releases.by(both(by)) },
  })

/** Changes a key by this release. Rejects if that is refused. */
async function change(releases: Releases, key: MadeKey, spec: object): Promise<void> {
  const { status, text } = await patch(releases, key, spec)
  if (status !== 200) throw new Error(`${status}: ${text}`)
}

/** Asks for a rotation, and adds the new value to those of the key. */
export async function rotate(releases: Releases, key: MadeKey, spec: object): Promise<void> {
  const body = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKeyRotation', spec }
  const { status, json, text } = await releases.call(`${keys}/${key.name}/rotate`, { method: 'POST', body })
  if (status !== 201) throw new Error(`${status}: ${text}`)
  if (json.status.key) key.values.push(json.status.key)
}

async function report(releases: Releases, value = ''): Promise<void> {
  const { status, text } = await releases.call('/leaks', {
    method: 'POST',
    token: '',
    body: { credentials: [value] },
  })
  if (status >= 300) throw new Error(`${status}: ${text}`)
}

/** The states, and the steps that lead there. */
const STEPS: Readonly<Record<string, (releases: Releases, key: MadeKey) => Promise<unknown>>> = {
  plain: async () => {},
  disabled: (releases, key) => change(releases, key, { disabled: true }),
  limited: (releases, key) => change(releases, key, { sourceCIDRs: ['127.0.0.0/8', '::1/128'] }),
  'limited to other addresses': (releases, key) => change(releases, key, { sourceCIDRs: ['192.0.2.0/24'] }),
  used: (releases, key) => use(releases, 'new', key, key.values[0]),
  pending: (releases, key) => rotate(releases, key, { overlapSeconds: 3600 }),
  'pending and disabled': async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 3600 })
    await change(releases, key, { disabled: true })
  },
  retiring: async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 3600 })
    await use(releases, 'new', key, key.values[1])
  },
  'retiring and settled': async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 3600 })
    await use(releases, 'new', key, key.values[1])
    await change(releases, key, { description: 'settled' })
  },
  'rotated without an overlap': async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 0 })
    await use(releases, 'new', key, key.values[1])
  },
  'rotated without an overlap and settled': async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 0 })
    await use(releases, 'new', key, key.values[1])
    await change(releases, key, { description: 'settled' })
  },
  'rotated twice': async (releases, key) => {
    for (const index of [1, 2]) {
      await rotate(releases, key, { overlapSeconds: 0 })
      await use(releases, 'new', key, key.values[index])
    }
  },
  'with a replaced pending value': async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 3600 })
    await rotate(releases, key, { overlapSeconds: 3600, replace: true })
  },
  finished: async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 3600 })
    await rotate(releases, key, { finish: true })
  },
  replaced: async (releases, key) => {
    key.values.push(newValue())
    await change(releases, key, { key: key.values[1] })
  },
  'replaced while pending': async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 3600 })
    key.values.push(newValue())
    await change(releases, key, { key: key.values[2] })
  },
  leaked: (releases, key) => report(releases, key.values[0]),
  'leaked and enabled': async (releases, key) => {
    await report(releases, key.values[0])
    await change(releases, key, { disabled: false })
  },
  'leaked while pending': async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 3600 })
    await report(releases, key.values[0])
    await change(releases, key, { disabled: false })
  },
  'with a leaked pending value': async (releases, key) => {
    await rotate(releases, key, { overlapSeconds: 3600 })
    await report(releases, key.values[1])
  },
}

export const STATES: readonly string[] = Object.keys(STEPS)

/** Makes a key in a state. */
export async function makeKey(releases: Releases, state: string, name: string): Promise<MadeKey> {
  const { spec } = await releases.make(keys, accessKey(name, { user: 'alice' }))
  const key = { name, values: [spec.key] }
  await STEPS[state]?.(releases, key)
  return key
}
