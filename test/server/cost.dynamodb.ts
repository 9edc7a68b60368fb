import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AttributeValue, type DynamoDBClient, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { functions } from '../../infra/functions.ts'
import { itemsIn } from '../../lib/engine/storage/dynamodb/dynamodb.ts'
import { activityOf, sortKey } from '../../lib/engine/storage/keys.ts'
import { storageOver } from '../../lib/engine/storage/protocol/storage.ts'
import { touchExpired } from '../../lib/keys/events/expiredphase.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { boundSecretsHandler } from '../../lib/server/boundsecrets.ts'
import { lifecycleHandler } from '../../lib/server/lifecycle.ts'
import { settleHandler } from '../../lib/server/settle.ts'
import { type CapacityMeter, startCapacityMeter, type Taken } from '../support/capacitymeter.ts'
import { endless } from '../support/deadlines.ts'
import { connect } from '../support/dynamodb.ts'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { exchangeForm, provider, providers, startFederation, tokenPath } from '../support/federation.ts'
import { accessKey, apiVersion, clusters, instance, instances, keys, management } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { publishEvents } from '../support/sharedserver.ts'

const samples = 5

let server: TestServer
let meter: CapacityMeter
let taken: Readonly<Taken>
let token: string
beforeAll(async () => {
  server = await startServer({}, { unscheduled: true })
  meter = await startCapacityMeter(server.store.dynamodb.endpoint)
  taken = meter.taken
  // In the first hour of a day, the publisher of events also reads the signals of the day before.
  vi.useFakeTimers({ toFake: ['Date'], now: noonOfTomorrow(), shouldAdvanceTime: true })
  // Runs before the first request, because functions connect when they are first called.
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', meter.endpoint)
  token = (await server.make(keys, accessKey('caller', { user: 'admin', groups: ['system:masters'] }))).spec.key
})
afterAll(async () => {
  vi.unstubAllEnvs()
  meter?.close()
  await server?.stop()
  vi.useRealTimers()
})

/** Not of today: the clock must not be behind what the server has already written. */
const noonOfTomorrow = (): number => (Math.floor(Date.now() / 86_400_000) + 1.5) * 86_400_000

/** Returns the minimum for each sample, because settling the log and schedules occasionally add calls. */
async function least(
  of: (sample: number) => [path: string, call?: Parameters<TestServer['call']>[1]],
  { isExpected = (code: number) => code < 300, times = samples } = {},
): Promise<Taken> {
  const all: Taken[] = []
  for (let sample = 0; sample < times; sample++) {
    const [path, call] = of(sample)
    const before = { ...taken }
    const { status, text } = await server.call(path, { token, ...call })
    expect([path, status, text]).toEqual([path, expect.toSatisfy(isExpected), expect.any(String)])
    const { calls, reads, writes } = taken
    all.push({ calls: calls - before.calls, reads: reads - before.reads, writes: writes - before.writes })
  }
  return all.reduce((one, other) => (weight(other) < weight(one) ? other : one))
}

const weight = ({ reads, writes }: Taken) => reads + writes

/** Returns the store over this client, which waits for nothing. */
const storageOf = (client: DynamoDBClient) =>
  storageOver(itemsIn(client, server.store.dynamodb.table, Date.now), {
    now: Date.now,
    random: Math.random,
    sleep: async () => {},
  })

/**
 * Publishes the events so far, whose history the schedule would write meanwhile, and settles the change log, of which a list reads
 * the unsettled part.
 */
async function settle(): Promise<void> {
  await publishEvents()
  await storageOf(server.store.dynamodb.client).sweep(OwnedAccessKey.table)
}

/** 1 KB as answered. */
const kilobyte = (name: string, user = 'somebody') => accessKey(name, { user, description: 'x'.repeat(395) })

