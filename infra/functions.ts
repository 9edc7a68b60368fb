/**
 * The table of functions: what each one is, said once. A row carries what no other place can know. The functions of a kind have their
 * paths and methods from its row in lib/kinds.ts. The resources of a deployment (infra/stack) and the local gateway are made
 * from this table.
 */

import { BASE_PATH } from '../lib/clusters/deployment.ts'
import { groupVersion } from '../lib/engine/meta/groupversion.ts'
import { type KindName, type KindRow, kindRows, MANAGEMENT_GROUP, type StoredName } from '../lib/kinds.ts'
import { atRoot, below, open, type Route, routesOf, type StoredVerb, verbs, withTwins } from './routes.ts'
import {
  authenticate,
  bindTokens,
  bootstrap,
  boundSecrets,
  clusterSecrets,
  clusters,
  connected,
  connectedSecrets,
  endings,
  endTokens,
  endUnused,
  exchange,
  expired,
  forgetUsage,
  type Grant,
  gates,
  gatesAndEnds,
  instances,
  issuers,
  keepHistory,
  keys,
  leaks,
  list,
  nameClustersRole,
  owners,
  pepper,
  position,
  presented,
  progress,
  providers,
  publish,
  publishedKeys,
  read,
  readBound,
  readHistory,
  readUsage,
  recordedRequests,
  settle,
  sign,
  signals,
  trusts,
  usage,
  watches,
  write,
} from './stack/grants.ts'

interface Row {
  uses?: readonly Grant[]
  /** Of a function that serves no kind of the table of kinds. */
  routes?: readonly Route[]
  /** CodeDeploy shifts its requests to a new release. */
  canary?: true
  /** The setting provisioned-concurrency is for it. */
  warm?: true
  /**
   * Lambda's share of a CPU grows with the memory: 1,769 MB is a whole one. `npm run bench -- start` compares
   * time and price. Functions for which nobody waits, and those that mostly wait themselves, have 512.
   */
  megabytes?: number
  /** Handlers time out after 20 s and API Gateway after 29 s. In between a function can still write its response. */
  seconds?: number
  streams?: true
  /** The parameter that limits its concurrency. */
  concurrency?: 'ListConcurrency' | 'LeakConcurrency'
  /** The limits of its routes besides those of all routes (infra/stack/stage.ts). */
  throttle?: 'exchanges' | 'reviews' | 'reports' | 'pages'
  /** The alarm on its throttles: a short name, and what Lambda throttles. */
  throttled?: readonly [name: string, what: string]
  /** Lambda does not retry it: the next run finishes the work, and runs at the same time would do it twice. */
  every?: 'minute' | 'hour'
  /** Reads the stream of the table (infra/stack/events.ts). */
  stream?: 'changes' | 'wakes'
  /** Another function invokes it as well, within seconds. */
  isWoken?: true
  /** Publishes the functions that no rollout shifts. */
  publishes?: true
  /** Nothing invokes versions of it. */
  unversioned?: true
  /** Its name, if that of its path is too long. */
  name?: string
  /** Its module below functions/, if it is an unusual one. */
  path?: string
}

const canary = true
const warm = true
const small = { megabytes: 512 } as const
/** Answers of any length, for as long as a watch may last. */
const listing = { ...small, seconds: 290, streams: true, concurrency: 'ListConcurrency' } as const
const listsOf = (name: string, what: string) =>
  ({ ...listing, throttled: [`${name}-lists`, `lists and watches of ${what}`] }) as const

type KindTable = Record<StoredName, Record<StoredVerb, Row>> & Record<Exclude<KindName, StoredName>, Row>

