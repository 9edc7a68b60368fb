/**
 * Measures the CPU time of `npm start` under a load of many connections, and of a kube-apiserver with etcd when KUBEBUILDER_ASSETS
 * names one. Each round creates objects and deletes them, on the same server, so the lists of a round follow the deletions of those before.
 */
import { startOracle } from '../differential/oracle.ts'
import { startedServer } from '../support/startedserver.ts'
import { accessKey, unique } from './access.ts'
import { type Connections, openConnections, type Served } from './client.ts'
import { runConcurrently, timeRun } from './measure.ts'
import { table } from './print.ts'
import { cpuDuring, profiling } from './processes.ts'

const path = '/apis/management.platform/v1/ownedaccesskeys'
/** A list returns the objects of one group. */
const groups = 5

interface Operation {
  /** The share of the objects of a round for which it runs. */
  share: number
  run(to: Connections, name: string, index: number): Promise<unknown>
}

const at = (name: string): string => `${path}/${name}`

const operations: Readonly<Record<string, Operation>> = {
  create: {
    share: 1,
    run(to, name, index) {
      const { metadata, ...others } = accessKey(name)
      const labels = { ...metadata.labels, group: `g${index % groups}` }
      return to.send(201, { method: 'POST', path, body: { ...others, metadata: { ...metadata, labels } } })
    },
  },
  get: { share: 1, run: (to, name) => to.send(200, { method: 'GET', path: at(name) }) },
  patch: {
    share: 1,
    run: (to, name, index) =>
      to.send(200, {
        method: 'PATCH',
        path: at(name),
        type: 'application/merge-patch+json',
        body: { spec: { description: `patched ${index}` } },
      }),
  },
  apply: {
    share: 1,
    run(to, name, index) {
      const { apiVersion, kind } = accessKey('')
      const body = { apiVersion, kind, spec: { displayName: `applied ${index}` } }
      const type = 'application/apply-patch+yaml'
      return to.send(200, { method: 'PATCH', path: `${at(name)}?fieldManager=bench&force=true`, type, body })
    },
  },
  'list by a label': {
    share: 0.04,
    run: (to, _, index) => to.send(200, { method: 'GET', path: `${path}?labelSelector=group%3Dg${index % groups}` }),
  },
  delete: { share: 1, run: (to, name) => to.send(200, { method: 'DELETE', path: at(name) }) },
}

/** The values of `only`. Creates and deletes always run. */
export const loadOperations: readonly string[] = Object.keys(operations)

interface Contender extends Served {
  name: string
  pids: readonly number[]
}

export interface LoadOptions {
  connections: number
  /** Objects of a round. */
  objects: number
  rounds: number
  only?: string | undefined
  /** Folder for CPU profiles of the local server. */
  profile?: string | undefined
}

export async function benchLoad({ connections, objects, rounds, only, profile }: LoadOptions): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const started = await startedServer({}, undefined, ['--max-semi-space-size=8', ...profiling(profile)])
  stack.defer(() => started.stop())
  const { url: base, certificateAuthority, adminKey: token, pid } = started
  const contenders: Contender[] = [{ name: 'keyplane', base, certificateAuthority, token, pids: [pid] }]
  const assets = process.env.KUBEBUILDER_ASSETS
  if (assets) {
    const oracle = await startOracle(assets, { durable: true })
    stack.defer(() => oracle.stop())
    contenders.push({ name: 'kube-apiserver', ...oracle, token: oracle.tokens[''] ?? '' })
  }
  const clients = contenders.map((one) => openConnections(one, connections))
  stack.defer(() => {
    for (const one of clients) one.close()
  })
  for (let round = 1; round <= rounds; round++) {
    const rows: (string | number)[][] = []
    const names = Array.from({ length: objects }, unique)
    for (const [name, { share, run }] of Object.entries(operations)) {
      const isMeasured = (only ?? name) === name
      if (!isMeasured && name !== 'create' && name !== 'delete') continue
      const count = Math.ceil(objects * share)
      const figures: number[][] = []
      for (const [index, { pids }] of contenders.entries()) {
        let rate = 0
        const { total, store } = await cpuDuring(pids, async () => {
          const took = await timeRun(() =>
            runConcurrently(count, connections, (turn) => run(clients[index] as Connections, names[turn] ?? '', turn)),
          )
          rate = (count * 1000) / took
        })
        figures.push([rate, total / count, ...(index > 0 ? [store / count] : [])])
      }
      const [ours, theirs] = figures
      if (isMeasured) rows.push([name, ...figures.flat(), ...(theirs ? [Number(ours?.[1]) / Number(theirs[1])] : [])])
    }
    table(
      `${connections} connections, round ${round} with ${objects.toLocaleString('en')} objects, lists of ${objects / groups}`,
      ['operation', 'keyplane req/s', 'CPU ms/req'].concat(
        contenders.length > 1 ? ['kube-apiserver req/s', 'CPU ms/req', 'of it etcd', 'CPU ratio'] : [],
      ),
      rows,
    )
  }
}