/** The rows of the table on the page by request: calls, read units, write units, dollars per million. */
function requestsOf(page: string): Map<string, number[]> {
  const rows = page.matchAll(/^\| ([^|]+) \| (\d+) \| ([\d.]+) \| (\d+) \| (?:\$([\d.]+))?/gm)
  return new Map([...rows].map(([, name = '', ...figures]) => [name, figures.map((one) => Number(one ?? Number.NaN))]))
}

const page = await readFile(join(import.meta.dirname, '../../docs/cost.md'), 'utf8')

/** Returns the figures in the row of a part, in their order. */
const figuresOf = (part: string): number[] =>
  (new RegExp(`^\\| ${part} \\| (.*) \\|$`, 'm').exec(page)?.[1]?.match(/\d[\d,.]*/g) ?? []).map((figure) =>
    Number(figure.replaceAll(',', '').replace(/\.$/, '')),
  )

const hours = 730
const [gateway = 0] = figuresOf('API Gateway')
const [invocation = 0, second = 0, invocations = 0, seconds = 0, lambda] = figuresOf('Lambda')
const [gigabyte = 0, kilobytes = 0, logs] = figuresOf('logs')
const [readUnit = 0, writeUnit = 0] = figuresOf('DynamoDB')
const [signatures = 0, manySignatures = 0] = figuresOf('KMS')

/**
 * What requests with a key cost in release 0.1.0, before keys could be rotated: calls, read units and write units. A create writes the name
 * of the key for its maker besides, for two units, and a key stores the last characters of its value, by which a page of 100 is one unit larger.
 */
const BEFORE_ROTATIONS: Readonly<Record<string, readonly number[]>> = {
  authorization: [1, 1, 0],
  'authorization of an exchanged key': [2, 3, 0],
  get: [2, 3, 0],
  'page of 100': [4, 35 + 1, 0],
  'list of one by its name': [4, 4, 0],
  'create of a key': [3, 1, 19 + 2],
  'patch of a key': [4, 3, 17],
  'delete of a key': [4, 3, 21],
  token: [1, 1, 0],
  'kube config': [2, 2, 0],
  'exchange of an ID token': [4, 2, 20],
  'refused by a scope': [1, 1, 0],
}

test('requests with a key that was never rotated, limited or reported cost what they did in release 0.1.0', () => {
  const said = requestsOf(page)
  const rows = Object.keys(BEFORE_ROTATIONS).map((name) => [name, said.get(name)?.slice(0, 3)])
  expect(Object.fromEntries(rows)).toEqual(BEFORE_ROTATIONS)
})

/** The requests that KMS signs. */
const signed = [
  'token',
  'kube config',
  'exchange for a token of a cluster',
  'exchange for a token of a virtual cluster',
  'exchange again for a token of a cluster',
  'exchange again for a token of a virtual cluster',
  'exchange for five clusters',
  'exchange again for five clusters',
]

/** The costs of a million requests without the table. */
const others = gateway + invocations * invocation + seconds * second * 1e6 + kilobytes * gigabyte
/** An exchange and a report have one function of 12 ms, and no authorizer. */
const unauthorized = gateway + invocation + ((0.012 * 1769) / 1024) * second * 1e6 + kilobytes * gigabyte
const dollars = (name: string, reads: number, writes: number) =>
  (/^(exchange|report) /.test(name) ? unauthorized : others) +
  reads * readUnit +
  writes * writeUnit +
  (signed.includes(name) ? (name.endsWith('five clusters') ? 5 : 1) * (signatures / manySignatures) * 1e6 : 0)

