/**
 * Starts a server with objects of several users, runs attacks and checks that they fail: no attack passes, none causes a
 * 5xx, and objects of other users do not change.
 */
import https from 'node:https'
import { afterAll, beforeAll, expect } from 'vitest'
import { basePath } from './deployment.ts'
import * as below from './objects.ts'
import { parsed } from './parsed.ts'
import type { TestServer } from './server.ts'
import { useServer } from './sharedserver.ts'

/** Paths below the stage, because some attacks target the base path. */
export const management = `${basePath}${below.management}`
export const keys = `${basePath}${below.keys}`
export const instances = (namespace: string): string => `${basePath}${below.instances(namespace)}`

/** Returns an access key; `more` overrides members of the object. */
export const key = (name: string, spec: object = {}, more: object = {}) => ({ ...below.accessKey(name, spec), ...more })

export interface Attack {
  method?: string
  /** The path below the stage, or a whole URL, sent without normalization. */
  path: string
  /** '' = none. */
  token: string
  headers?: Record<string, string | string[]>
  body?: unknown
}

export interface Reply {
  status: number
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  json: any
}

/** Values of access keys. alice has `alice` without a scope, `ci` for project a, `reader` to read that key and `keeper` for keys only. */
export interface Held {
  admin: string
  alice: string
  ci: string
  reader: string
  keeper: string
  /** An administrator's key that can only read this one key. */
  auditor: string
  /** A disabled key of an administrator. */
  dead: string
}

export interface Victims {
  readonly server: TestServer
  /** Set when the server has started. */
  held: Held
  send(attack: Attack): Promise<Reply>
  /** Creates an access key as the administrator and returns its value. */
  make(name: string, spec: object): Promise<string>
  /** Returns the user of an access key. */
  self(token: string): Promise<Reply['json']>
  /** Throws unless every attack is refused without a server error. */
  refused(attacks: readonly Attack[], codes?: readonly number[]): Promise<void>
  /** Throws when an object of another user has changed. */
  unharmed(): Promise<void>
}

const refusals = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422]

/** Reports whether this is the answer to an apply with wrong types. Like kube-apiserver, it has code 500 but is no failure. */
const isUntyped = ({ status, json }: Reply): boolean =>
  status === 500 && json?.message?.startsWith('failed to create typed patch object')

/** Reports whether the answer is not a server failure. */
export const isHealthy = (reply: Reply): boolean => reply.status < 500 || isUntyped(reply)

/** Provides a server for the tests of a file. */
export function useVictims(): Victims {
  const server = useServer()
  let agent: https.Agent
  let untouched: unknown
  const held: Held = { admin: '', alice: '', ci: '', reader: '', keeper: '', auditor: '', dead: '' }

  const send: Victims['send'] = (attack) => sendTo(server.root, agent, attack)
  const make: Victims['make'] = async (name, spec) => (await server.make(below.keys, key(name, spec))).spec.key

  /** Returns the objects of other users as an administrator reads them, without fields that change by themselves. */
  async function readOthers(): Promise<unknown> {
    const read = async (path: string) => (await send({ path, token: held.admin })).json.items
    const theirKeys = (await read(keys)).filter(({ status }: { status: { owner: string } }) => status.owner !== 'alice')
    return [...theirKeys, ...(await read(instances('p-b')))].map(({ status: _, ...object }) => object)
  }

  beforeAll(async () => {
    agent = new https.Agent({ ca: server.certificateAuthority, keepAlive: true })
    held.admin = server.adminKey
    await populate(server, make, held)
    untouched = await readOthers()
  })
  afterAll(() => agent?.destroy())

  return {
    server,
    held,
    send,
    make,
    self: async (token) => (await send({ method: 'POST', path: `${management}/selves`, token, body: {} })).json.status,
    async refused(attacks, codes = refusals) {
      const through: string[] = []
      await runInTurns(attacks, async (attack) => {
        const reply = await send(attack)
        if (codes.includes(reply.status) || isUntyped(reply)) return
        const { method = 'GET', path, headers = {}, body = '' } = attack
        through.push(
          `${reply.status} ${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body)}`.slice(0, 400),
        )
      })
      expect(through).toEqual([])
    },
    async unharmed() {
      expect(untouched).toHaveLength(8)
      expect(await readOthers()).toEqual(untouched)
    },
  }
}