// biome-ignore format: a table
const ofKinds: KindTable = {
  OwnedAccessKey: {
    create:           { uses: [write(keys), read(trusts, providers, instances, connected), pepper, usage], canary },
    get:              { uses: [read(keys), presented], canary },
    list:             { uses: [list(keys), gates, presented, watches], canary, ...listsOf('key', 'access keys') },
    update:           { uses: [write(keys), read(trusts, providers, instances, connected), pepper, usage, recordedRequests] },
    patch:            { uses: [write(keys), read(trusts, providers, instances, connected), pepper, usage, recordedRequests], canary },
    delete:           { uses: [write(keys)] },
    deletecollection: { uses: [write(keys)], ...small },
  },
  OwnedAccessKeyRotation:           { uses: [write(keys), pepper], canary },
  OwnedAccessKeyAccessReview:       { uses: [read(keys), presented, gatesAndEnds, read(trusts, providers, instances, connected), usage] },
  OwnedAccessKeyUsage:              { uses: [read(keys), readUsage, usage] },
  OwnedAccessKeyHistory:            { uses: [read(keys), readHistory, usage] },
  AccessKeyRevocation:              { uses: [write(keys), write(trusts), expired, readBound, usage], ...small },
  AccessKeyLookup:                  { uses: [read(keys), presented, pepper, usage], throttle: 'reports' },
  FederatedIdentityCredential: {
    create:           { uses: [write(trusts), read(keys, providers, instances, connected), usage] },
    get:              { uses: [read(trusts)] },
    list:             { uses: [list(trusts), read(keys), gates, presented, watches], ...listsOf('credential', 'federated identity credentials') },
    update:           { uses: [write(trusts), read(keys, providers, instances, connected), gates, usage] },
    patch:            { uses: [write(trusts), read(keys, providers, instances, connected), gates, usage] },
    delete:           { uses: [write(trusts), gates] },
    deletecollection: { uses: [write(trusts), read(keys), gates, presented], ...small, name: 'federatedidentitycredentials-deleteall' },
  },
  IdentityProvider: {
    create:           { uses: [write(providers), read(keys, trusts, instances, connected), usage] },
    get:              { uses: [read(providers)] },
    list:             { uses: [list(providers), read(keys), gates, presented, watches], ...listsOf('provider', 'identity providers') },
    update:           { uses: [write(providers), read(keys), list(trusts), read(instances, connected), gates, usage] },
    patch:            { uses: [write(providers), read(keys), list(trusts), read(instances, connected), gates, usage] },
    delete:           { uses: [write(providers), gates] },
    deletecollection: { uses: [write(providers), read(keys), gates, presented], ...small },
  },
  VirtualClusterInstance: {
    create:           { uses: [write(instances), read(keys, trusts, providers, connected), usage] },
    get:              { uses: [read(instances)] },
    list:             { uses: [list(instances), read(keys), gates, presented, watches], canary, ...listsOf('instance', 'virtual cluster instances') },
    update:           { uses: [write(instances), read(keys, trusts, providers, connected), usage] },
    patch:            { uses: [write(instances), read(keys, trusts, providers, connected), usage] },
    delete:           { uses: [write(instances)] },
    deletecollection: { uses: [write(instances), read(keys), gates, presented], ...small },
  },
  Cluster: {
    create:           { uses: [write(connected), read(keys, trusts, providers, instances), usage] },
    get:              { uses: [read(connected)] },
    list:             { uses: [list(connected), read(keys), gates, presented, watches], ...listsOf('cluster', 'clusters') },
    update:           { uses: [write(connected), read(keys, trusts, providers, instances), usage] },
    patch:            { uses: [write(connected), read(keys, trusts, providers, instances), usage] },
    delete:           { uses: [write(connected)] },
    deletecollection: { uses: [write(connected), read(keys), gates, presented], ...small },
  },
  VirtualClusterInstanceKubeConfig: { uses: [read(instances, keys), gates, presented, sign, bindTokens, clusters], canary, warm, path: 'virtualclusterinstances/kubeconfig/create' },
  ClusterKubeConfig:                { uses: [read(connected, keys), sign, bindTokens, connectedSecrets], path: 'clusters/kubeconfig/create' },
  DirectClusterEndpointToken:       { uses: [sign], canary },
  Self:                             { uses: [authenticate, gates, pepper, nameClustersRole] },
  SelfSubjectReview:                {},
  TokenReview:                      { uses: [authenticate, gates, read(instances), pepper, usage], canary, throttle: 'reviews' },
  SelfSubjectAccessReview:          { uses: [read(keys, trusts, providers, instances, connected)] },
  SelfSubjectRulesReview:           { uses: [read(keys, trusts, providers, instances, connected)] },
  SubjectAccessReview:              { uses: [read(keys), gatesAndEnds, read(trusts, providers, instances, connected), usage], canary, throttle: 'reviews' },
}

const groups = [...new Set([...kindRows.map(groupVersion), 'apiextensions.k8s.io/v1'])].flatMap((one) => [
  `/apis/${one.split('/')[0]}`,
  `/apis/${one}`,
])
const health = ['/healthz', '/livez', '/readyz'].flatMap((path) => [path, `${path}/{check}`])
const namespaces = '/api/v1/namespaces'
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