test('the prices per million calls and log lines follow from the unit prices on the page', () => {
  expect(lambda).toBe(Number((invocations * invocation + seconds * second * 1e6).toFixed(2)))
  expect(logs).toBe(Number((kilobytes * gigabyte).toFixed(2)))
  // 7 ms and 12 ms of 1,769 MB.
  expect(seconds).toBe(Number((((0.007 + 0.012) * 1769) / 1024).toFixed(4)))
  const watch = 3600 * (0.5 * second + (2 * 0.5 * readUnit) / 1e6)
  expect(page).toContain(
    `2 reads of half a unit a second while nothing changes: $${watch.toFixed(3)} an hour, $${Math.round(730 * watch)} a month`,
  )
  const starts = (730 * 30 * (requestsOf(page).get('get')?.at(-1) ?? Number.NaN)) / 1e6
  expect(page).toContain(`starting it again every two minutes is $${starts.toFixed(2)} more`)
  const start = ((0.12 * 1769) / 1024) * second * 1e6
  expect(page).toContain(`$${start.toFixed(2)} per million starts`)
  expect(page).toContain(`which is $${(invocations * 0.01 * start).toFixed(2)} per\n  million requests`)
  const fiveMinutes = (730 * 12) / 10_000
  const [keyRead = 0, secretRead = 0] = ['encryption of the table', 'Secrets Manager'].map((part) => figuresOf(part)[0])
  for (const price of [keyRead, secretRead]) {
    expect(page).toContain(`$${(fiveMinutes * price).toFixed(2)} a month for an environment`)
  }
  expect(page).toContain(`$${((730 * 60 * 4 * writeUnit) / 1e6).toFixed(2)} a month if it is used in every minute`)
  expect(page).toContain(`at most $${(watch / 30).toFixed(4)} for each interrupted \`kubectl get -w\``)
})

test('a poll of a watch without changes is one read of half a unit', async () => {
  const client = connect(meter.endpoint)
  const storage = storageOf(client)
  const rv = await storage.revision(OwnedAccessKey.table)
  const before = { ...taken }
  expect(await storage.changes(OwnedAccessKey.table, rv)).toEqual({ rv, changes: [] })
  expect([taken.calls - before.calls, taken.reads - before.reads]).toEqual([1, 0.5])
  client.destroy()
})

test('what idles costs what the page states, at most $15 a month, and the README says so', async () => {
  const [, idle = ''] = /## Fixed costs per month\n([\s\S]*?)\n- /.exec(page) ?? []
  const rows = [...idle.matchAll(/^\| .* \| ([\d,]+) \| \$([\d.]+)( \/ million)? \| \$([\d.]+) \|$/gm)].map(
    ([, number = '', price, million, total]) => ({
      number: Number(number.replaceAll(',', '')),
      price: Number(price) / (million ? 1e6 : 1),
      total: Number(total),
    }),
  )
  expect(rows.map(({ total }) => total)).toEqual(rows.map(({ number, price }) => Number((number * price).toFixed(2))))
  const sum = rows.reduce((all, { total }) => all + total, 0)
  expect(idle).toContain(`An idle deployment costs $${sum.toFixed(2)} a month, and at most $15 with 8 GB`)
  expect(sum + 8 * (0.25 + 0.2)).toBeLessThanOrEqual(15)
  expect(await readFile(join(import.meta.dirname, '../../README.md'), 'utf8')).toContain('at most $15 a month')

  const everyMinute = functions.filter(({ every }) => every === 'minute').length
  const everyHour = functions.filter(({ every }) => every === 'hour').length
  const [runs, reads, writes, environments] = rows.slice(-4)
  expect(runs?.number).toBe(hours * (60 * everyMinute + everyHour))
  expect(runs?.price).toBeCloseTo((invocation + 0.05 * 0.5 * second * 1e6 + 0.5 * gigabyte) / 1e6, 8)
  expect(environments?.number).toBe(everyMinute)
  // Processes stay, and read once what the first run needs.
  const [publish, settleAll, endSecrets] = [lifecycleHandler(), settleHandler(), boundSecretsHandler()]
  const context = { getRemainingTimeInMillis: () => 60_000 }
  await settle()
  await publish({}, context)
  const minutes: { reads: number; writes: number }[] = []
  for (let minute = 0; minute < samples; minute++) {
    const before = { ...taken }
    await publish({}, context)
    await settleAll()
    await endSecrets({}, context)
    minutes.push({ reads: taken.reads - before.reads, writes: taken.writes - before.writes })
  }
  expect(reads?.number).toBe(hours * 60 * Math.min(...minutes.map((one) => one.reads)))
  expect(writes?.number).toBe(hours * 60 * Math.min(...minutes.map((one) => one.writes)))
})