async function populate(server: TestServer, make: Victims['make'], held: Held): Promise<void> {
  const scope = { clusters: [{ cluster: 'eu' }] }
  await make('victim', { user: 'bob', groups: ['ops', 'system:masters'], scope, ttl: 86_400 })
  await make('of-team', { team: 'red' })
  await make('of-subject', { subject: 'alice' })
  held.alice = await make('alice', { user: 'alice', groups: ['dev'] })
  held.ci = await make('ci', { user: 'alice', groups: ['dev'], scope: { projects: [{ project: 'a' }] } })
  const group = 'management.platform'
  const one = (name: string) => ({ group, resources: ['ownedaccesskeys'], resourceNames: [name] })
  held.reader = await make('reader', { user: 'alice', scope: { rules: [{ resources: [one('reader')] }] } })
  const all = { group, resources: ['ownedaccesskeys', 'ownedaccesskeys/status', 'directclusterendpointtokens'] }
  const wide = { rules: [{ resources: [all] }] }
  held.keeper = await make('keeper', { user: 'alice', groups: ['dev'], ttl: 3600, scope: wide })
  const narrow = { rules: [{ resources: [one('auditor')], verbs: ['get'] }] }
  held.auditor = await make('auditor', { user: 'root', groups: ['system:masters'], scope: narrow })
  held.dead = await make('dead', { user: 'root', groups: ['system:masters'], disabled: true })
  for (const [namespace, name, user] of [
    ['p-a', 'x', 'alice'],
    ['p-b', 'x', 'bob'],
    ['p-b', 'y', 'alice'],
  ] as const) {
    const spec = { owner: { user }, accessPoint: { ingress: { host: 'vc.example.com' } } }
    await server.make(below.instances(namespace), below.instance(name, spec))
  }
}

function sendTo(
  root: string,
  agent: https.Agent,
  { method = 'GET', path, token, headers = {}, body }: Attack,
): Promise<Reply> {
  const content = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const { hostname, port, pathname: stage } = new URL(root)
  const all = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(content !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
    ...headers,
  }
  const to = { hostname, port, path: path.startsWith('https:') ? path : stage + path }
  return new Promise((resolve, reject) => {
    const sent = https.request({ ...to, method, agent, headers: all }, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString()
      resolve({ status: response.statusCode ?? 0, text, json: parsed(text) })
    })
    sent.on('error', reject)
    sent.end(content)
  })
}

/** Runs the work a few at a time. */
export async function runInTurns<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all]
  const worker = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

/** Returns every way to write `spec` to the key: replace, merge patch, JSON patch and apply, also through /status. */
export function writes(
  name: string,
  current: { metadata: object; spec: Record<string, unknown> },
  spec: Record<string, unknown>,
): Omit<Attack, 'token'>[] {
  const whole = key(name, spec, { metadata: current.metadata })
  const removed = Object.keys(current.spec).filter((member) => !(member in spec))
  const merged = { ...spec, ...Object.fromEntries(removed.map((member) => [member, null])) }
  const operations = [
    ...Object.entries(spec).map(([member, value]) => ({ op: 'add', path: `/spec/${member}`, value })),
    ...removed.map((member) => ({ op: 'remove', path: `/spec/${member}` })),
  ]
  const patch = (type: string, body: unknown, query = ''): Omit<Attack, 'token'> => ({
    method: 'PATCH',
    path: `${keys}/${name}${query}`,
    headers: { 'content-type': `application/${type}` },
    body,
  })
  const object = [
    { method: 'PUT', path: `${keys}/${name}`, body: whole },
    patch('merge-patch+json', { spec: merged }),
    patch('json-patch+json', operations),
    patch('json-patch+json', [{ op: 'replace', path: '/spec', value: spec }]),
    patch('json-patch+json', [
      { op: 'add', path: '/metadata/annotations', value: {} },
      { op: 'copy', from: '/spec', path: '/metadata/annotations/x' },
      { op: 'replace', path: '', value: whole },
    ]),
    patch('apply-patch+yaml', key(name, spec), '?fieldManager=attacker&force=true'),
    patch('apply-patch+yaml', key(name, spec), '?fieldManager=admin&force=true'),
    patch('apply-patch+yaml', key(name, {}), '?fieldManager=attacker&force=true'),
  ]
  return [
    ...object,
    ...object.slice(0, 3).map((attack) => ({ ...attack, path: attack.path.replace(`/${name}`, `/${name}/status`) })),
  ]
}
