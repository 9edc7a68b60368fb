/**
 * The first access key, in group system:masters: made once, straight into Secrets Manager, never printed. Run it again
 * when all administrators' keys are lost: as long as the kept key works nothing happens, else there is a new one.
 */
import { randomBytes } from 'node:crypto'
import { OwnedAccessKey } from '../lib/apis/management/v1/ownedaccesskey.ts'
import { generateKey } from '../lib/authentication/accesskey.ts'
import { authenticate } from '../lib/authentication/authenticate.ts'
import { AUTHENTICATED, MASTERS } from '../lib/authorization/identity.ts'
import { updateManagers } from '../lib/meta/fieldmanager.ts'
import { wholeObject } from '../lib/meta/typed.ts'
import type { KubeObject } from '../lib/meta/types.ts'
import { create } from '../lib/registry/create.ts'
import type { RequestContext } from '../lib/registry/kind.ts'
import { authenticationDeps } from '../lib/server/authorizer.ts'
import type { Server } from '../lib/server/services.ts'

/** The secret that holds the first access key. */
export interface KeptKey {
  /** The current value; undefined where there is none yet. */
  read(): Promise<string | undefined>
  write(key: string): Promise<void>
}

/** Nobody's request: what the deployment itself does. */
export function deploymentContext(now: Date): RequestContext {
  return {
    user: {
      name: 'system:bootstrap',
      identity: 'user:system:bootstrap',
      groups: [MASTERS, AUTHENTICATED],
      key: { name: 'none', uid: '', type: '' },
      chain: [],
    },
    now,
    dryRun: false,
    warn: () => undefined,
    note: () => undefined,
  }
}

const user = 'admin'

const objectOf = (name: string): KubeObject => ({
  apiVersion: 'management.platform/v1',
  kind: OwnedAccessKey.kind,
  metadata: { generateName: `${name}-` },
  spec: { displayName: 'First access key', description: 'Made by bootstrap.', user, groups: [MASTERS], type: 'User' },
})

async function works(key: string, server: Server): Promise<boolean> {
  const found = await authenticate(
    key,
    authenticationDeps(server, () => undefined),
  )
  return 'user' in found && found.user.groups.includes(MASTERS)
}

/** Stores an access key object with this value. */
async function store(key: string, server: Server, now: Date): Promise<void> {
  const { group, version, kind, schema } = OwnedAccessKey
  const object = updateManagers({
    live: undefined,
    updated: objectOf(user),
    manager: 'bootstrap',
    subresource: '',
    now,
    gvk: { group, version, kind },
    schema: wholeObject(schema),
  })
  await create(
    server.storeOf(OwnedAccessKey),
    { object, secrets: [{ path: ['spec', 'key'], value: key }] },
    deploymentContext(now),
  )
}

/**
 * Sees to it that the kept key gives access as an administrator. The key is kept before it is stored: a run that ends
 * between both leaves a key that the next run stores.
 */
export async function bootstrap(server: Server, kept: KeptKey): Promise<'kept' | 'made'> {
  const known = await kept.read()
  if (known !== undefined && (await works(known, server))) return 'kept'
  const now = new Date()
  if (known !== undefined && (await isUnknown(known, server))) {
    await store(known, server, now)
    return 'made'
  }
  const key = generateKey(randomBytes)
  await kept.write(key)
  await store(key, server, now)
  return 'made'
}

async function isUnknown(key: string, server: Server): Promise<boolean> {
  return (
    'unknown' in
    (await authenticate(
      key,
      authenticationDeps(server, () => undefined),
    ))
  )
}