test('the monthly prices of warm functions, large streams and a VPC follow from the unit prices on the page', () => {
  const [idle = 0] = figuresOf('provisioned concurrency')
  const twice = 2 * (1769 / 1024) * 3600 * hours * idle
  expect(page).toContain(`$${twice.toFixed(2)} for each environment of \`provisioned-concurrency\``)
  const [streamed = 0] = figuresOf('streams')
  const list = (0.014 * streamed + 2 * (gateway / 1e6)) * 1000
  expect(page).toContain(`costs $${list.toFixed(2)} per thousand for both`)
  const [endpoint = 0, translator = 0] = figuresOf('VPC')
  expect(page).toContain(`$${(4 * endpoint * hours).toFixed(2)} for interface endpoints`)
  expect(page).toContain(`$${(translator * hours).toFixed(2)} for each NAT gateway`)
})

const use = (token: string) => server.post(`${management}/selves`, {}, token)

/** Creates a key of 1 KB with an open rotation, and returns both of its values. */
async function makeRotated(name: string): Promise<{ old: string; next: string }> {
  const { spec } = await server.make(keys, kilobyte(name))
  const { json } = await server.post(`${keys}/${name}/rotate`, {})
  return { old: spec.key, next: json.status.key }
}

/** The bytes logged per request: its access log line, three Lambda lines per function, and 26 bytes per line. */
const linesOfPlatform = 430 + 2 * 280 + 9 * 26

