/** Fills a server with what a small company would have: keys in every state, with their past, trusts, and clusters of both kinds. */
import https from 'node:https'
import { type Answer, request } from '../../support/request.ts'
import { type StartedServer, startedServer } from '../../support/startedserver.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Seconds. */
const days = (count: number): number => count * 86_400

const GROUP = '/apis/management.platform/v1'

export interface Demo {
  server: StartedServer
  /** The time of the server, which pages that show it should have too. */
  now: Date
  /** The values of the keys by their names; of `terraform` the pending one too, as `terraform (new)`. */
  keys: Readonly<Record<string, string>>
}

/** The time of day at which the pictures are taken. */
const startOfToday = (): number => Math.floor(Date.now() / DAY) * DAY

/** Starts a server with a past of 200 days. */
export async function startDemo(): Promise<Demo> {
  const now = startOfToday() + 10 * HOUR
  const server = await startedServer({}, new Date(now - 200 * DAY))
  const keys: Record<string, string> = {}

  const send = async (method: string, path: string, body: object): Promise<Answer['json']> => {
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
    const { status, text, json } = await server.call(`${GROUP}/${path}`, { method, body, headers })
    if (status >= 300) throw new Error(`${status} to ${method} ${path}: ${text}`)
    return json
  }
  const make = (resource: string, kind: string, name: string, object: object, namespace?: string) =>
    send('POST', resource, {
      apiVersion: 'management.platform/v1',
      kind,
      metadata: { name, ...(namespace && { namespace }) },
      ...object,
    })
  const at = (before: number) => server.setClock(new Date(now - before))
  const key = async (name: string, spec: object) => {
    const made = await make('ownedaccesskeys', 'OwnedAccessKey', name, { spec })
    keys[name] = made.spec.key
  }
  /** Uses a key from an address of this machine. */
  const use = async (name: string, from: string, agent: string) => {
    const connection = new https.Agent({ ca: server.certificateAuthority, localAddress: from })
    const headers = { 'user-agent': agent }
    const call = { method: 'POST', body: {}, token: keys[name] ?? '', headers }
    const { status, text } = await request(connection, `${server.url}${GROUP}/selves`, call)
    connection.destroy()
    if (status !== 201) throw new Error(`${status} to the use of ${name}: ${text}`)
  }
  const rotate = async (name: string, spec: object) =>
    (await send('POST', `ownedaccesskeys/${name}/rotate`, { spec })).status.key as string

  // What the local server starts with would be in the way of the company's own.
  for (const name of ['federatedidentitycredentials/demo', 'identityproviders/demo', 'ownedaccesskeys/vcluster-demo']) {
    await send('DELETE', name, {})
  }
  await key('legacy-import', {
    displayName: 'Import of the old catalogue',
    description: 'Made before there were scopes. Owner: Alice.',
    user: 'alice',
  })
  await key('deploy-production', {
    displayName: 'Deployments of the shop',
    description: 'Used by the release pipeline.',
    team: 'shop',
    ttl: days(380),
    scope: { projects: [{ project: 'shop' }] },
  })
  await at(173 * DAY)
  await use('legacy-import', '127.0.4.17', 'curl/8.7.1')
  await at(120 * DAY)
  await key('terraform', {
    displayName: 'Terraform',
    team: 'platform',
    ttl: days(180),
    scope: { projects: [{ project: '*' }], clusters: [{ cluster: '*' }] },
    sourceCIDRs: ['127.0.0.0/8', '10.20.0.0/16'],
  })
  await key('laptop-of-bob', { displayName: 'Laptop of Bob', user: 'bob', ttl: days(365) })
  await at(96 * DAY)
  await key('report-builder', {
    displayName: 'Monthly report',
    user: 'carol',
    ttl: days(365),
    scope: { virtualClusters: [{ project: 'data', virtualCluster: 'analytics' }] },
  })
  await use('report-builder', '127.0.9.2', 'python-requests/2.32.3')
  await use('laptop-of-bob', '127.0.8.1', 'kubectl/v1.34.4 (darwin/arm64) kubernetes/d8a1b4e')

  await at(84 * DAY)
  await key('backup-nightly', {
    displayName: 'Nightly backup',
    subject: 'backup',
    ttl: days(90),
    scope: {
      spaces: [{ project: 'data', space: 'archive' }],
      virtualClusters: [{ project: 'data', virtualCluster: '*' }],
    },
  })
  await at(40 * DAY)
  await key('grafana', {
    displayName: 'Dashboards',
    team: 'platform',
    ttl: days(14),
    ttlAfterLastActivity: true,
    scope: { roles: [{ role: 'platformCLI' }] },
  })
  for (let days = 35; days > 0; days -= 5) {
    await at(days * DAY)
    await use('grafana', '127.0.7.3', 'Grafana/11.2.0')
  }
  await at(31 * DAY)
  await send('PATCH', 'ownedaccesskeys/laptop-of-bob', { spec: { disabled: true, description: 'Lost on 22 October.' } })
  await key('trial', { displayName: 'Trial of the vendor', user: 'dave', ttl: days(30) })

  await at(20 * DAY)
  await provider('github', {
    displayName: 'GitHub Actions',
    issuer: 'https://token.actions.githubusercontent.com',
    claims: [{ claim: 'repository_owner_id', values: ['65'] }],
    access: [{ verbs: ['use'], teams: ['*'] }],
    maxTTL: 7200,
  })
  await provider('gitlab', {
    displayName: 'GitLab of the company',
    issuer: 'https://gitlab.company.example',
    type: 'GitLab',
    access: [{ verbs: ['use'], teams: ['platform', 'shop'] }],
  })
  await trust('shop-deploy', {
    displayName: 'Production jobs of octo-org/shop',
    description: 'Releases of the shop.',
    identityProvider: 'github',
    team: 'shop',
    claims: [
      { claim: 'repository_id', values: ['74'] },
      { claim: 'environment', values: ['production'] },
    ],
    scope: { projects: [{ project: 'shop' }] },
    ttl: 1800,
  })
  await trust('infrastructure', {
    displayName: 'Terraform of platform/infrastructure',
    identityProvider: 'gitlab',
    team: 'platform',
    claims: [
      { claim: 'project_id', values: ['22'] },
      { claim: 'ref_protected', values: ['true'] },
    ],
    scope: { projects: [{ project: '*' }] },
  })
  await cluster('p-shop', 'production', { displayName: 'Shop, production', owner: { team: 'shop' } }, 'Ready')
  await cluster('p-shop', 'staging', { displayName: 'Shop, staging', owner: { team: 'shop' } }, 'Sleeping')
  await cluster('p-data', 'analytics', { displayName: 'Analytics', owner: { user: 'carol' } }, 'Ready')
  await connected('eu-production', 'Europe, production', { teams: ['platform', 'shop'] })
  await connected('eu-staging', 'Europe, staging', { teams: ['platform', 'shop'], users: ['carol'] })
  await connected('lab', 'Lab of the data team', {})

  await at(2 * DAY)
  await use('deploy-production', '127.0.2.8', 'kubectl/v1.34.4 (linux/amd64) kubernetes/d8a1b4e')
  await use('terraform', '127.0.2.9', 'HashiCorp Terraform/1.13.4')
  await at(9 * HOUR)
  await use('backup-nightly', '127.0.6.6', 'velero-server/v1.17.0')
  await at(2 * HOUR)
  keys['terraform (new)'] = await rotate('terraform', { overlapSeconds: 3600 })
  await at(40 * MINUTE)
  await key('ci-preview', {
    displayName: 'Preview environments',
    description: 'For pull requests of octo-org/shop.',
    user: 'alice',
    ttl: days(30),
    scope: { spaces: [{ project: 'shop', space: 'preview' }] },
  })
  await use('grafana', '127.0.7.3', 'Grafana/11.2.0')
  await at(25 * MINUTE)
  await use('terraform', '127.0.2.9', 'HashiCorp Terraform/1.13.4')
  await at(3 * MINUTE)
  await use('deploy-production', '127.0.2.8', 'kubectl/v1.34.4 (linux/amd64) kubernetes/d8a1b4e')
  await at(0)
  return { server, now: new Date(now), keys }

  function provider(name: string, spec: object) {
    return make('identityproviders', 'IdentityProvider', name, { spec })
  }
  function trust(name: string, spec: object) {
    return make('federatedidentitycredentials', 'FederatedIdentityCredential', name, { spec })
  }
  function connected(name: string, displayName: string, whom: object) {
    const access = [{ verbs: ['get', 'list', 'watch', 'use'], ...whom }]
    const server = `https://${name}.k8s.company.example`
    return make('clusters', 'Cluster', name, { spec: { displayName, server, access } })
  }
  async function cluster(namespace: string, name: string, spec: object, phase: string) {
    const path = `namespaces/${namespace}/virtualclusterinstances`
    const host = `${name}.${namespace.slice(2)}.clusters.company.example`
    const access = { accessPoint: { ingress: { enabled: true, host } } }
    await make(path, 'VirtualClusterInstance', name, { spec: { ...spec, ...access } }, namespace)
    await send('PATCH', `${path}/${name}/status`, { status: { phase } })
  }
}
