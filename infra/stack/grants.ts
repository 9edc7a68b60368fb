/**
 * What functions may do beyond writing logs, and the variables that name the resources for it. The role of a function
 * (functions.ts) has the statements of the grants in its `uses`.
 *
 * Access to the table is restricted by partition keys: those of kinds (lib/engine/storage/keys.ts) and of side items (../sideitems.ts).
 * All items of a transaction are in one statement, so it applies whether IAM evaluates them one by one or together.
 * ForAllValues also matches calls without a partition key (Scan), so only operations with a partition key are granted.
 */
import { KINDS } from '../../lib/kinds.ts'
import type { SidePartition } from '../sideitems.ts'
import { allow, arn, att, either, named, onlyIf, ref, sub, type Value } from './intrinsics.ts'
import { allowWithKeys, signingKeyIds } from './signingkeys.ts'

export interface Grant {
  statements: readonly Value[]
  /** Variables of the function. */
  variables?: Readonly<Record<string, Value>>
  /** Set if the function is connected to the network of the settings: the condition with which it is. */
  network?: 'HasVpc' | 'HasVpcForIssuers'
}

/** The name of the function that removes Secrets from clusters. */
const BOUND_SECRETS = 'boundsecrets'

type Plural = (typeof KINDS)[keyof typeof KINDS]['plural']
type Partition = Plural | `${Plural}#${string}` | SidePartition

type Operation = 'GetItem' | 'BatchGetItem' | 'Query' | 'ConditionCheckItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem'

const onTable = (operations: Operation | readonly Operation[], partitions: readonly Partition[]): Value =>
  allow(
    typeof operations === 'string' ? `dynamodb:${operations}` : operations.map((one) => `dynamodb:${one}`),
    att('Table', 'Arn'),
    { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions } },
  )

const table = (...statements: Value[]): Grant => ({ statements, variables: { TABLE_NAME: ref('Table') } })

const READ = ['GetItem', 'BatchGetItem'] as const
const WRITE = ['PutItem', 'UpdateItem', 'DeleteItem'] as const

/** A stored kind as the table has it. */
export interface StoredRows {
  plural: Plural
  /** Partitions with rows by owner. */
  copies: readonly Partition[]
  /** Partitions that are read with every object. */
  beside: readonly Partition[]
  /** Partitions that are written with an object. */
  written: readonly Partition[]
  /** What a write demands of other items. */
  checks?: Value
}

const rows = (plural: Plural, more: Partial<StoredRows> = {}): StoredRows => ({
  plural,
  copies: [],
  beside: [],
  written: [],
  ...more,
})
const byOwner = (plural: Plural): Partition[] => [`${plural}#o#*`]
const { OwnedAccessKey, FederatedIdentityCredential, IdentityProvider, VirtualClusterInstance, Cluster } = KINDS

export const keys = rows(OwnedAccessKey.plural, {
  copies: byOwner(OwnedAccessKey.plural),
  beside: [`${OwnedAccessKey.plural}#activity`],
  written: [`${OwnedAccessKey.plural}#activity`, 'credential#*', 'ended#*'],
  checks: onTable([...READ, 'ConditionCheckItem'], ['credential#*', 'trust#*', 'provider#*', 'ended#*']),
})
/** The gates of trusts, and those of providers, are written with them (lib/keys/credential/gates.ts). */
export const trusts = rows(FederatedIdentityCredential.plural, {
  copies: byOwner(FederatedIdentityCredential.plural),
  beside: [`${FederatedIdentityCredential.plural}#activity`],
  written: [`${FederatedIdentityCredential.plural}#activity`, 'trust#*', 'ending'],
  checks: onTable('ConditionCheckItem', ['credential#*', 'trust#*', 'provider#*']),
})
export const providers = rows(IdentityProvider.plural, {
  written: ['provider#*', 'ending'],
  checks: onTable('ConditionCheckItem', ['credential#*', 'trust#*', 'provider#*']),
})
/** A cluster that is removed ends tokens of its service accounts. */
export const instances = rows(VirtualClusterInstance.plural, { written: ['ending'] })
export const connected = rows(Cluster.plural, { written: ['ending'] })

/** Reads objects by key, and the latest revision of the kind. */
export const read = (...kinds: readonly StoredRows[]): Grant =>
  table(...kinds.map(({ plural, beside }) => onTable(READ, [plural, `${plural}#o`, `${plural}#deleted`, ...beside])))

/** Lists and watches. They also void the log slots of failed writers (PutItem), and settle the log (UpdateItem of the revision). */
export const list = ({ plural, copies, beside }: StoredRows): Grant =>
  table(
    onTable([...READ, 'Query'], [plural, `${plural}#o`, `${plural}#deleted`, ...copies, `${plural}#log#*`, ...beside]),
    onTable('PutItem', [`${plural}#log#*`]),
    onTable('UpdateItem', [plural]),
  )

/** Settles the change log, and moves tombstones out of the rows (lib/engine/storage/protocol/clear.ts). */
export const settle = (kind: StoredRows): Grant => {
  const { plural, copies } = kind
  const statements = [onTable('PutItem', [`${plural}#deleted`]), onTable('DeleteItem', [`${plural}#o`, ...copies])]
  return table(...list(kind).statements, ...statements)
}