test('a request consumes the units that the page states', async () => {
  const merge = { 'content-type': 'application/merge-patch+json' }
  const patch = { method: 'PATCH', headers: merge, body: { metadata: { labels: { value: 'a' } } } }
  for (let count = 0; count < 120; count++) await server.make(keys, kilobyte(`listed-${count}`))
  for (let count = 0; count < 10; count++) await server.make(keys, kilobyte(`few-${count}`, 'few'))
  const maker = await server.make(keys, accessKey('z-maker', { user: 'admin', groups: ['system:masters'] }))
  const make = (body: object) => server.call(keys, { method: 'POST', token: maker.spec.key, body })
  for (let count = 0; count < 10; count++) await make(kilobyte(`z-made-${count}`))
  const scoped = await server.make(keys, accessKey('scoped', { user: 'admin', scope: {} }))
  const cluster = `${instances('p-demo')}/demo`
  const ingress = { enabled: true, host: 'demo.example.com' }
  const certificateAuthorityData = Buffer.from(server.certificateAuthority).toString('base64')
  await server.make(
    instances('p-demo'),
    instance('demo', {
      accessPoint: { ingress },
      certificateAuthorityData,
      access: [{ verbs: ['create'], subresources: ['kubeconfig'], teams: ['shop'] }],
    }),
  )
  const kubeConfig = { kind: 'VirtualClusterInstanceKubeConfig', metadata: { namespace: 'p-demo' }, spec: {} }
  const federation = newFederation()
  await openGates(server.parts, federation)
  const { token: job } = await createExchangedKey(server.parts, federation)
  const issued = await startFederation(server)
  const named = ['prod', ...Array.from({ length: 5 }, (_, index) => `five-${index}`)]
  const everywhere = {
    clusters: named.map((cluster) => ({ cluster })),
    virtualClusters: [{ project: 'demo', virtualCluster: 'demo' }],
  }
  const client = await issued.trust('shop-deploy', { scope: everywhere })
  const ci = 'https://ci.example.com'
  await server.make(
    providers,
    provider('ci', { issuer: ci, type: 'OIDC', jwks: issued.issuer.jwks(), tokenUse: 'Lifetime' }),
  )
  const claims = [{ claim: 'sub', values: ['job'] }]
  const lasting = await issued.trust('lasting', { identityProvider: 'ci', claims, scope: everywhere })
  const again = issued.issuer.sign({ iss: ci, sub: 'job', aud: server.base })
  const [toCluster, toVirtual] = [{ audience: 'clusters/prod' }, { audience: 'virtualclusters/demo/demo' }]
  const asExchange = (id: string, subject: string, more: Record<string, string> = {}) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const call = { method: 'POST', token: '', body: exchangeForm(id, subject, more), headers }
    return [tokenPath, call] satisfies [string, object] as [string, typeof call]
  }
  for (const target of [toCluster, toVirtual]) await issued.exchange(lasting, again, target)
  const five = Array.from({ length: 5 }, (_, index) => `five-${index}`)
  const access = [{ verbs: ['create'], subresources: ['kubeconfig'], teams: ['shop'] }]
  for (const name of five) {
    const spec = { server: `https://${name}.example.com`, certificateAuthorityData, access }
    await server.make(clusters, { apiVersion, kind: 'Cluster', metadata: { name }, spec })
  }
  const asFive = (id: string, subject: string) => {
    const [path, call] = asExchange(id, subject)
    const body = five.map((name) => `&audience=clusters%2F${name}`).join('')
    const headers = { ...call.headers, accept: 'application/yaml;as=KubeConfig' }
    return [path, { ...call, body: call.body + body, headers }] satisfies [string, object] as [string, typeof call]
  }
  await server.call(...asFive(lasting, again))
  const open = await makeRotated('open')
  await use(open.old)
  const unused: string[] = []
  const leaked: string[] = []
  for (let sample = 0; sample < samples; sample++) {
    await server.make(keys, kilobyte(`rotated-${sample}`))
    await server.make(keys, kilobyte(`revoked-${sample}`))
    leaked.push((await server.make(keys, kilobyte(`leaked-${sample}`))).spec.key)
    unused.push((await makeRotated(`unused-${sample}`)).next)
    await use((await makeRotated(`used-${sample}`)).next)
  }
  await settle()
  const measured: Record<string, Taken> = {
    authorization: await least(() => [`${management}/selves`, { method: 'POST', body: {} }]),
    'authorization of an exchanged key': await least(() => [
      `${management}/selves`,
      { method: 'POST', body: {}, token: job },
    ]),
    get: await least(() => [`${keys}/listed-1`]),
    'history of a key': await least(() => [`${keys}/listed-1/history`]),
    'page of 100': await least(() => [`${keys}?limit=100`]),
    'list of one by its name': await least(() => [`${keys}?fieldSelector=metadata.name=listed-1`]),
    'list of the 10 keys of an owner': await least(() => [`${keys}?fieldSelector=status.owner=few`]),
    'list of the 10 keys that a key made': await least(() => [`${keys}?fieldSelector=status.madeWith.name=z-maker`]),
    'list of 10 keys by the beginning of their names': await least(() => [`${keys}?namePrefix=few-`]),
    'create of a key': await least((sample) => [keys, { method: 'POST', body: kilobyte(`made-${sample}`) }]),
    'patch of a key': await least((sample) => [`${keys}/made-${sample}`, patch]),
    'delete of a key': await least((sample) => [`${keys}/made-${sample}`, { method: 'DELETE' }]),
    'rotation of a key': await least((sample) => [`${keys}/rotated-${sample}/rotate`, { method: 'POST', body: {} }]),
    'revocation of one key by its name': await least((sample) => [
      `${management}/accesskeyrevocations`,
      { method: 'POST', body: { spec: { names: [`revoked-${sample}`] } } },
    ]),
    'authorization with the old value while a rotation is open': await least(() => [
      `${management}/selves`,
      { method: 'POST', body: {}, token: open.old },
    ]),
    'authorization, the first with a new value': await least((sample) => [
      `${management}/selves`,
      { method: 'POST', body: {}, token: unused[sample] ?? '' },
    ]),
    'get of a key while a rotation is open': await least(() => [`${keys}/open`]),
    'patch of a key that settles its rotation': await least((sample) => [`${keys}/used-${sample}`, patch]),
    'report of a leaked key': await least((sample) => [
      '/leaks',
      { method: 'POST', token: '', body: { credentials: [leaked[sample]] } },
    ]),
    'lookup of a value': await least(() => [
      `${management}/accesskeylookups`,
      { method: 'POST', body: { spec: { key: scoped.spec.key } } },
    ]),
    token: await least(() => [`${management}/directclusterendpointtokens`, { method: 'POST', body: { spec: {} } }]),
    'kube config': await least(() => [`${cluster}/kubeconfig`, { method: 'POST', body: kubeConfig }]),
    'exchange of an ID token': await least(() => asExchange(client, issued.sign())),
    'exchange for a token of a cluster': await least(() => asExchange(client, issued.sign(), toCluster)),
    'exchange for a token of a virtual cluster': await least(() => asExchange(client, issued.sign(), toVirtual)),
    'exchange for five clusters': await least(() => asFive(client, issued.sign())),
    'exchange again for five clusters': await least(() => asFive(lasting, again)),
    'exchange again for a token of a cluster': await least(() => asExchange(lasting, again, toCluster)),
    'exchange again for a token of a virtual cluster': await least(() => asExchange(lasting, again, toVirtual)),
    'refused by a scope': await least(() => [`${keys}/listed-1`, { token: scoped.spec.key }], {
      isExpected: (code) => code === 403,
    }),
  }
  const said = requestsOf(page)
  for (const [name, one] of Object.entries(measured)) {
    const [calls = 0, reads = 0, writes = 0, price] = said.get(name) ?? []
    expect([name, one]).toEqual([name, { calls, reads, writes }])
    if (!name.startsWith('authorization'))
      expect([name, price]).toEqual([name, expect.closeTo(dollars(name, reads, writes), 1)])
  }
  const [single, several, repeat] = [
    'exchange for a token of a cluster',
    'exchange for five clusters',
    'exchange again for five clusters',
  ].map((name) => measured[name] ?? { calls: 0, reads: 0, writes: 0 }) as [Taken, Taken, Taken]
  expect(several.calls).toBeLessThan(2 * single.calls)
  expect(weight(several)).toBeLessThan(2 * weight(single))
  expect([repeat.calls, repeat.writes]).toEqual([4, 0])
  const [key = 0, issue = 0, direct = 0] = [
    'exchange of an ID token',
    'token',
    'exchange for a token of a cluster',
  ].map((name) => said.get(name)?.at(-1))
  // The authorization of an exchanged key reads two units more.
  const two = (key + issue + 2 * readUnit).toFixed(2)
  expect(page).toContain(
    `one request for $${direct.toFixed(2)} a million, where a key and then a token are two for $${two}`,
  )
  const [begin = 0, end = 0] = ['exchange of an ID token', 'delete of a key'].map((name) => said.get(name)?.at(-1))
  const jobs = (first: number) => (((first + end) * 10_000) / 1e6).toFixed(2)
  expect(page).toContain(`10,000 jobs a day cost $${jobs(begin)} a day for both`)
  expect(page).toContain(
    `10,000 jobs a day cost $${jobs(direct)} a day instead of $${jobs(Number(two))} for the [steps`,
  )
})

