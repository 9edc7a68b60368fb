/** Self: who am I, as the field's clients ask it. */

import { scopeSchema } from '../../../authorization/scopes/scope.ts'
import { identityOf, nameOf } from '../../../authorization/users/identity.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { unauthorized } from '../../../meta/errors/status.ts'
import { list, object, string } from '../../../meta/schema/schema.ts'
import type { JsonObject } from '../../../meta/types.ts'
import type { RequestContext, VirtualKind } from '../../../registry/kind.ts'
import { group, version } from './group.ts'
import type { Services } from './services.ts'

const person = object('The user or the subject, when the key stands for one.', {
  name: string('Name of the user; subject:SUBJECT for a subject.'),
  username: string('Username.'),
  displayName: string('Name for people.'),
  email: string('Email address.'),
  subject: string('Subject of the user.'),
})

/**
 * Returns whom a given access key stands for. Throws 401 in the words that a request with that key would be refused with, so
 * it tells nobody more than presenting the key does.
 */
async function holderOf(accessKey: string, context: RequestContext, { authenticate }: Services): Promise<UserInfo> {
  const authentication = await authenticate(accessKey)
  if ('unknown' in authentication) throw unauthorized()
  if ('dead' in authentication) throw unauthorized(authentication.dead)
  const { user, touch } = authentication
  context.note('reviewedKey', user.key.name)
  if (!context.dryRun) await touch()
  return user
}

export const Self: VirtualKind<Services> = {
  archetype: 'virtual',
  group,
  version,
  kind: 'Self',
  plural: 'selves',
  singular: 'self',
  scope: 'Cluster',
  description: 'The user and the access key that a request is made with, or that are asked for.',
  schema: {
    spec: object('What is asked.', {
      accessKey: string('The access key to use instead of that of the request. Never shown.', { writeOnly: 'never' }),
    }),
    status: object('The answer.', {
      user: person,
      team: object('The team, when the key stands for one.', { name: string('Name of the team.') }),
      subject: string('Whom the key stands for: a user, team:TEAM or subject:SUBJECT.'),
      uid: string('UID of the access key.'),
      groups: list('Groups of the user.', string('A group.')),
      accessKey: string('Name of the access key, not its value.'),
      accessKeyType: string('Type of the access key.'),
      accessKeyScope: scopeSchema,
      projectNamespacePrefix: string('The objects of project P lie in the namespace with this prefix.'),
    }),
  },
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
        ...(scope && { accessKeyScope: scope as JsonObject }),
        projectNamespacePrefix: services.scopes.projectNamespacePrefix,
      },
    }
  },
}
