/** Defines SelfSubjectReview, which `kubectl auth whoami` creates. Source: k8s.io/api authentication/v1. */
import { runOfUser } from '../access/users/identity.ts'
import { EXTRA } from '../clusters/token/contract.ts'
import { list, map, object, string } from '../engine/meta/schema/schema.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import type { VirtualKind } from '../engine/registry/kind.ts'
import { KINDS } from '../kinds.ts'

/** Schema of a user in the status of a review. */
export const userInfoSchema = object('The user.', {
  username: string('Name of the user.'),
  uid: string('Unique ID of the user.'),
  groups: list('Groups of the user.', string('A group.')),
  extra: map('Additional information about the user.', list('Values.', string('A value.'))),
})

export const SelfSubjectReview: VirtualKind<unknown> = {
  ...KINDS.SelfSubjectReview,
  description: 'Returns the user who makes the request.',
  schema: {
    spec: object('Always empty.', {}),
    status: object('Result of the review.', { userInfo: userInfoSchema }),
  },
  protobuf: {},
  async create({ object, context }) {
    const { spec: _, ...rest } = object
    const { name, uid, groups, key } = context.user
    const extra: JsonObject = { [EXTRA.key]: [key.name], [EXTRA.run]: [runOfUser(context.user)] }
    return { ...rest, status: { userInfo: { username: name, ...(uid && { uid }), groups: [...groups], extra } } }
  },
}