test('a create of a key with 32 makers consumes the units that the page states', async () => {
  let last = token
  for (let count = 3; count <= 32; count++) {
    const made = accessKey(`z-line-${count}`, { user: 'admin', groups: ['system:masters'] })
    last = (await server.post(keys, made, last)).json.spec.key
  }
  const { status, json } = await server.post(keys, kilobyte('z-line-33'), last)
  const most = json.spec?.key
  expect([status, (await server.post(keys, kilobyte('z-line-34'), most)).status]).toEqual([201, 403])
  const one = await least((sample) => [keys, { method: 'POST', body: kilobyte(`z-line-end-${sample}`), token: last }])
  const [calls = 0, reads = 0, writes = 0, price] = requestsOf(page).get('create of a key with 32 makers') ?? []
  expect(one).toEqual({ calls, reads, writes })
  expect(price).toBeCloseTo(dollars('create of a key', reads, writes), 1)
})

test('telling watches of an expired key costs what the page states', async () => {
  const ends: number[] = []
  for (let sample = 0; sample < samples; sample++) {
    const { metadata, spec } = kilobyte(`expired-${sample}`)
    const { status } = await server.make(keys, accessKey(metadata.name, { ...spec, ttl: 3600 * (1 + sample) }))
    ends.push(Date.parse(status.expirationTimestamp) / 1000)
  }
  await settle()
  const client = connect(meter.endpoint)
  const { limits } = server.parts
  const storage = storageOf(client)
  const all: Taken[] = []
  for (const to of ends) {
    const before = { ...taken }
    const life = { store: server.parts.storeOf(OwnedAccessKey), storage, limits, now: () => new Date(to * 1000) }
    const seen = await touchExpired({ ...life, hasTime: () => true, deadline: endless }, { after: to - 10, to })
    expect(seen).toBe(1)
    const { calls, reads, writes } = taken
    all.push({ calls: calls - before.calls, reads: reads - before.reads, writes: writes - before.writes })
  }
  client.destroy()
  const { reads, writes } = all.reduce((one, other) => (weight(other) < weight(one) ? other : one))
  const price = (reads * readUnit + (writes + 1) * writeUnit).toFixed(2)
  expect(page).toContain(`reads ${reads} units and writes ${writes}, and its position one: $${price} per million keys`)
})

