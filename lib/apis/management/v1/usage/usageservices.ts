/** Declares the services with which usage is read. `lib/server/server.ts` implements them. */
import type { ScopeOptions } from '../../../../authorization/scopes/project.ts'
import type { SpaceOptions } from '../../../../authorization/scopes/space.ts'
import type { Storage } from '../../../../storage/interface.ts'
import type { Services } from '../services.ts'

export interface UsageServices extends Services {
  scopes: ScopeOptions & SpaceOptions
  storage: Storage
  /** Whether the deployment records usage. */
  recordUsage: boolean
}
