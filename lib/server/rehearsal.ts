/**
 * Makes the request with which a function rehearses its verb while it initializes, because the engine compiles code when it
 * first runs. A rehearsal reaches no store, logs nothing, and its answer is discarded.
 */
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { encode } from '../authentication/requests/usercontext.ts'
import { AUTHENTICATED, MASTERS } from '../authorization/users/identity.ts'
import type { UserInfo } from '../authorization/users/user.ts'
import { groupVersion } from '../meta/groupversion.ts'
import type { KindInfo } from '../registry/kind.ts'
import type { Storage } from '../storage/interface.ts'
import { decide } from './decide.ts'
import type { Server } from './server.ts'
import { storeOf } from './stores.ts'

function refuse(): never {
  throw new Error('a rehearsal reads and writes nothing')
}

/** A store whose every operation is refused. */
const unreachable = new Proxy({}, { get: () => refuse }) as Storage

/** Returns the server of a rehearsal. It refuses everything that reads or writes, whatever the request is. */
export function rehearsalServer(server: Server): Server {
  const parts: (keyof Server)[] = ['secrets', 'signer', 'tokens', 'kubeConfigs', 'keys', 'usage']
  const services: (keyof Server)[] = [
    'hashes',
    'authenticate',
    'instance',
    'checkKeyHolds',
    'keyGeneration',
    'reviewedKey',
    'sideItem',
    'instanceUid',
    'openWatch',
  ]
  // Those of `server` would use its stores and its keys.
  const made: Pick<Server, 'decide' | 'storeOf'> = {
    decide: (context, attributes) => decide(rehearsal, context, attributes),
    storeOf: (kind) => storeOf(kind, rehearsal),
  }
  const rehearsal: Server = Object.create(server, {
    ...Object.fromEntries(parts.map((name) => [name, { get: refuse }])),
    ...Object.fromEntries(services.map((name) => [name, { value: refuse }])),
    ...Object.getOwnPropertyDescriptors(made),
    storage: { value: unreachable },
    log: { value: () => undefined },
  })
  return rehearsal
}

const methods: Readonly<Record<string, string>> = {
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}

/** Returns the event of a request for an object whose name is invalid, so that no object has it. It is a dry run. */
export function rehearsalEvent(verb: string, kind: KindInfo): APIGatewayProxyEvent {
  const name = '-'
  const user: UserInfo = {
    name: 'system:rehearsal',
    groups: [MASTERS, AUTHENTICATED],
    key: { name, uid: name, type: 'User' },
    chain: [],
  }
  const body = { apiVersion: groupVersion(kind), kind: kind.kind, metadata: { name }, spec: {} }
  const type = verb === 'patch' ? 'application/merge-patch+json' : 'application/json'
  const event = {
    httpMethod: methods[verb] ?? 'GET',
    resource: '/',
    path: '/',
    pathParameters: { name, namespace: name },
    headers: { Accept: 'application/json', 'Content-Type': type, 'User-Agent': 'rehearsal' },
    queryStringParameters: { dryRun: 'All' },
    body: JSON.stringify(body),
    requestContext: {
      requestId: '',
      requestTimeEpoch: Date.now(),
      authorizer: { user: encode(user) },
      identity: { sourceIp: '', userAgent: null },
    },
  }
  return event as unknown as APIGatewayProxyEvent
}
