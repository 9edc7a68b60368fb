/** What the command line takes from the kube config of a server, which may be hostile. */
import { describe, expect, test } from 'vitest'
import { clusterIn, userIn } from '../../../clients/cli/src/api/servertext.ts'

const config = (cluster: object, user: object = {}): string =>
  JSON.stringify({ clusters: [{ name: 'a', cluster }], users: [{ name: 'a', user }], 'current-context': 'a' })

describe('of the kube config of a server', () => {
  // threat: plugin-8
  test('only what says how clients reach the cluster is taken', async () => {
    const network = { 'proxy-url': 'http://b', 'tls-server-name': 'c' }
    const cluster = { server: 'https://a.example.com', 'certificate-authority-data': 'YQ==', ...network }
    const more = { 'insecure-skip-tls-verify': true, 'certificate-authority': '/etc/passwd' }
    expect(await clusterIn(config({ ...cluster, ...more }))).toEqual(cluster)
  })

  // threat: plugin-8
  test('only the credential of the user is taken, and never a plugin or a file', async () => {
    const exec = { command: 'sh', args: ['-c', 'true'] }
    expect(await userIn(config({}, { token: 'a', exec }))).toEqual({ token: 'a' })
    for (const user of [{ exec }, { tokenFile: '/etc/passwd' }, { 'client-certificate': 'a', 'client-key': 'b' }])
      await expect(userIn(config({}, user))).rejects.toThrow('the user has no credential')
  })

  test.each([
    ['an address without HTTPS', config({ server: 'http://a.example.com' }), 'is not an HTTPS URL'],
    ['an address that is no text', config({ server: ['https://a'] }), 'is not an HTTPS URL'],
    [
      'an authority that is not base64',
      config({ server: 'https://a', 'certificate-authority-data': 'a\nb' }),
      'is not base64',
    ],
    ['a proxy with a user', config({ server: 'https://a', 'proxy-url': 'http://b@c' }), 'URL without a user'],
    ['a TLS name that is none', config({ server: 'https://a', 'tls-server-name': 'b:1' }), 'is not a DNS name'],
    ['several clusters', JSON.stringify({ clusters: [{}, {}] }), 'one entry in clusters'],
    ['a text that is no YAML', 'a: [', 'it is not YAML'],
    ['a list', '[]', 'it is not an object'],
  ])('%s is refused', (_, text, message) => expect(clusterIn(text)).rejects.toThrow(message))
})
