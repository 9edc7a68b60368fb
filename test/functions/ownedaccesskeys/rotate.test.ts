/** Tests the times of rotations with a clock that moves. */
import { describe, expect, test } from 'vitest'
import { type Rotation, rotateKey } from '../../../lib/keys/ownedaccesskeyrotation.change.ts'
import { useFunctions } from '../../support/functions.ts'
import { admin, contextOf } from '../../support/users.ts'
import { accessKeys, callsOf } from '../stored/fixtures.ts'

const functions = useFunctions()
const merge = { 'content-type': 'application/merge-patch+json' }
const { at, call, make } = callsOf(functions, accessKeys)

const later = (seconds: number) => new Date(Date.now() + seconds * 1000)

let count = 0
/** Creates a key with the role selfRotate, and returns a function that rotates it with itself at a time. */
async function createRotator() {
  const name = `rotator-${++count}`
  const scope = { roles: [{ role: 'selfRotate' }] }
  const { spec } = await make({ name }, { user: 'alice', ttl: 86_400, scope })
  const { parts } = functions.get()
  const found = await parts.authenticate(spec.key)
  if (!('user' in found)) throw new Error('the key gives no access')
  const user = { ...found.user, credential: found.credential }
  return (seconds: number, more: Partial<Rotation> = {}) => {
    const value = parts.keys.generate()
    const rotation = { value, isOwn: false, finish: false, replace: false, overlapSeconds: 3600, ...more }
    return rotateKey(parts, { name }, rotation, contextOf(user, { now: later(seconds) }))
  }
}

describe('a key with the role selfRotate', () => {
  // threat: rotation-11
  test('replaces a pending value from an hour after the rotation on', async () => {
    const rotate = await createRotator()
    await rotate(0)
    const refused = { status: { code: 409, message: expect.stringContaining('it may be replaced from') } }
    await expect(rotate(3590, { replace: true })).rejects.toMatchObject(refused)
    expect((await rotate(3610, { replace: true })).key).toMatch(/^rotator-/)
    await expect(rotate(3620, { replace: true })).rejects.toMatchObject(refused)
  })

  // threat: rotation-13
  test('is freed by its owner when a thief keeps it pending', async () => {
    const rotate = await createRotator()
    const { key: name } = await rotate(0)
    const refused = { status: { code: 409 } }
    await expect(rotate(60, { replace: true })).rejects.toMatchObject(refused)
    const { parts } = functions.get()
    const finish = { value: '', isOwn: false, finish: true, replace: false, overlapSeconds: 0 }
    await rotateKey(parts, { name }, finish, contextOf(admin, { now: later(60) }))
    await rotate(120)
    const key = `supplied-by-the-owner-${name}-0123456789`
    expect((await call('patch', { parameters: at(name), headers: merge, body: { spec: { key } } })).status).toBe(200)
    await expect(rotate(180)).rejects.toMatchObject(refused)
  })

  // threat: rotation-11
  test('is not rotated after its end', async () => {
    const rotate = await createRotator()
    await expect(rotate(86_401)).rejects.toMatchObject({
      status: { code: 409, message: expect.stringContaining('expired access keys cannot be rotated') },
    })
  })
})
