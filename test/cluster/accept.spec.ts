/**
 * Compares how clauses of Accept compete. A kube-apiserver chooses among clauses of which some ask for a Table of a custom
 * resource. This API must choose the same clause when those ask for an ExecCredential.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { freePort } from '../../infra/local/host/freeport.ts'
import { type ControlPlane, startControlPlane } from '../../infra/local/kubeapiserver/controlplane.ts'
import { negotiate } from '../../lib/engine/endpoints/negotiation/accept.ts'
import { StatusError } from '../../lib/engine/meta/errors/status.ts'
import { createRandom } from '../differential/random.ts'
import { patience } from '../support/patience.ts'

const SEED = 1
const COUNT = 500
const table = 'as=Table;g=meta.k8s.io;v=v1'
const execCredential = 'as=ExecCredential;g=client.authentication.k8s.io;v=v1'
const types = ['application/json', 'application/yaml', 'application/*', '*/*', '*', 'text/*', 'text/html']
const qualities = ['', ';q=0.1', ';q=0.5', ';q=1', ';q=0', ';q=x', ';q=']
const others = [
  '',
  '',
  ';pretty=1',
  ';sv=v1',
  ';sv=v2',
  ';stream=watch',
  ';stream=x',
  ';charset=utf-8',
  ';as=',
  ';v=v2',
]

let folder: string
let plane: ControlPlane
let agent: https.Agent
const foos = () => `${plane.url}/apis/x.test/v1/foos`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-accept-'))
  const authority = await makeAuthority('cluster', validFor(1, Date.now()))
  plane = await startControlPlane({
    assets: process.env.KUBEBUILDER_ASSETS ?? '',
    folder,
    port: await freePort(),
    authority,
    users: [],
    flags: ['--authorization-mode=RBAC'],
    signs: false,
    now: Date.now,
  })
  agent = new https.Agent({ ca: authority.certificate, keepAlive: true })
  const schema = { openAPIV3Schema: { type: 'object' } }
  await plane.admin.send('POST', `${plane.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.x.test' },
    spec: {
      group: 'x.test',
      scope: 'Cluster',
      names: { kind: 'Foo', plural: 'foos' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  const foo = { apiVersion: 'x.test/v1', kind: 'Foo', metadata: { name: 'one' } }
  await vi.waitFor(async () => expect((await plane.admin.send('POST', foos(), foo)).status).toBe(201), patience)
})
afterAll(async () => {
  agent?.destroy()
  await plane?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Returns the form in which the kube-apiserver answers. */
const chosenThere = (accept: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { accept, authorization: `Bearer ${plane.adminToken}` }
    const sent = https.get(`${foos()}/one`, { agent, headers }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      if (response.statusCode === 406) return resolve('none')
      const [type = ''] = (response.headers['content-type'] ?? '').split(';')
      const isIndented = type === 'application/json' && text.startsWith('{\n')
      resolve(`${type}${/"?kind"?: ?"?Table/.test(text) ? ' transformed' : ''}${isIndented ? ' indented' : ''}`)
    })
    sent.on('error', reject)
  })

/** Returns the form that this API chooses. */
function chosenHere(accept: string): string {
  try {
    const { mediaType, execCredential, pretty } = negotiate(
      { headers: { accept }, query: new Map() },
      { hasCredential: true },
    )
    const isIndented = pretty && mediaType === 'application/json'
    return `${mediaType}${execCredential ? ' transformed' : ''}${isIndented ? ' indented' : ''}`
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 406) return 'none'
    throw error
  }
}

test('an ExecCredential is chosen exactly where a kube-apiserver chooses a Table', async () => {
  const random = createRandom(SEED)
  const clause = () => [random.pick(types), random.chance(0.5) ? ';@' : '', random.pick(qualities), random.pick(others)]
  const seen = new Map<string, number>()
  for (let count = 0; count < COUNT; count++) {
    const clauses = Array.from({ length: 1 + random.below(4) }, () => clause().join('')).join(random.pick([',', ', ']))
    const there = await chosenThere(clauses.replaceAll('@', table))
    expect([clauses, chosenHere(clauses.replaceAll('@', execCredential))]).toEqual([clauses, there])
    seen.set(there, (seen.get(there) ?? 0) + 1)
  }
  expect([...seen.keys()].sort()).toEqual([
    'application/json',
    'application/json indented',
    'application/json transformed',
    'application/json transformed indented',
    'application/yaml',
    'application/yaml transformed',
    'none',
  ])
})
