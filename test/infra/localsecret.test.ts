/** Tests the command that stores the kube config of a cluster for `npm start`, and that the page which names it works as written. */
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CLUSTER_SECRETS_FILE } from '../../infra/local/aws/clustersecrets.ts'
import { type LocalServices, provideServices } from '../../infra/local/aws/services.ts'
import { issueClient, makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { checkKubeConfig, nameIn, storeLocally } from '../../infra/localsecret.ts'
import { parseCredentials } from '../../lib/clusters/cluster/credentials.ts'
import { startAccountCluster } from '../support/accountcluster.ts'
import { readPage } from '../support/commands.ts'
import { runProgram } from '../support/programs.ts'

const root = join(import.meta.dirname, '../..')
const prod = 'keyplane/local/clusters/prod'
const kubeConfig = (token: string) =>
  `{"apiVersion":"v1","kind":"Config","current-context":"a","clusters":[{"name":"a","cluster":{"server":"https://127.0.0.1:6443"}}],
   "users":[{"name":"a","user":{"token":"${token}"}}],"contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}]}`

let folder: string
let running: AsyncDisposableStack
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-secret-'))
  running = new AsyncDisposableStack()
})
afterEach(async () => {
  await running.disposeAsync()
  await chmod(folder, 0o700)
  await rm(folder, { recursive: true, force: true })
})

/** Provides the services of `npm start` with this folder. */
const start = (): Promise<LocalServices> =>
  provideServices(
    {
      stateFile: (name) => ({ path: join(folder, name) }),
      region: 'eu-central-1',
      account: '000000000000',
      published: () => undefined,
    },
    running,
  )

describe('a stored kube config', () => {
  test('is read by a server that runs, and by one that starts later', async () => {
    const { secrets } = await start()
    expect(await secrets.read(prod)).toBeUndefined()
    await storeLocally(folder, prod, 'first')
    expect(await secrets.read(prod)).toBe('first')
    await storeLocally(folder, prod, 'second')
    expect(await secrets.read(prod)).toBe('second')
    expect(await (await start()).secrets.read(prod)).toBe('second')
  })

  test('takes the place of one that the server has made, and of nothing else', async () => {
    const { secrets } = await start()
    const demo = 'keyplane/local/virtualclusters/p-demo/demo'
    const pepper = 'keyplane/local/pepper'
    for (const name of [demo, pepper]) {
      await secrets.setText(name, 'of the server')
      await storeLocally(folder, name, 'given')
    }
    expect([await secrets.read(demo), await secrets.read(pepper)]).toEqual(['given', 'of the server'])
  })

  test('is only for the owner of the folder, and not readable as it is', async () => {
    const path = await storeLocally(join(folder, 'new'), prod, kubeConfig('hunter2'))
    expect([(await stat(path)).mode & 0o777, (await stat(join(folder, 'new'))).mode & 0o777]).toEqual([0o600, 0o700])
    expect(await readFile(path, 'utf8')).not.toContain('hunter2')
  })

  test('is not lost if several are stored at the same time', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `keyplane/local/clusters/c${index}`)
    await Promise.all(names.map((name) => storeLocally(folder, name, name)))
    const { secrets } = await start()
    expect(await Promise.all(names.map((name) => secrets.read(name)))).toEqual(names)
  })

  test('is refused by a damaged file, which stays as it is', async () => {
    const path = join(folder, CLUSTER_SECRETS_FILE)
    await writeFile(path, '{}')
    await expect(storeLocally(folder, prod, 'text')).rejects.toThrow(/clustersecrets\.json is damaged/)
    expect(await readFile(path, 'utf8')).toBe('{}')
  })
})

describe('the name', () => {
  test.each([
    ['clusters/prod', prod],
    [prod, prod],
    ['clusters/teams/prod', 'keyplane/local/clusters/teams/prod'],
    ['virtualclusters/p-shop/dev', 'keyplane/local/virtualclusters/p-shop/dev'],
  ])('%s is that of the secret', (given, name) => expect(nameIn([given])).toBe(name))

  test.each([
    [[], 'one name is required'],
    [['clusters/a', 'b'], 'one name is required'],
    [['prod'], 'must begin with clusters/ or virtualclusters/'],
    [['pepper'], 'must begin with'],
    [['keyplane/prod/clusters/prod'], 'must begin with'],
    [['clusters/'], 'the name must be steps'],
    [['clusters/../pepper'], 'the name must be steps'],
    [['clusters/a:b'], 'the name must be steps'],
    [[`clusters/${'a'.repeat(500)}`], 'the name must be no more than'],
  ])('%j is refused', (words, why) => expect(() => nameIn(words)).toThrow(why))
})

