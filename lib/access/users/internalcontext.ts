/** Builds the contexts of requests that the server itself makes. */
import type { Deadline } from '../../engine/meta/errors/deadline.ts'
import type { RequestContext } from '../../engine/registry/kind.ts'
import { AUTHENTICATED, MASTERS } from './identity.ts'

/** Returns the context of a user that no key can have, with full access. Controllers are `system:controller:NAME`. */
export function internalContext(user: `system:${string}`, now: Date, deadline: Deadline): RequestContext {
  return {
    user: {
      name: user,
      identity: `user:${user}`,
      groups: [MASTERS, AUTHENTICATED],
      key: { name: 'none', uid: '', type: '' },
      chain: [],
    },
    now,
    dryRun: false,
    deadline,
    warn: () => undefined,
    note: () => undefined,
  }
}
