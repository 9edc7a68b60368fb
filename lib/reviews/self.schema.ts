/** Defines the fields of Self. */
import { scopeSchema } from '../access/scopes/scope.ts'
import { list, object, string, time } from '../engine/meta/schema/schema.ts'

const person = object('The user or subject, if the key authenticates one.', {
  name: string('Name of the user; subject:SUBJECT for a subject.'),
  username: string('Username.'),
  displayName: string('Display name.'),
  email: string('Email address.'),
  subject: string('Subject of the user.'),
})

export const spec = object('The access key to look up.', {
  accessKey: string('Access key to use instead of the one of the request. Never returned.', { writeOnly: 'never' }),
})

export const status = object('The user and the access key.', {
  user: person,
  team: object('The team, if the key authenticates one.', { name: string('Name of the team.') }),
  subject: string('Identity that the key authenticates: a user, team:TEAM or subject:SUBJECT.'),
  uid: string('UID of the access key.'),
  groups: list('Groups of the user.', string('A group.')),
  accessKey: string('Name of the access key object, not the key itself.'),
  accessKeyType: string('Type of the access key.'),
  run: string(
    'Run of the job that uses the access key, from the ID token of its exchange; “key NAME” for other keys. Clusters have it in their audit logs.',
  ),
  accessKeyScope: scopeSchema,
  expirationTimestamp: time('Time when the access key expires. Absent if it does not expire.'),
  clustersRoleARN: string(
    'ARN of the IAM role that access entries of Amazon EKS clusters name. Only for system:masters without a scope.',
  ),
  projectNamespacePrefix: string(
    'Prefix of project namespaces: the objects of a project are in the namespace PREFIX + PROJECT.',
  ),
})
