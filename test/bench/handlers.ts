/**
 * Measures the CPU of the authorizer and the function of a request, as they are deployed. The table is in another process.
 * With the bundles of a base it alternates between both, and compares them.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { sampleEvent } from '../../events/sample.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { accessKey, createAdmin, createKey, unique } from './access.ts'
import type { Batch, Figures } from './invoker.ts'
import { median } from './measure.ts'
import { table } from './print.ts'
import { profiling } from './processes.ts'

const path = '/kubernetes/management/apis/management.platform/v1/ownedaccesskeys'

/** How often each round invokes the functions of a request. */
const counts = { get: 100, list: 10, create: 40, patch: 40 } as const
type Name = keyof typeof counts

/** The most objects of a list. */
const page = '100'

interface Subject {
  /** Measures a request that is sent `count` times. */
  measure(name: Name, count?: number): Promise<Figures>
  stop(): Promise<void>
}

/** Returns the events of a request for the key `name`, with a token. */
function batchOf(verb: Name, name: string, token: string, count: number): Batch {
  const [authorizer, event] = [sampleEvent('authorizer'), sampleEvent(`ownedaccesskeys/${verb}`)]
  const isObject = verb === 'get' || verb === 'patch'
  const routed = {
    resource: isObject ? `${path}/{name}` : path,
    path: isObject ? `${path}/${name}` : path,
    httpMethod: event.httpMethod,
    pathParameters: isObject ? { name } : null,
  }
  const authorization = { Authorization: `Bearer ${token}` }
  const withToken = (one: { headers: object; multiValueHeaders: object }) => ({
    headers: { ...one.headers, ...authorization },
    multiValueHeaders: { ...one.multiValueHeaders, Authorization: [authorization.Authorization] },
  })
  const isList = verb === 'list' && {
    queryStringParameters: { limit: page },
    multiValueQueryStringParameters: { limit: [page] },
  }
  const isPatch = verb === 'patch' && {
    body: JSON.stringify([{ op: 'add', path: '/metadata/labels/at', value: '%NAME%' }]),
  }
  const isCreate = verb === 'create' && { body: JSON.stringify(accessKey('%NAME%')) }
  const type = isPatch && { 'Content-Type': 'application/json-patch+json' }
  const full = { ...event, ...routed, ...isList, ...isPatch, ...isCreate, ...withToken(event) }
  return {
    name: `ownedaccesskeys/${verb}`,
    authorizer: { ...authorizer, ...routed, ...withToken(authorizer) },
    event: {
      ...full,
      headers: { ...full.headers, ...type },
      multiValueHeaders: { ...full.multiValueHeaders, ...(type && { 'Content-Type': [type['Content-Type']] }) },
    },
    count,
  }
}

/** Starts a process with bundles, for a key of its own. */
async function startSubject(deployment: TestDeployment, bundles: string, profile?: string): Promise<Subject> {
  const { environment, parts } = deployment
  const name = unique()
  const store = parts.storeOf(OwnedAccessKey)
  await createKey(store, name)
  for (let index = 0; index < Number(page); index++) await createKey(store, unique())
  const token = await createAdmin(store)
  const child = fork(join(import.meta.dirname, 'invoker.ts'), [bundles], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: profiling(profile),
  })
  return {
    async measure(verb, count = counts[verb]) {
      child.send(batchOf(verb, name, token, count))
      const [figures] = (await once(child, 'message')) as [Figures & { error?: string }]
      if (figures.error !== undefined) throw new Error(figures.error)
      return figures
    },
    async stop() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

interface HandlersOptions {
  rounds: number
  /** The folder of the bundles to compare with. */
  base?: string | undefined
  /** Where CPU profiles are written. */
  profile?: string | undefined
}

/** The lower bound of a ratio from which on this commit counts as slower than its base. */
export const tolerated = 1.1

/** Half the width of an interval of 95 %, in standard errors, for a dozen rounds. */
const width = 2.2

/** Returns the ratio of the pairs, and the bounds between which it is with 95 % probability. */
export function compare(pairs: readonly { ours: number; theirs: number }[]): {
  ratio: number
  low: number
  high: number
} {
  const logs = pairs.map(({ ours, theirs }) => Math.log(ours / theirs))
  const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length
  const variance = logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (logs.length - 1)
  const margin = width * Math.sqrt(variance / logs.length)
  return { ratio: Math.exp(mean), low: Math.exp(mean - margin), high: Math.exp(mean + margin) }
}

/** Returns the requests that became slower than tolerated. */
export async function benchHandlers({ rounds, base, profile }: HandlersOptions): Promise<string[]> {
  await using stack = new AsyncDisposableStack()
  const deployment = stack.adopt(await startDeployment('https://bench.invalid'), (one) => one.stop())
  const { bundles } = await ensurePackaged({ quiet: true })
  const folders = [bundles, ...(base === undefined ? [] : [base])]
  const subjects: Subject[] = []
  for (const folder of folders)
    subjects.push(stack.adopt(await startSubject(deployment, folder, profile), (one) => one.stop()))
  const names = Object.keys(counts) as Name[]
  // Until the engine has compiled what is measured.
  for (const subject of subjects) for (const name of names) await subject.measure(name, 4 * counts[name])
  const figures = new Map(names.map((name) => [name, subjects.map((): Figures[] => [])]))
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const order = [...subjects.keys()]
      if (round % 2 === 1) order.reverse()
      for (const index of order) figures.get(name)?.[index]?.push(await (subjects[index] as Subject).measure(name))
    }
  }
  const slower: string[] = []
  const rows = [...figures].map(([name, [ours = [], theirs = []]]) => {
    const of = (all: Figures[], member: keyof Figures) => median(all.map((one) => one[member]))
    const own = [of(ours, 'authorizer'), of(ours, 'handler'), of(ours, 'authorizer') + of(ours, 'handler')]
    if (theirs.length === 0) return [name, ...own]
    const sum = (one: Figures | undefined) => (one ? one.authorizer + one.handler : Number.NaN)
    const { ratio, low, high } = compare(ours.map((one, index) => ({ ours: sum(one), theirs: sum(theirs[index]) })))
    if (low > tolerated)
      slower.push(`${name} takes ${ratio.toFixed(2)} times the CPU of the base, at least ${low.toFixed(2)} times`)
    return [name, ...own, of(theirs, 'authorizer') + of(theirs, 'handler'), ratio, low, high]
  })
  const compared = base === undefined ? [] : ['of the base', 'ratio', 'from', 'to']
  table(
    `CPU ms of a request without its table, median of ${rounds}`,
    ['request', 'authorizer', 'function', 'together', ...compared],
    rows,
  )
  return slower
}