test('only the first request of a key in a minute writes its last activity', async () => {
  const { spec } = await server.make(keys, accessKey('seldom', { user: 'seldom' }))
  const before = taken.writes
  const self = () => server.post(`${management}/selves`, {}, spec.key)
  expect((await self()).status).toBe(201)
  const [, units, more] = /adds (\d) write units a minute .* first use adds (\d) more, once/.exec(page) ?? []
  const first = before + Number(units) + Number(more)
  expect(taken.writes).toBe(first)
  expect((await self()).status).toBe(201)
  expect(taken.writes).toBe(first)
  await makeUnused('seldom', 61)
  expect((await self()).status).toBe(201)
  expect(taken.writes).toBe(first + Number(units))
})

/** Moves the last activity of a key back in time, in its credential and beside the key. */
async function makeUnused(name: string, seconds: number): Promise<void> {
  const { client, table: TableName } = server.store.dynamodb
  const { Items = [] } = await client.send(
    new ScanCommand({
      TableName,
      FilterExpression: 'begins_with(pk, :credential) AND #name = :name',
      ExpressionAttributeNames: { '#name': 'name' },
      ExpressionAttributeValues: { ':credential': { S: 'credential#' }, ':name': { S: name } },
    }),
  )
  const { pk, sk } = Items[0] ?? {}
  if (!pk || !sk || Items.length > 1) throw new Error(`${Items.length} credentials of ${name}`)
  const moveBack = (Key: Record<string, AttributeValue>, attribute: string, by: number) =>
    client.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'SET #attribute = #attribute - :by',
        ExpressionAttributeNames: { '#attribute': attribute },
        ExpressionAttributeValues: { ':by': { N: String(by) } },
      }),
    )
  await moveBack({ pk, sk }, 'lastActivity', seconds)
  await moveBack({ pk: { S: activityOf('ownedaccesskeys') }, sk: { S: sortKey(name) } }, 'at', seconds * 1000)
}

