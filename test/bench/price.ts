/**
 * Measures the main job of a CI pipeline: make a key, fetch a kube config, fetch it again, revoke the key. With
 * KUBEBUILDER_ASSETS, does the same on a kube-apiserver with etcd: a service account, two tokens for it, and its deletion.
 * Prints requests, units, CPU time and waiting time, and from which number of requests on a cluster is cheaper.
 */
import { startOracle } from '../differential/oracle.ts'
import { startCapacityMeter, type Taken } from '../support/capacitymeter.ts'
import { accessKey, instance, instances, keys } from '../support/objects.ts'
import { startServer } from '../support/server.ts'
import { startedServer } from '../support/startedserver.ts'
import { unique } from './access.ts'
import { type Connections, openConnections, type Sent, type Served } from './client.ts'
import { median } from './measure.ts'
import { breakEven, clusters, priceOf } from './prices.ts'
import { say, table } from './print.ts'
import { cpuDuring } from './processes.ts'

interface Step {
  name: string
  /** Signatures by KMS. */
  signatures: number
  ours(name: string): Sent
  theirs(name: string): Sent
}

const demo = `${instances('p-demo')}/demo`
const accounts = '/api/v1/namespaces/default/serviceaccounts'

const kubeConfig: Omit<Step, 'name'> = {
  signatures: 1,
  ours: () => ({
    method: 'POST',
    path: `${demo}/kubeconfig`,
    body: { kind: 'VirtualClusterInstanceKubeConfig', metadata: { namespace: 'p-demo' }, spec: {} },
  }),
  theirs: (name) => ({
    method: 'POST',
    path: `${accounts}/${name}/token`,
    body: { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: { expirationSeconds: 3600 } },
  }),
}

const steps: readonly Step[] = [
  {
    name: 'make a key',
    signatures: 0,
    ours: (name) => ({ method: 'POST', path: keys, body: accessKey(name, { user: 'ci', ttl: 3600 }) }),
    theirs: (name) => ({
      method: 'POST',
      path: accounts,
      body: { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name } },
    }),
  },
  { name: 'fetch a kube config', ...kubeConfig },
  { name: 'fetch it again', ...kubeConfig },
  {
    name: 'revoke the key',
    signatures: 0,
    ours: (name) => ({ method: 'DELETE', path: `${keys}/${name}` }),
    theirs: (name) => ({ method: 'DELETE', path: `${accounts}/${name}` }),
  },
]

const send = (to: Connections, sent: Sent) => to.send(sent.method === 'POST' ? 201 : 200, sent)

/** Creates the virtual cluster, with some certificate. */
const makeCluster = (to: Connections, certificate: string) =>
  send(to, {
    method: 'POST',
    path: instances('p-demo'),
    body: instance('demo', {
      accessPoint: { ingress: { enabled: true, host: 'demo.example.com' } },
      certificateAuthorityData: Buffer.from(certificate).toString('base64'),
    }),
  })

/** Returns what each step consumes, at least over some jobs: settling the log occasionally adds calls. */
async function consumption(): Promise<Taken[]> {
  const server = await startServer({}, { unscheduled: true })
  const meter = await startCapacityMeter(server.store.dynamodb.endpoint)
  const { AWS_ENDPOINT_URL_DYNAMODB: direct } = process.env
  // Functions connect when they are first called.
  process.env.AWS_ENDPOINT_URL_DYNAMODB = meter.endpoint
  const to = openConnections(
    { base: server.base, certificateAuthority: server.certificateAuthority, token: server.adminKey },
    1,
  )
  try {
    await makeCluster(to, server.certificateAuthority)
    const jobs: Taken[][] = []
    for (let job = 0; job < 5; job++) {
      const name = unique()
      const taken: Taken[] = []
      for (const step of steps) {
        const { calls, reads, writes } = meter.taken
        await send(to, step.ours(name))
        const { taken: now } = meter
        taken.push({ calls: now.calls - calls, reads: now.reads - reads, writes: now.writes - writes })
      }
      jobs.push(taken)
    }
    const least = (index: number, of: keyof Taken) => Math.min(...jobs.map((job) => job[index]?.[of] ?? 0))
    return steps.map((_, index) => ({
      calls: least(index, 'calls'),
      reads: least(index, 'reads'),
      writes: least(index, 'writes'),
    }))
  } finally {
    to.close()
    process.env.AWS_ENDPOINT_URL_DYNAMODB = direct
    meter.close()
    await server.stop()
  }
}

interface Wait {
  /** Milliseconds per request, of the server without its database. */
  cpu: number
  /** Milliseconds. */
  p50: number
}

/** Runs each step `jobs` times, one request after the other. */
async function waits(
  server: Served & { pids: readonly number[] },
  which: 'ours' | 'theirs',
  jobs: number,
): Promise<Wait[]> {
  const to = openConnections(server, 1)
  const warm = Array.from({ length: 20 }, unique)
  const names = Array.from({ length: jobs }, unique)
  const waited: Wait[] = []
  for (const step of steps) for (const name of warm) await send(to, step[which](name))
  for (const step of steps) {
    const times: number[] = []
    const { total, store } = await cpuDuring(server.pids, async () => {
      for (const name of names) {
        const began = performance.now()
        await send(to, step[which](name))
        times.push(performance.now() - began)
      }
    })
    waited.push({ cpu: (total - store) / jobs, p50: median(times) })
  }
  to.close()
  return waited
}

/** Lambda gives a function of 1,769 MB one core. */
const coreAt = (megabytes: number): number => megabytes / 1769

export async function benchPrice({ jobs = 200 } = {}): Promise<void> {
  const taken = await consumption()
  await using stack = new AsyncDisposableStack()
  const local = stack.adopt(await startedServer(), (one) => one.stop())
  const { url: base, certificateAuthority, adminKey: token } = local
  const ours = await waits({ base, certificateAuthority, token, pids: [local.pid] }, 'ours', jobs)
  const assets = process.env.KUBEBUILDER_ASSETS
  const oracle = assets && stack.adopt(await startOracle(assets), (one) => one.stop())
  const theirs = oracle ? await waits({ ...oracle, token: oracle.tokens[''] ?? '' }, 'theirs', jobs) : []
  const prices = steps.map(({ signatures }, index) => priceOf({ reads: 0, writes: 0, ...taken[index], signatures }))
  table(
    'Price and waiting: each step is one request',
    ['step', 'calls', 'read units', 'write units', '$ a million', 'CPU ms', 'ms at 512 MB', 'p50 ms'].concat(
      theirs.length > 0 ? ['kube-apiserver CPU ms', 'p50 ms'] : [],
    ),
    steps.map(({ name }, index) => {
      const { calls = 0, reads = 0, writes = 0 } = taken[index] ?? {}
      const { cpu = 0, p50 = 0 } = ours[index] ?? {}
      const other = theirs[index]
      const figures = [calls, reads, writes, prices[index] ?? 0, cpu, cpu / coreAt(512), p50]
      return [name, ...figures, ...(other ? [other.cpu, other.p50] : [])]
    }),
  )
  const mean = prices.reduce((sum, price) => sum + price, 0) / prices.length
  say(`\nA million requests of this job cost $${mean.toFixed(2)}.`)
  table(
    'Rented clusters',
    ['cluster', '$ a month', 'cheaper from requests a month'],
    clusters.map((cluster) => [cluster.name, cluster.price, breakEven(cluster, mean)]),
  )
}