// biome-ignore format: a table
const others: Readonly<Record<string, Row>> = {
  authorizer:         { uses: [authenticate, gates, pepper, usage], canary, warm, throttled: ['authorizer', 'the authorizer'] },
  'namespaces/list':  { uses: [list(instances), read(keys), gates, presented, watches], routes: below.get(namespaces), ...listsOf('namespace', 'namespaces') },
  'namespaces/create': { routes: below.post(namespaces), ...small },
  'namespaces/update': { uses: [usage], routes: below.put(`${namespaces}/{name}`), ...small },
  'namespaces/patch':  { uses: [usage], routes: below.patch(`${namespaces}/{name}`), ...small },
  // The list is always empty, but clients watch every discovered resource. The function mostly waits, so little memory saves cost.
  'customresourcedefinitions/list': { uses: [watches], routes: below.get(definitions), ...listsOf('definition', 'custom resource definitions'), megabytes: 128 },
  discovery: {
    routes: [...below.get('/api', '/api/v1', `${namespaces}/{name}`, '/apis', ...groups, `${definitions}/{name}`), ...open(below.get('/version', ...health))],
    ...small,
  },
  // Streamed because it also returns bytes. From other functions, API Gateway accepts bytes only for configured media types.
  openapi: { routes: below.get('/openapi/v2', '/openapi/v3', '/openapi/v3/{document+}'), streams: true, ...small },
  issuer: {
    uses: [publishedKeys],
    routes: open([
      ...below.get('/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/openid/v1/jwks'),
      ...atRoot.get(`/.well-known/oauth-authorization-server${BASE_PATH}`),
    ]),
    ...small,
  },
  // An ID token is the credential. ANY answers other methods, which the catch-all would ask for a key.
  'oauth2/token':  { uses: [write(keys), read(trusts, providers, instances, connected), exchange, pepper, issuers, sign, clusterSecrets, bindTokens, connectedSecrets, usage], routes: postOnly('/oauth2/token'), canary, throttle: 'exchanges', throttled: ['exchanges', 'exchanges'] },
  'oauth2/revoke': { uses: [write(keys), pepper, publishedKeys, endTokens, readBound], routes: postOnly('/oauth2/revoke'), throttle: 'exchanges' },
  // Whoever can show a value may have it ended.
  leaks: { uses: [write(keys), pepper, leaks], routes: postOnly('/leaks'), throttle: 'reports', concurrency: 'LeakConcurrency', throttled: ['leaks', 'reports of leaked access keys'] },
  // The console is only code, and asks the API with the key of whoever signs in. At the root of the stage, because the paths below
  // the base path are those of Kubernetes. Streamed because it returns compressed bytes.
  console:  { routes: open(atRoot.get('/console', '/console/{proxy+}')), streams: true, throttle: 'pages', ...small },
  notfound: { routes: atRoot.any('/', '/{proxy+}'), ...small },
  // `npm run bootstrap` invokes it. A principal who may invoke it can create an administrator's key.
  bootstrap: { uses: [write(keys), pepper, bootstrap], unversioned: true, ...small },
  // CloudFormation invokes it for the resources Release and Published (infra/stack/rollouts.ts).
  release: { publishes: true, unversioned: true, seconds: 300, ...small },
  sweep:   { uses: [write(keys), expired], every: 'hour', seconds: 300, ...small },
  settle:  { uses: [settle(keys), settle(trusts), settle(providers), settle(instances), settle(connected)], every: 'minute', seconds: 60, ...small },
  garbagecollector: { uses: [write(keys), write(trusts), write(providers), write(instances), write(connected), owners, progress], every: 'hour', stream: 'changes', seconds: 300, throttled: ['collector', 'the garbage collector'], ...small },
  // Publishes events. Runs at the same time are safe, and each one begins where the others have come to.
  lifecycle: { uses: [write(keys), list(trusts), expired, signals, position, forgetUsage, endUnused, keepHistory, publish, endings], every: 'minute', stream: 'wakes', seconds: 60, ...small },
  // Removes the Secrets of ended keys from clusters. A cluster that is away delays nothing else.
  boundsecrets: { uses: [read(keys, connected, instances), gates, expired, boundSecrets, connectedSecrets, clusterSecrets], every: 'minute', isWoken: true, seconds: 60, ...small },
}

function postOnly(...paths: string[]): Route[] {
  return open([...below.post(...paths), ...below.any(...paths)])
}

export interface DeployedFunction extends Omit<Row, 'routes' | 'name' | 'path'> {
  /** Its module below functions/. */
  path: string
  /** Its name after that of the deployment. */
  name: string
  /** What the logical IDs of its resources begin with. */
  id: string
  routes: readonly Route[]
  megabytes: number
  seconds: number
}

const deployed = (path: string, { routes = [], name = flat(path), ...row }: Row): DeployedFunction => ({
  megabytes: 1769,
  seconds: 28,
  ...row,
  path: row.path ?? path,
  name,
  id: `${path.charAt(0).toUpperCase()}${flat(path).slice(1).replaceAll('-', 'Dash')}`,
  routes: withTwins(routes),
})

const flat = (path: string) => path.replaceAll('/', '-')

export function functionsOf(kind: KindRow): DeployedFunction[] {
  const { plural, singular, group, subresource = 'create' } = kind
  if (kind.archetype === 'stored') {
    const rows = ofKinds[kind.kind as StoredName]
    return verbs.map((verb) => deployed(`${plural}/${verb}`, { routes: routesOf(kind, verb), ...rows[verb] }))
  }
  const row = ofKinds[kind.kind as Exclude<KindName, StoredName>]
  const { path = group === MANAGEMENT_GROUP ? `${plural}/${subresource}` : `reviews/${singular}` } = row
  return [deployed(path, { routes: routesOf(kind), ...row })]
}

const { authorizer, ...rest } = Object.fromEntries(
  Object.entries(others).map(([path, row]) => [path, deployed(path, row)]),
)

/** The functions in the order of the table. */
export const functions: readonly DeployedFunction[] = [
  authorizer as DeployedFunction,
  ...kindRows.flatMap(functionsOf),
  ...Object.values(rest),
]
