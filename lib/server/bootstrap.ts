/**
 * Creates the secrets that a deployment needs before its first request: the pepper of the key hashes, and the first access key, in
 * group system:masters. It writes both to Secrets Manager, where an empty secret counts as absent, and never prints them. Run it
 * again when all administrator keys are lost: it creates a new key unless the stored key still works.
 */

import { randomBytes } from 'node:crypto'
import { MASTERS } from '../access/users/identity.ts'
import { internalContext } from '../access/users/internalcontext.ts'
import { groupVersion } from '../engine/meta/groupversion.ts'
import { updateManagers } from '../engine/meta/managedfields/fieldmanager.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { createObject } from '../engine/registry/create.ts'
import { managerArguments } from '../engine/registry/managerarguments.ts'
import { generateAccessKey } from '../keys/credential/accesskey.ts'
import { FIRST_KEY } from '../keys/ownedaccesskey.texts.ts'
import { OwnedAccessKey } from '../keys/ownedaccesskey.ts'
import { authenticate } from '../keys/requests/authenticate.ts'
import { authenticationDeps } from './authentication.ts'
import { requestDeadline } from './lambda/requestdeadline.ts'
import { createServer, type Server } from './server.ts'

const firstKeyObject: KubeObject = {
  apiVersion: groupVersion(OwnedAccessKey),
  kind: OwnedAccessKey.kind,
  metadata: { generateName: `${FIRST_KEY.user}-` },
  spec: {
    displayName: 'First access key',
    ...FIRST_KEY,
    groups: [MASTERS],
    type: 'User',
  },
}

async function isUsable(key: string, server: Server): Promise<boolean> {
  const found = await authenticate(
    key,
    authenticationDeps(server, () => undefined),
  )
  // A key that is limited to addresses is usable from those.
  const user = 'user' in found ? found.user : 'outside' in found ? found.holder : undefined
  return user?.groups.includes(MASTERS) === true
}

/** Stores an access key object with this key. */
async function store(key: string, server: Server, now: Date): Promise<void> {
  const object = updateManagers({
    ...managerArguments(OwnedAccessKey, 'bootstrap', now),
    live: undefined,
    updated: firstKeyObject,
  })
  await createObject(
    server.storeOf(OwnedAccessKey),
    { object, secrets: [{ path: ['spec', 'key'], value: key }] },
    internalContext('system:bootstrap', now, requestDeadline(server, now.getTime())),
  )
}

/**
 * Ensures that the key in the secret gives access as an administrator. A key that no longer works is replaced and never
 * restored: it may have been deleted because it leaked. The object is stored before the secret. If a run stops in
 * between, it leaves an object whose key is lost, but never a secret with an invalid key.
 */
export async function ensureFirstKey(server: Server, secretId: string): Promise<'kept' | 'made'> {
  const known = await server.secrets.find(secretId)
  if (known && (await isUsable(known, server))) return 'kept'
  const key = generateAccessKey(randomBytes)
  await store(key, server, new Date())
  await server.secrets.put(secretId, key)
  return 'made'
}

/** Creates the pepper unless it exists. It is never replaced: without it, every stored key becomes invalid. */
async function ensurePepper({ secrets }: Server, secretId: string): Promise<'kept' | 'made'> {
  if (await secrets.find(secretId)) return 'kept'
  await secrets.put(secretId, JSON.stringify({ current: '1', peppers: { 1: randomBytes(32).toString('base64') } }))
  return 'made'
}

/** Returns the handler that `npm run bootstrap` invokes. It reports what it did, never the secrets. */
export function bootstrapHandler() {
  const server = createServer(process.env)
  return async (): Promise<{ pepper: string; accessKey: string }> => {
    const { pepperSecretId, accessKeySecretId } = server.config
    const done = {
      pepper: await ensurePepper(server, pepperSecretId),
      accessKey: await ensureFirstKey(server, accessKeySecretId),
    }
    server.log('info', 'bootstrap', done)
    return done
  }
}