test('the cost of a page depends on its objects, not on those that follow', async () => {
  await settle()
  const { calls, reads } = await least(() => [`${keys}?limit=10`])
  const { calls: callsOfMore, reads: readsOfMore } = await least(() => [`${keys}?limit=100`])
  expect(calls).toBe(callsOfMore)
  expect(reads).toBeLessThan(readsOfMore / 2)
})

test('a page, a selector and a list of an owner cost the same after many deletions', async () => {
  const queries = ['limit=500', 'labelSelector=none', 'fieldSelector=status.owner=few&limit=20']
  const measure = async () => {
    const found: Taken[] = []
    for (const query of queries) found.push(await least(() => [`${keys}?${query}`]))
    return found
  }
  await settle()
  const before = await measure()
  const passing = Array.from({ length: 200 }, (_, count) => `few-passing-${count}`)
  for (const name of passing) await server.make(keys, accessKey(name, { user: 'few' }))
  for (const name of passing) await server.call(`${keys}/${name}`, { method: 'DELETE' })
  await settle()
  expect(await measure()).not.toEqual(before)
  for (const later of [0, 46_000, 92_000]) {
    const at = { now: () => Date.now() + later, random: Math.random, sleep: async () => {} }
    await storageOver(itemsIn(server.store.dynamodb.client, server.store.dynamodb.table, at.now), at).sweep(
      OwnedAccessKey.table,
    )
  }
  expect(await measure()).toEqual(before)
})

test('a list of an owner, a maker or a name prefix costs the same however many other keys there are', async () => {
  const queries = [
    'fieldSelector=status.owner=few',
    'fieldSelector=spec.user=few&limit=20',
    'fieldSelector=status.madeWith.name=z-maker&limit=20',
    'namePrefix=few-',
  ]
  const measure = async () => {
    await settle()
    const found: Taken[] = []
    for (const query of queries) found.push(await least(() => [`${keys}?${query}`]))
    return found
  }
  const before = await measure()
  for (let count = 0; count < 40; count++) await server.make(keys, kilobyte(`fex-${count}`))
  expect(await measure()).toEqual(before)
})

test('a list of one name reads one row', async () => {
  await settle()
  const name = 'fieldSelector=metadata.name=listed-1'
  const { calls, reads } = await least(() => [`${keys}?${name}`])
  for (const more of [',spec.user=somebody', '&limit=500', '&labelSelector=!a', '-not-there']) {
    const found = await least(() => [`${keys}?${name}${more}`])
    expect([more, found.calls, found.reads <= reads]).toEqual([more, calls, true])
  }
})

// At most 25 polls of half a unit, besides the authorization and the watches of the key.
test('a watch of one name begins with one row, not with all objects', async () => {
  await settle()
  const watch = `${keys}?watch=1&timeoutSeconds=1&allowWatchBookmarks=1`
  // Each lasts a second, and the difference is large.
  const once = { times: 1 }
  const { reads } = await least(() => [`${watch}&fieldSelector=metadata.name=listed-1`], once)
  expect(reads).toBeLessThan(20)
  expect((await least(() => [watch], once)).reads).toBeGreaterThan(30)
})

test('a request logs as many bytes as the page states', async () => {
  const { text, headers } = await server.call(`${keys}/listed-1`, { token })
  expect(text.length).toBeGreaterThan(950)
  expect(text.length).toBeLessThan(1050)
  const lines = server.log.filter((line) => JSON.parse(line).requestId === headers['audit-id'])
  expect(lines).toHaveLength(2)
  const bytes = lines.join('').length + linesOfPlatform
  expect(bytes / 1000).toBeGreaterThan(2.5)
  expect(bytes / 1000).toBeLessThan(2.9)
})
