/** The deployment that the tests of this folder share: its keys, its tokens, and a shell for the commands of the pages. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Answer, Client } from '../smoke/client.ts'
import { readPage } from '../support/commands.ts'
import { type CommandLine, startCommandLine } from './commandline.ts'
import { type Deployed, startDeployed } from './deployed.ts'

export const stage = 'e2e'
export const keys = '/apis/management.platform/v1/ownedaccesskeys'

export let at: Deployed
export let adminKey: string
export let client: Client
/** Texts that no command of the project may print, and no function may log. */
export const confidential: string[] = []

let folder: string
let commandLine: CommandLine | undefined

/** Deploys before the tests of the file that calls this. */
export function useDeployment(...settings: readonly string[]): void {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keyplane-operations-'))
    // Installs the command line while the stage is deployed.
    const [started, deployed] = await Promise.allSettled([startCommandLine(folder), startDeployed(stage, ...settings)])
    if (started.status === 'fulfilled') commandLine = started.value
    if (deployed.status === 'fulfilled') at = deployed.value
    for (const one of [started, deployed]) if (one.status === 'rejected') throw one.reason
    ;({ adminKey, client } = at)
    confidential.push(adminKey)
    await writeFile(file('ca.crt'), at.certificateAuthority)
  })
  afterAll(async () => {
    await commandLine?.stop()
    await at?.stop()
    await rm(folder, { recursive: true, force: true })
  })
}

export const typedObject = (kind: string, metadata: object, spec: object, group = 'management.platform/v1') => ({
  apiVersion: group,
  kind,
  metadata,
  spec,
})

export async function post(path: string, body: object, token = adminKey): Promise<Answer> {
  const answer = await client.call(path, { method: 'POST', body, token })
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  return answer
}

export const status = async (path: string, token: string, method = 'GET') =>
  (await client.call(path, { method, token })).status

export async function makeKey(name: string, spec = {}, token?: string, query = ''): Promise<string> {
  const { json } = await post(keys + query, typedObject('OwnedAccessKey', { name }, spec), token)
  confidential.push(json.spec.key)
  return json.spec.key
}

export async function clusterToken(): Promise<string> {
  const spec = { ttl: 600, scope: { clusters: [{ cluster: 'west' }] } }
  const path = '/apis/management.platform/v1/directclusterendpointtokens'
  return (await post(path, typedObject('DirectClusterEndpointToken', {}, spec))).json.status.token
}

/** Verifies a token for `audience` below its issuer with the published keys of the deployment. */
export async function claimsOf(token: string, audience: string, issuer = at.said.url ?? '') {
  confidential.push(token)
  const { json } = await client.call('/openid/v1/jwks', { token: '' })
  const verified = await jwtVerify(token, createLocalJWKSet(json), { issuer, audience: issuer + audience })
  return verified.payload
}

const { blocks, commandsOf } = await readPage('docs/deploying.md', 'docs/monitoring.md', 'docs/operating.md')

/** The code blocks that tests run. */
const run = new Set<string>()

/** Returns a code block of the pages about operating a deployment. Tests run all of them. */
export function page(heading: string, index: number, given: Record<string, string> = {}): string {
  run.add(`${heading} ${index}`)
  return commandsOf(heading, index, given)
}

/** Returns the code blocks that `page` has not returned. */
export const untested = (): string[] =>
  [...blocks].flatMap(([heading, { length }]) =>
    Array.from({ length }, (_, index) => `${heading} ${index}`).filter((one) => !run.has(one)),
  )

/** Path of a file of the tests. */
export const file = (name: string) => join(folder, name)

const begin = page('Preparing the shell', 0, { 'STAGE=prod': `STAGE=${stage}` })

/** Runs commands in one shell after the first ones of the page, and stops at the first failure. */
export const shell = (...commands: string[]): Promise<string> =>
  at.execute('bash', ['-euo', 'pipefail', '-c', [commandLine?.definition, begin, ...commands].join('\n')], {
    PATH: [process.env.KUBEBUILDER_ASSETS, process.env.PATH].filter(Boolean).join(delimiter),
    KUBECONFIG: file('kubeconfig'),
    // kubectl, and the smoke checks.
    SSL_CERT_FILE: file('ca.crt'),
    NODE_EXTRA_CA_CERTS: file('ca.crt'),
  })