/** Lists, and writes in transactions: a writer reads like a list. */
export const write = (kind: StoredRows): Grant => {
  const { plural, copies, written, checks } = kind
  const partitions: Partition[] = [`${plural}#o`, ...copies, `${plural}#log#*`, ...written, 'owner#*']
  return table(...list(kind).statements, ...(checks === undefined ? [] : [checks]), onTable(WRITE, partitions))
}

/**
 * Reads the credential of a presented key, and the activity of a key with several values. Updates both with a use, and writes signals:
 * that of a first use in the same transaction.
 */
export const authenticate = table(
  onTable(READ, ['credential#*', 'ownedaccesskeys#activity']),
  onTable('UpdateItem', ['credential#*', 'ownedaccesskeys#activity', 'signal#*', 'usage#*', 'history#*']),
  onTable('PutItem', ['signal#*']),
)

/** Records what keys do. */
export const usage = table(onTable('PutItem', ['usage#*']))

/** Reads what is recorded about a key whose scope a dry run narrows. */
export const recordedRequests = table(onTable('Query', ['usage#*']))

/** Removes what is recorded about deleted keys, and marks since when usage is recorded. */
export const forgetUsage = table(
  onTable(['Query', 'DeleteItem'], ['usage#*']),
  onTable(['GetItem', 'PutItem', 'DeleteItem'], ['recording']),
)

/** Reads what is recorded about keys, and since when. */
export const readUsage = table(onTable(['BatchGetItem', 'Query'], ['usage#*', 'recording', 'lifecycle#position']))

/** Keeps what happened to keys, and removes it with them. */
export const keepHistory = table(onTable(['Query', 'PutItem', 'DeleteItem'], ['history#*']))

/** Reads it, and since when it is kept, and the names of the keys that a key made. */
export const readHistory = table(
  onTable('Query', ['history#*', `${OwnedAccessKey.plural}#o#made:*`]),
  onTable('GetItem', ['lifecycle#position']),
)

/** Judges the presented key again, and reads the values of a key while a rotation is open. Use it together with a grant that reads the activity of keys. */
export const presented = table(onTable(READ, ['credential#*']))

/** Reads the gates of exchanged keys. For functions that judge whether a key is still valid. */
export const gates = table(onTable(READ, ['trust#*', 'provider#*']))

/** The same, and reads which tokens of a key for several clusters have ended. One statement: they are read in one call. */
export const gatesAndEnds = table(onTable(READ, ['trust#*', 'provider#*', 'ended#*']))

/** Counts the open watches of access keys. */
export const watches = table(onTable(['Query', 'PutItem', 'DeleteItem'], ['watches#*']))

/** Reads the dependents of an owner. */
export const owners = table(onTable('Query', ['owner#*']))

/** Reads and writes the progress of the garbage collector's pass over all objects. */
export const progress = table(onTable(['GetItem', 'PutItem'], ['collector#pass']))

/** Follows since when keys that nobody uses end, and reads what is recorded about them. Use it together with the grant that reads usage. */
export const endUnused = table(onTable(['GetItem', 'PutItem', 'DeleteItem'], ['unused']))

/** Reads and writes how far the publisher of events has come. */
export const position = table(onTable(['GetItem', 'PutItem'], ['lifecycle#position']))

/** Reads signals, marks those that recur as published, and removes them. */
export const signals = table(
  onTable(['Query', 'DeleteItem'], ['signal#*']),
  onTable(['BatchGetItem', 'PutItem'], ['told#*']),
)

/** Finds keys by the time at which they expire. */
export const expired = table(allow('dynamodb:Query', sub(`\${Table.Arn}/index/expiry`)))

/** Judges and marks the Secrets to which tokens are bound, and tells in the history of a key which clusters have not confirmed its end. Use it together with the grant that finds items by their time. */
export const boundSecrets = table(
  onTable(['GetItem', 'PutItem'], ['bound#*']),
  onTable('PutItem', ['boundplace']),
  onTable('PutItem', ['history#*']),
)

/** Reads which Secrets clusters have not removed. */
export const readBound = table(onTable([...READ, 'Query'], ['bound#*']))

/** Records the Secrets to which tokens are bound, and judges the key of the request in the same call. */
export const bindTokens = table(
  onTable(READ, ['bound#*', 'credential#*', 'trust#*', 'provider#*']),
  onTable('PutItem', ['bound#*', 'boundplace']),
)

/** Ends the record of a token that somebody presents, and has its Secret removed at once. Use it together with the grant that reads them. */
export const endTokens = table(onTable('PutItem', ['bound#*', 'ending']))

/** Brings them forward when something has ended keys, and wakes the function that removes them. */
export const endings: Grant = {
  variables: { TABLE_NAME: ref('Table'), SECRETS_FUNCTION: named(BOUND_SECRETS) },
  statements: [
    onTable(['Query', 'GetItem', 'PutItem'], ['bound#*']),
    onTable(['Query', 'PutItem', 'DeleteItem'], ['ending']),
    allow('lambda:InvokeFunction', arn('lambda', `function:keyplane-\${Stage}-${BOUND_SECRETS}`)),
  ],
}

