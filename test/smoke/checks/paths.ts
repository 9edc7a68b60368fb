/** Checks how API Gateway passes on paths and queries, and that addresses in answers work below the stage. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type Check, keyObject, keys, withKey } from './check.ts'

const openApi = '/openapi/v3'

export const paths: readonly Check[] = [
  {
    name: 'the addresses of the OpenAPI documents work as client-go uses them',
    emulated: false,
    async run(client) {
      const { status, json, text } = await client.call(openApi)
      assert.equal(status, 200, text)
      const addresses = Object.values<{ serverRelativeURL: string }>(json.paths).map((one) => one.serverRelativeURL)
      assert.ok(addresses.length > 0)
      for (const address of addresses) {
        // Clients since 1.27 put the path of the server before such an address, and take any other from the root of the host.
        assert.ok(address.startsWith(`${openApi}/`), address)
        assert.equal((await client.call(address)).status, 200, address)
      }
    },
  },
  {
    name: 'the redirect to a current OpenAPI document stays below the stage',
    emulated: false,
    async run(client) {
      const path = `${openApi}/apis/management.platform/v1`
      const answer = await client.call(`${path}?hash=OLD`)
      assert.equal(answer.status, 301, answer.text)
      const { location = '' } = answer.headers
      const target = new URL(location, `https://host${path}`)
      assert.equal(target.host, 'host', location)
      assert.equal((await client.call(target.pathname + target.search)).status, 200, location)
    },
  },
  {
    name: 'the address of the console gets a slash, and its page and script arrive as they were built',
    emulated: false,
    async run(client) {
      const bare = await client.call('/console', { below: 'stage', token: '' })
      assert.deepEqual([bare.status, bare.headers.location], [308, 'console/'], bare.text)
      const page = await client.call('/console/', { below: 'stage', token: '', accept: 'text/html' })
      assert.equal(page.status, 200, page.text)
      assert.match(page.headers['content-security-policy'] ?? '', /^default-src 'none'; script-src 'self'; /)
      const [, script = '', hash] = /src="(console-\w+\.js)" integrity="sha384-([^"]+)"/.exec(page.text) ?? []
      for (const acceptEncoding of ['gzip', 'identity']) {
        const { status, text } = await client.call(`/console/${script}`, { below: 'stage', token: '', acceptEncoding })
        assert.equal(status, 200, text)
        const found = createHash('sha384').update(text).digest('base64')
        assert.equal(found, hash, `damaged, ${acceptEncoding}`)
      }
      const head = await client.call('/console/', { method: 'HEAD', below: 'stage', token: '' })
      assert.deepEqual([head.status, head.text], [200, ''])
    },
  },
  {
    name: 'a path may end with a slash',
    emulated: true,
    run: (client) =>
      withKey(client, keyObject({ user: 'smoke' }), async ({ name }) => {
        for (const path of ['/apis/', '/apis/management.platform/v1/', `${keys}/${name}/`]) {
          const { status, text } = await client.call(path)
          assert.equal(status, 200, `${path} is ${status}: ${text.slice(0, 300)}`)
        }
      }),
  },
  {
    name: 'an encoded slash in a path reaches no other object',
    emulated: false,
    run: (client) =>
      withKey(client, keyObject({ user: 'smoke' }), async ({ name }) => {
        for (const path of [`${keys}/nothing%2F..%2F${name}`, `${keys}%2F${name}`, `${keys}/nothing/%2E%2E/${name}`]) {
          const { status, text } = await client.call(path)
          assert.ok(status >= 400 && status < 500, `${path} is ${status}: ${text.slice(0, 300)}`)
        }
      }),
  },
  {
    name: 'a query arrives decoded, a plus as a space',
    emulated: false,
    run: (client) =>
      withKey(client, keyObject({ user: 'smoke' }, { labels: { smoke: 'yes' } }), async ({ name }) => {
        const query = `fieldSelector=metadata.name%3D${name}&labelSelector=smoke+in+%28yes%2Cno%29`
        const { status, json, text } = await client.call(`${keys}?${query}`)
        assert.equal(status, 200, text)
        assert.deepEqual(
          json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
          [name],
        )
      }),
  },
  {
    name: 'the root of the stage serves the API too',
    emulated: true,
    async run(client) {
      assert.equal((await client.call('/version', { below: 'stage', token: '' })).status, 200)
      for (const path of ['/apis', '/apis/management.platform/v1']) {
        const [root, base] = await Promise.all([client.call(path, { below: 'stage' }), client.call(path)])
        assert.deepEqual([path, root.status, root.text], [path, 200, base.text])
      }
    },
  },
  {
    name: 'an unknown stage serves nothing',
    emulated: true,
    async run(client) {
      // Behind a custom domain without a mapping there are no stages in paths, so it is an unknown path.
      const path = `/no-stage${client.stagePath}/kubernetes/management/version`
      const { status, text } = await client.call(path, { below: 'host' })
      assert.ok([403, 404].includes(status), `it is ${status}: ${text.slice(0, 300)}`)
    },
  },
]
