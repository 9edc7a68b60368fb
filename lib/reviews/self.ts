/** Defines Self, which returns the user and the access key of a request. */
import { identityOf, isMaster, nameOf, runOfUser } from '../access/users/identity.ts'
import type { UserInfo } from '../access/users/user.ts'
import { rfc3339OfUnix } from '../engine/meta/encoding/time.ts'
import { forbidden, unauthorized } from '../engine/meta/errors/status.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import type { RequestContext, VirtualKind } from '../engine/registry/kind.ts'
import { KINDS } from '../kinds.ts'
import type { SelfServices } from './reviewservices.ts'
import { spec, status } from './self.schema.ts'

/**
 * Returns the user that an access key authenticates. Throws the same 401 as a request with that key, so that Self reveals
 * no more than using the key does.
 */
async function holderOf(accessKey: string, context: RequestContext, services: SelfServices): Promise<UserInfo> {
  const isRecorded = !context.dryRun
  const authentication = await services.authenticate(accessKey, { writes: isRecorded })
  if ('unknown' in authentication) throw unauthorized()
  if ('dead' in authentication) throw unauthorized(authentication.dead)
  if ('outside' in authentication) throw forbidden(authentication.outside)
  const { user } = authentication
  context.note('reviewedKey', user.key.name)
  await services.admit(authentication, { isRecorded }, 'self')
  return user
}

export const Self: VirtualKind<SelfServices> = {
  ...KINDS.Self,
  description: 'Returns the user and the access key of the request, or of the access key in spec.',
  schema: { spec, status },
  async create({ object: self, context }, services) {
    const { accessKey, ...spec } = (self.spec ?? {}) as { accessKey?: string }
    const user = accessKey ? await holderOf(accessKey, context, services) : context.user
    const identity = identityOf(user)
    const { name, key, groups, chain } = user
    const who: JsonObject = identity.startsWith('team:')
      ? { team: { name: nameOf(identity) } }
      : {
          user: {
            name,
            username: name,
            displayName: key.displayName ?? nameOf(identity),
            ...(key.email !== undefined && { email: key.email }),
            subject: name,
          },
        }
    const scope = chain.at(-1)
    return {
      ...self,
      ...(self.spec && { spec }),
      status: {
        ...who,
        subject: name,
        uid: key.uid,
        groups: [...groups],
        accessKey: key.name,
        accessKeyType: key.type,
        run: runOfUser(user),
        ...(scope && { accessKeyScope: scope as JsonObject }),
        ...(key.expires !== undefined && { expirationTimestamp: rfc3339OfUnix(key.expires) }),
        ...(isMaster(user) &&
          chain.length === 0 &&
          services.clustersRole && { clustersRoleARN: services.clustersRole }),
        projectNamespacePrefix: services.scopes.projectNamespacePrefix,
      },
    }
  },
}
