/** In whose name controllers act. */
import { AUTHENTICATED, MASTERS } from '../authorization/identity.ts'
import type { RequestContext } from '../registry/kind.ts'

/** A request of nobody outside: user `system:controller:NAME`, a name that no key can have, which may do everything. */
export function controllerContext(name: string, now: Date): RequestContext {
  const user = `system:controller:${name}`
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
    warn: () => undefined,
    note: () => undefined,
  }
}