describe('the kube config', () => {
  test.each([
    ['', 'there is no kube config on standard input'],
    [' \n', 'there is no kube config on standard input'],
    ['hunter2', 'has unusable credentials'],
    ['{"token":"hunter2"}', 'has unusable credentials'],
    [kubeConfig('hunter2').replace('https:', 'http:'), 'has unusable credentials'],
    [kubeConfig('hunter2').replace('"current-context":"a"', '"current-context":"b"'), 'has unusable credentials'],
    [kubeConfig('hunter2'.repeat(10_000)), 'has at most 65536 bytes'],
  ])('number %# is refused with a sentence that does not quote it', async (text, why) => {
    const error = await checkKubeConfig(prod, text).then(
      () => expect.unreachable(),
      ({ message }: Error) => message,
    )
    expect(error).toContain(why)
    expect(error).not.toContain('hunter2')
  })

  test('may have the fields of vCluster, without an address, for a virtual cluster only', async () => {
    const authority = await makeAuthority('a cluster', validFor(1, Date.now()))
    const client = await issueClient(authority, { commonName: 'keyplane' }, validFor(1, Date.now()))
    const fields = JSON.stringify({ 'client-certificate': client.certificate, 'client-key': client.key })
    await checkKubeConfig('keyplane/local/virtualclusters/p-shop/dev', fields)
    await expect(checkKubeConfig(prod, fields)).rejects.toThrow('server is missing')
  })
})

/** Runs commands in a shell as the page says, with programs that answer for the cluster and for AWS. */
async function shell(commands: string, programs: Readonly<Record<string, string>> = {}) {
  const bin = await mkdtemp(join(tmpdir(), 'keyplane-bin-'))
  for (const [name, script] of Object.entries(programs))
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const npm = `npm() { (cd "$KEYPLANE_ROOT" && command npm "$@"); }`
  const path = `${bin}${delimiter}${process.env.PATH}`
  const env = { PATH: path, HOME: folder, DATA_DIR: folder, STAGE: 'prod', KEYPLANE_ROOT: root }
  const ran = await runProgram('bash', ['-euo', 'pipefail', '-c', `${npm}\n${commands}`], { cwd: folder, env })
  await rm(bin, { recursive: true })
  return ran
}

test('the commands of the page make a kube config of the account of keyplane, and store it', async () => {
  const { commandsOf } = await readPage('docs/clusters.md')
  const [make, deployed, local] = [0, 1, 2].map((index) => commandsOf('Register the cluster', index))
  const { url, credentials } = await startAccountCluster()
  const { token, certificateAuthority } = credentials
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const kubectl = `case "$*" in
    *cluster.server*) printf %s '${url}' ;;
    *certificate-authority-data*) printf %s '${base64(certificateAuthority)}' ;;
    'get secret keyplane -n keyplane-system -o jsonpath={.data.token}') printf %s '${base64(token)}' ;;
    *) exit 1 ;;
  esac`
  const aws = `for last; do :; done; echo "$1 $2 $4" && cat "\${last#file://}"`

  const inDeployment = await shell(`${make}\n${deployed}`, { kubectl, aws })
  expect([inDeployment.code, inDeployment.stderr]).toEqual([0, ''])
  const [said = '', ...stored] = inDeployment.stdout.split('\n')
  expect(said).toBe('secretsmanager create-secret keyplane/prod/clusters/prod')

  const { secrets } = await start()
  const ran = await shell(`${make}\n[ "$(find prod.kubeconfig -perm 600)" ]\n${local}`, { kubectl })
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  expect(ran.stdout).toBe(`${prod} is stored in ${join(folder, CLUSTER_SECRETS_FILE)}, where npm start reads it\n`)
  const text = (await secrets.read(prod)) ?? ''
  expect(stored.join('\n')).toBe(text)
  expect(await parseCredentials(text, { cluster: 'prod' })).toMatchObject({ server: url, token })
  expect((await readdir(folder)).filter((name) => name.endsWith('.kubeconfig'))).toEqual([])
})

test('the command says what is wrong with its input', async () => {
  const script = join(root, 'infra/localsecret.ts')
  const { code, stdout, stderr } = await runProgram(process.execPath, [script, 'clusters/prod'], {
    cwd: folder,
    env: process.env,
  })
  expect([code, stdout, stderr]).toEqual([1, '', 'there is no kube config on standard input\n'])
})
