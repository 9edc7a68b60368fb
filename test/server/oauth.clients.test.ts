/** Tests exchanges by clients that need no program of ours: curl in a shell, and curl as the credential plugin of kubectl. */

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claimsOf, type Federation, provider, providers, startFederation } from '../support/federation.ts'
import { testFolder } from '../support/folder.ts'
import { createKubectl, describeKubectl, type Kubectl, kubeConfig } from '../support/kubectl.ts'
import { management } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let federation: Federation
const folder = testFolder()
/** The file of the token of a pod, which the kubelet writes without a line break. */
let tokenFile: string
let authority: string
let operator: string
const issuer = 'https://kubernetes.default.svc.cluster.local'

beforeAll(async () => {
  // The collector must not remove the key of a deleted trust before its next request says why it is refused.
  server = await startServer({}, { unscheduled: true })
  federation = await startFederation(server)
  tokenFile = join(folder, 'token')
  authority = join(folder, 'ca.pem')
  await writeFile(authority, server.certificateAuthority)
  const jwks = federation.issuer.jwks()
  await server.make(providers, provider('west', { issuer, type: 'Kubernetes', jwks }))
  const pod = await claimsOf('kubernetes.pod')
  operator = await federation.trust('shop-operator', {
    identityProvider: 'west',
    claims: [{ claim: 'sub', values: [String(pod.sub)] }],
    ttl: 3600,
  })
  await writeFile(tokenFile, federation.issuer.sign({ ...pod, iss: issuer, aud: [server.base] }))
})
afterAll(async () => {
  await federation?.close()
  await server?.stop()
})

const parameters = (client: string) => [
  '-d',
  'grant_type=urn:ietf:params:oauth:grant-type:token-exchange',
  '-d',
  'subject_token_type=urn:ietf:params:oauth:token-type:jwt',
  '-d',
  `client_id=${client}`,
  '--data-urlencode',
  `subject_token@${tokenFile}`,
]
/** The arguments of curl. A refusal goes to standard error, which kubectl and CI systems show. */
const curlArguments = (client: string, accept: string) => [
  '-sS',
  '--fail',
  '--cacert',
  authority,
  '-w',
  '%{onerror}%{stderr}%header{warning}\\n',
  '-H',
  `Accept: ${accept}`,
  ...parameters(client),
  `${server.base}/oauth2/token`,
]
const execCredential = 'application/json;as=ExecCredential;v=v1;g=client.authentication.k8s.io'

// threat: rotation-8
test('curl gets exactly a key as text, and sends the line break that a file ends with', async () => {
  const text = await promisify(execFile)('curl', curlArguments(operator, 'text/plain'))
  expect([text.stdout, text.stderr]).toEqual([expect.stringMatching(/^mpk_\w{49}$/), ''])
  const held = await server.post(`${management}/selves`, {}, text.stdout.trim())
  expect(held.status).toBe(201)
})

test('curl fails with the reason when the exchange is refused', async () => {
  const wrong = operator.replace('shop-operator', 'nobody')
  const failed = await promisify(execFile)('curl', curlArguments(wrong, 'text/plain')).catch((error) => error)
  expect([failed.code, failed.stdout]).toEqual([22, ''])
  expect(failed.stderr).toContain('299 - "the subject token is not accepted for this client_id"')
})

describeKubectl('kubectl', () => {
  const made: Kubectl[] = []
  afterAll(async () => {
    for (const one of made) await one.stop()
  })
  const kubectlWith = async (user: object): Promise<Kubectl> => {
    const config = kubeConfig(server.base, server.certificateAuthority, 'unused')
    const kubectl = await createKubectl({ ...config, users: [{ name: 'test', user }] })
    made.push(kubectl)
    return kubectl
  }
  const withPlugin = (client: string) =>
    kubectlWith({
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        interactiveMode: 'Never',
        command: 'curl',
        args: curlArguments(client, execCredential),
      },
    })
  const whoami = ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']

  test('exchanges the token of its pod by curl alone', async () => {
    const kubectl = await withPlugin(operator)
    expect(await kubectl.run(...whoami)).toEqual({ code: 0, stdout: 'team:shop', stderr: '' })
  })
})

// The last test: it leaves nothing of the burst.
