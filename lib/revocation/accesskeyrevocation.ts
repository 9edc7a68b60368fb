/** Defines AccessKeyRevocation, which disables or deletes many access keys at once (docs/leaks.md). */

import type { VirtualKind } from '../engine/registry/kind.ts'
import type { Services } from '../keys/services.ts'
import { KINDS } from '../kinds.ts'
import { type RevocationSpec, spec, status } from './accesskeyrevocation.schema.ts'

export const AccessKeyRevocation: VirtualKind<Services> = {
  ...KINDS.AccessKeyRevocation,
  description: 'Disables or deletes all access keys that match. Nothing of the request itself is stored.',
  grantsAccess: true,
  selectsObjects: true,
  schema: { spec, status },
  async create({ object, context }, services) {
    const asked = (object.spec ?? {}) as RevocationSpec
    // Lazy, because it is 59 KiB: a request that the schema refuses needs none of it.
    const { revokeKeys } = await import('./accesskeyrevocation.run.ts')
    const manager = object.metadata.managedFields?.[0]?.manager ?? ''
    return { ...object, status: await revokeKeys(services, asked, manager, context) }
  },
}
