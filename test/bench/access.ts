/** Stores access keys in the benchmark's own store, as the functions do. */
import { randomUUID } from 'node:crypto'
import type { KubeObject } from '../../lib/engine/meta/types.ts'
import { createObject } from '../../lib/engine/registry/create.ts'
import type { Store } from '../../lib/engine/registry/store.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { admin, contextOf } from '../support/users.ts'

/** Returns an access key of about 1 KB with its metadata. */
const spec = (name: string) => ({
  displayName: `The access key ${name} of a continuous integration job`,
  description: 'Deploys what the main branch has built to the staging cluster, and reads what became of it.',
  user: 'ci-bot',
  type: 'User',
  groups: ['deployers', 'readers'],
  ttl: 2_592_000,
  scope: {
    clusters: [{ cluster: 'staging' }, { cluster: 'production' }],
    roles: [{ role: 'platformCLI', projects: ['payments', 'search'] }],
    rules: [
      {
        verbs: ['get', 'list', 'watch'],
        resources: [{ group: 'management.platform', resources: ['virtualclusterinstances', 'ownedaccesskeys'] }],
      },
    ],
  },
})

export const accessKey = (name: string): KubeObject => ({
  apiVersion: `${OwnedAccessKey.group}/${OwnedAccessKey.version}`,
  kind: OwnedAccessKey.kind,
  metadata: { name, labels: { team: 'platform', stage: 'staging' } },
  spec: spec(name),
})

/** Stores an access key and returns its value. */
export const createKey = (store: Store, name: string): Promise<string> => storeKey(store, accessKey(name))

/** Stores the access key of an administrator and returns its value. */
export const createAdmin = (store: Store): Promise<string> =>
  storeKey(store, { ...accessKey(unique()), spec: { user: 'admin', groups: ['system:masters'] } })

async function storeKey(store: Store, object: KubeObject): Promise<string> {
  const { reveal } = await createObject(store, { object, secrets: [] }, contextOf(admin))
  const key = reveal?.find(({ path }) => path.join('.') === 'spec.key')?.value
  if (typeof key !== 'string') throw new Error('the answer to a create shows no key')
  return key
}

export const unique = (): string => `bench-${randomUUID()}`