/** Lambda uses the role of the function to read the stream and to send failed records to the queue. */
export const stream = (queue: string): Grant => ({
  statements: [
    allow(
      ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map((one) => `dynamodb:${one}`),
      att('Table', 'StreamArn'),
    ),
    allow('sqs:SendMessage', att(queue, 'Arn')),
  ],
})

/** Puts events on the bus of the setting event-bus: a name, an ARN, or none. */
export const publish: Grant = {
  variables: { EVENT_BUS: ref('EventBus') },
  statements: [
    onlyIf(
      'HasEventBus',
      allow('events:PutEvents', either('HasArnOfEventBus', ref('EventBus'), arn('events', `event-bus/\${EventBus}`))),
    ),
  ],
}

const KEY_WRITES = ['ownedaccesskeys#o', 'ownedaccesskeys#o#*', 'ownedaccesskeys#log#*'] as const

/**
 * Exchanges ID tokens: keeps the keys of issuers, and records the tokens that were exchanged in the transaction of the key, whose puts
 * are in one statement, and reads clusters and virtual clusters in one call. No function may change or remove such a record. It notes
 * a refusal beside the trust, as long as that exists.
 */
export const exchange = table(
  onTable([...READ, 'PutItem'], ['jwks#*']),
  onTable([...READ, 'Query'], ['exchange#*']),
  onTable('BatchGetItem', [`${Cluster.plural}#o`, `${VirtualClusterInstance.plural}#o`]),
  onTable('ConditionCheckItem', [`${FederatedIdentityCredential.plural}#o`]),
  onTable('UpdateItem', [`${FederatedIdentityCredential.plural}#activity`]),
  onTable('PutItem', ['exchange#*', ...KEY_WRITES, 'credential#*', 'owner#*']),
)

/**
 * Ends reported values: puts the signal of a leak by itself, and in the transaction of the key, whose puts are in one statement. It
 * counts a report once a day.
 */
export const leaks = table(
  onTable('GetItem', ['told#*']),
  onTable('PutItem', ['signal#*', ...KEY_WRITES, 'ownedaccesskeys#activity', 'credential#*', 'owner#*']),
)

export const pepper: Grant = {
  variables: { PEPPER_SECRET_ID: ref('Pepper') },
  statements: [allow('secretsmanager:GetSecretValue', att('Pepper', 'Id'))],
}

/** Fills the secrets that CloudFormation leaves empty. */
export const bootstrap: Grant = {
  variables: { ACCESS_KEY_SECRET_ID: ref('AccessKey') },
  statements: [
    allow(
      ['secretsmanager:GetSecretValue', 'secretsmanager:PutSecretValue'],
      [att('Pepper', 'Id'), att('AccessKey', 'Id')],
    ),
  ],
}

const publishKeys = allowWithKeys('kms:GetPublicKey')

export const publishedKeys: Grant = { variables: { SIGNING_KEY_IDS: signingKeyIds }, statements: [publishKeys] }

export const sign: Grant = { ...publishedKeys, statements: [allowWithKeys('kms:Sign'), publishKeys] }

/**
 * The role that access entries of clusters of EKS name. It is not part of the stack: a new deployment of the stage must find the same
 * role, and a role with a fixed name would block it. It needs no rights, because a cluster asks only whose it is.
 */
const roleInPath = (path: string) =>
  sub(`arn:\${AWS::Partition}:iam::\${AWS::AccountId}:role${path}keyplane-\${Stage}-clusters`)
const clustersRole = either('HasRolePath', roleInPath(`\${RolePath}`), roleInPath('/'))

/** Shows administrators which role it is. */
export const nameClustersRole: Grant = { variables: { CLUSTERS_ROLE_ARN: clustersRole }, statements: [] }

/** For the functions that call connected clusters. */
export const connectedSecrets: Grant = {
  variables: {
    CLUSTER_SECRETS_PREFIX: sub(`keyplane/\${Stage}/clusters/`),
    CLUSTERS_ROLE_ARN: clustersRole,
  },
  statements: [
    allow('secretsmanager:GetSecretValue', arn('secretsmanager', `secret:keyplane/\${Stage}/clusters/*`)),
    allow('sts:AssumeRole', clustersRole),
  ],
  network: 'HasVpc',
}

/** Reads the credentials of virtual clusters, which say what their certificate authorities are. */
export const clusterSecrets: Grant = {
  variables: { VIRTUAL_CLUSTER_SECRETS_PREFIX: sub(`keyplane/\${Stage}/virtualclusters/`) },
  statements: [
    allow('secretsmanager:GetSecretValue', arn('secretsmanager', `secret:keyplane/\${Stage}/virtualclusters/*`)),
  ],
}

/** For the function that calls virtual clusters. */
export const clusters: Grant = { ...clusterSecrets, network: 'HasVpc' }

/** For the function that calls issuers, which may be at private addresses. */
export const issuers: Grant = { statements: [], network: 'HasVpcForIssuers' }
