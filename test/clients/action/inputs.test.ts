import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readInputs } from '../../../clients/action/src/inputs.ts'
import { commandFiles } from '../../../clients/action/src/runner/commandfiles.ts'
import { runnerLog } from '../../../clients/action/src/runner/log.ts'
import { issueLoopback, makeAuthority, validFor } from '../../../infra/local/host/certificates.ts'
import { testFolder } from '../../support/folder.ts'
import { readCommandFile, readLog } from './runner.ts'

const CREDENTIAL = 'shop-deploy@3b0c9f52-6f0e-4a57-9d7c-2f4f0a1b8c11'
const URL = 'https://keys.example.com/prod/kubernetes/management'

const folder = testFolder()
let certificate: string
let key: string
beforeAll(async () => {
  const authority = await makeAuthority('inputs', validFor(1, Date.now()))
  certificate = authority.certificate
  ;({ key } = await issueLoopback(authority, Date.now()))
})

const inputsOf = (inputs: Record<string, string>) =>
  readInputs(
    Object.fromEntries(
      Object.entries({ url: URL, credential: CREDENTIAL, ...inputs }).map(([name, value]) => [
        `INPUT_${name.toUpperCase()}`,
        value,
      ]),
    ),
  )

describe('inputs', () => {
  test('are read as the runner passes them', () =>
    expect(inputsOf({ url: ` ${URL}/\n`, 'virtual-cluster': 'shop/staging', ttl: '30m', renew: 'True' })).toEqual({
      url: URL,
      audience: URL,
      source: { credential: CREDENTIAL },
      target: { type: 'virtualCluster', project: 'shop', name: 'staging' },
      ttl: 1800,
      renew: true,
      execApi: 'v1',
      outputKey: false,
    }))

  test.each(['eu, us', 'eu,us', 'eu\nus\n', ' eu us '])('name several clusters (%j)', (cluster) =>
    expect(inputsOf({ cluster, renew: 'true' }).target).toEqual({ type: 'cluster', name: 'eu', others: ['us'] }),
  )

  test.each<[Record<string, string>, string]>([
    [{ url: '' }, 'url is missing'],
    [{ url: 'keys.example.com' }, 'url must be an https URL'],
    [{ url: 'http://keys.example.com' }, 'url must be an https URL'],
    [{ url: `${URL}?a=b` }, 'url must have no user, query or fragment'],
    [{ credential: '' }, 'give credential, the NAME@UID of a FederatedIdentityCredential, or key'],
    [{ credential: 'shop-deploy' }, 'credential must be NAME@UID of a FederatedIdentityCredential'],
    [{ credential: `${CREDENTIAL}\n::error::x` }, 'credential must be NAME@UID of a FederatedIdentityCredential'],
    [{ key: 'mpk_1' }, 'give either credential or key, not both'],
    [{ credential: '', key: 'mpk 1' }, 'key is not an access key'],
    [{ credential: '', key: 'mpk_1', scope: 'project:shop' }, 'scope narrows the key of an exchange'],
    [{ 'virtual-cluster': 'staging' }, 'virtual-cluster must be PROJECT/NAME'],
    [{ 'virtual-cluster': 'shop/../../x' }, 'virtual-cluster must be PROJECT/NAME'],
    [{ 'virtual-cluster': 'shop/staging?dryRun=All' }, 'virtual-cluster must be PROJECT/NAME'],
    [{ renew: 'true', 'exec-api': 'v1alpha1' }, 'exec-api must be one of v1, v1beta1'],
    [{ 'exec-api': 'v1beta1' }, 'exec-api is for kube configs with a plugin: it needs renew: true'],
    [{ 'virtual-cluster': 'a/b', cluster: 'c' }, 'give either virtual-cluster or cluster, not both'],
    [{ cluster: 'west', 'server-certificate-authority': 'ca.crt' }, 'server-certificate-authority belongs to server'],
    [{ cluster: '*', server: 'https://west' }, 'cluster must be the name of a connected cluster'],
    [{ cluster: 'eu, *' }, 'cluster must be the name of a connected cluster'],
    [{ cluster: ',' }, 'cluster must be the name of a connected cluster'],
    [{ cluster: 'eu us eu' }, 'cluster names a cluster twice'],
    [{ cluster: Array.from({ length: 21 }, (_, index) => `c${index}`).join() }, 'at most 20 clusters'],
    [{ cluster: 'eu, us', ttl: '30m' }, 'ttl is for one cluster'],
    [{ cluster: 'eu, us', 'output-key': 'true' }, 'output-key is for one cluster'],
    [{ cluster: 'eu, us', server: 'https://west' }, 'server is for one cluster'],
    [{ cluster: 'eu, us', credential: '', key: 'mpk_1' }, 'key is for one cluster'],
    [{ server: 'https://west' }, 'server and server-certificate-authority belong to cluster'],
    [{ ttl: '1.5h' }, 'ttl must be a duration'],
    [{ ttl: '0' }, 'ttl must be a duration'],
    [{ renew: 'yes' }, 'renew must be true or false'],
    [{ path: 'a\nb' }, 'path contains control characters'],
    [
      { 'certificate-authority': '/nowhere/ca.crt' },
      'certificate-authority is neither PEM nor a file that can be read',
    ],
    [{ 'certificate-authority': '-----BEGIN X-----' }, 'certificate-authority contains no PEM block'],
    [
      { 'certificate-authority': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
      'certificate-authority contains an invalid certificate',
    ],
  ])('of the form %j are refused', (inputs, message) => expect(() => inputsOf(inputs)).toThrow(message))

  test('take authorities as text or as a file, and keep certificates only', async () => {
    const path = join(folder, 'ca.crt')
    await writeFile(path, `subject=x\n${key}\n${certificate}`)
    const kept = `${certificate.trim()}\n`
    for (const value of [path, certificate, `${key}\n${certificate}`])
      expect(inputsOf({ 'certificate-authority': value }).certificateAuthority).toBe(kept)
    const cluster = { cluster: 'west', server: 'https://west:6443' }
    const authority = { certificateAuthority: kept }
    expect(inputsOf({ ...cluster, 'certificate-authority': path }).target).toMatchObject({ address: authority })
    expect(inputsOf({ cluster: 'west', 'certificate-authority': path }).target).toEqual({
      type: 'cluster',
      name: 'west',
    })
    const apart = inputsOf({ ...cluster, 'server-certificate-authority': path })
    expect([apart.certificateAuthority, apart.target]).toEqual([
      undefined,
      expect.objectContaining({ address: expect.objectContaining(authority) }),
    ])
  })
})

describe('command files', () => {
  // threat: jobs-2
  test.each(['', 'a', 'a\nb', 'x\nEVIL=1', '<<EOF', 'EOF\nPATH<<EOF\n/evil\nEOF', 'a\r\nb', 'ä%0A'])(
    'keep the value %j as it is, and nothing else',
    async (value) => {
      const [GITHUB_ENV, GITHUB_OUTPUT, GITHUB_STATE] = ['env', 'output', 'state'].map((name) => join(folder, name))
      const env = { GITHUB_ENV, GITHUB_OUTPUT, GITHUB_STATE } as Record<string, string>
      await Promise.all(Object.values(env).map((path) => writeFile(path, '')))
      const files = commandFiles(env)
      files.setVariable('A', value)
      files.setOutput('b', value)
      files.saveState('c', value)
      files.saveState('d', 'after')
      const read = await Promise.all(Object.values(env).map(readCommandFile))
      expect(read).toEqual([{ A: value }, { b: value }, { c: value, d: 'after' }])
    },
  )

  test('use another delimiter each time', async () => {
    const path = join(folder, 'delimiters')
    const files = commandFiles({ GITHUB_ENV: path, GITHUB_OUTPUT: path, GITHUB_STATE: path })
    for (let count = 0; count < 3; count++) files.setVariable('A', '')
    const lines = await readFile(path, 'utf8')
    expect(new Set(lines.match(/<<.*/g)).size).toBe(3)
  })

  test('must be there', () => expect(() => commandFiles({})).toThrow('GITHUB_ENV is not set'))
})

describe('the log', () => {
  const logged = (use: (log: ReturnType<typeof runnerLog>) => void): string => {
    let raw = ''
    use(
      runnerLog((text) => {
        raw += text
      }),
    )
    return raw
  }

  test('shows a text as it is, whatever the runner would do with it', () => {
    const text = '100% a\n::error::b %0A c'
    expect(readLog(logged((log) => log.error(text))).errors).toEqual([text])
    expect(readLog(logged((log) => log.warning(text))).warnings).toEqual([text])
  })

  test('masks each line of a secret', () => {
    const raw = logged((log) => {
      log.mask('first%\nsecond\n')
      log.info('it is first% or second')
    })
    expect(readLog(raw).shown).toBe('it is *** or ***\n')
  })

  test('never lets a line of information be a command', () =>
    expect(logged((log) => log.info('a\n::add-mask::b ##[add-mask]c'))).toBe('a ::add-mask::b ## [add-mask]c\n'))

  test('cuts a text of a hostile server', () =>
    expect(logged((log) => log.error('x'.repeat(1_000_000))).length).toBeLessThan(5000))
})
