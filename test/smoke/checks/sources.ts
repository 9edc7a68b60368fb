/** Checks the source address that API Gateway tells, to which access keys can be limited. */
import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { assertStatus, type Check, keyObject, keys, withKey } from './check.ts'

/** Addresses that nobody has (RFC 5737, RFC 3849). */
const elsewhere = keyObject({ user: 'smoke', sourceCIDRs: ['192.0.2.0/24', '2001:db8::/32'] })

/** Headers with which a proxy names the address of its client. */
const forwarded = {
  'X-Forwarded-For': '192.0.2.1',
  Forwarded: 'for=192.0.2.1',
  'X-Real-IP': '192.0.2.1',
  'True-Client-IP': '192.0.2.1',
}

export const sources: readonly Check[] = [
  {
    name: 'a key works only from its source addresses',
    emulated: true,
    run: (client) =>
      withKey(client, elsewhere, async ({ value }) => {
        const { message } = assertStatus(await client.call(`${keys}/nothing`, { token: value }), 403, 'Forbidden')
        const [, address = ''] = /^access key "smoke-[^"]+" may not be used from (\S+)$/.exec(message) ?? []
        assert.notEqual(isIP(address), 0, `no address: ${message}`)
        await withKey(client, keyObject({ user: 'smoke', sourceCIDRs: [address] }), async ({ name, value }) => {
          assert.equal((await client.call(`${keys}/${name}`, { token: value })).status, 200)
        })
      }),
  },
  {
    name: 'no header changes the source address',
    // The emulator believes X-Forwarded-For.
    emulated: false,
    run: (client) =>
      withKey(client, keyObject({ ...elsewhere.spec }), async ({ name, value }) => {
        for (const [header, text] of Object.entries(forwarded)) {
          const answer = await client.call(`${keys}/${name}`, { token: value, headers: { [header]: text } })
          assertStatus(answer, 403, 'Forbidden')
        }
      }),
  },
]
