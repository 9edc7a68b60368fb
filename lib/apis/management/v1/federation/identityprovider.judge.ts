/** Judges a write of an identity provider: validates it, and warns about what it leaves open. Loaded with the first write. */
import type { FieldError } from '../../../../meta/errors/fielderror.ts'
import { deepEqual } from '../../../../meta/value/equal.ts'
import type { Draft, RequestContext } from '../../../../registry/kind.ts'
import type { Stored } from '../../../../storage/interface.ts'
import type { Services } from '../services.ts'
import { providerWarnings, validateProvider } from './identityprovider.validate.ts'
import { specOf } from './identityprovider.values.ts'

/** Returns the 422 errors of a create or a change. Warns if there are none. */
export async function judgeProvider(
  services: Services,
  { object }: Draft,
  old: Stored | undefined,
  { user, warn }: RequestContext,
): Promise<FieldError[]> {
  const { federation } = services
  const next = specOf(object)
  const before = old && specOf(old.object)
  const errors = validateProvider(next, before, federation)
  if (errors.length > 0) return errors
  for (const warning of providerWarnings(next, federation.issuer)) warn(warning)
  if (before === undefined || next.disabled || deepEqual(before.access, next.access)) return []
  const { accessWarnings } = await import('./identityprovider.access.ts')
  for (const warning of await accessWarnings(services, object.metadata.name ?? '', before, next, user)) warn(warning)
  return []
}
