/** Declares what a subresource of access keys says of who may use it. */
import type { UserInfo } from '../../../authorization/users/user.ts'
import type { Stored } from '../../../storage/interface.ts'
import type { Services } from './services.ts'

/** The access rule of a subresource, for users who may see the key. */
export interface SubresourceRule {
  /** The verb that the user must be allowed for the key itself. Absent: the request for the subresource must be allowed. */
  as?: string
  /** Returns why the user may not use the subresource of this key (403), or undefined. */
  forbids(user: UserInfo, key: Stored, services: Pick<Services, 'scopes'>): string | undefined
}
