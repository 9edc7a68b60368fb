/** Defines the options for the fields of a cluster that `create` and `edit` have in common. */
import type { JsonObject, JsonValue } from '../../../../../lib/engine/meta/types.ts'
import type { Values } from '../../arguments/command.ts'
import { split } from '../../arguments/lists.ts'
import { UsageError } from '../../io/errors.ts'
import { addressInFile, authorityInFile, type GivenAddress, serverIn } from '../../kubeconfig/givenaddress.ts'

/** Who issues the tokens, by the word of the option. */
const ISSUERS = { keyplane: 'Issuer', 'service-accounts': 'ServiceAccounts' } as const

export const clusterOptions = {
  'from-kubeconfig': {
    type: 'string',
    value: 'FILE',
    help: 'kube config from which the server, the certificate authority, the proxy and the TLS name are read, and nothing else',
  },
  'from-context': {
    type: 'string',
    value: 'NAME',
    help: 'context of that kube config',
    default: 'its current context',
  },
  server: { type: 'string', value: 'URL', help: 'instead of a kube config, the address of the API server' },
  ca: {
    type: 'string',
    value: 'FILE',
    help: 'with --server, its certificate authority, in PEM',
    default: 'public authorities',
  },
  'display-name': { type: 'string', value: 'TEXT', help: 'name for people' },
  description: { type: 'string', value: 'TEXT', help: 'what the cluster is for' },
  user: {
    type: 'string',
    multiple: true,
    value: 'USER',
    help: 'user who may see the cluster and get kube configs of it',
  },
  team: { type: 'string', multiple: true, value: 'TEAM', help: 'team whose members may do so' },
  tokens: {
    type: 'string',
    value: 'ISSUER',
    choices: Object.keys(ISSUERS),
    help: 'who issues the tokens of its kube configs: keyplane, or service-accounts of the cluster',
  },
  eks: {
    type: 'string',
    value: 'NAME',
    help: 'its name in Amazon EKS, by which keyplane reaches its service accounts',
  },
  region: { type: 'string', value: 'REGION', help: 'with --eks, its region in AWS' },
  'dry-run': { type: 'boolean', help: 'let the server check everything and change nothing' },
} as const

type ClusterValues = Values<typeof clusterOptions>

/** Returns the address that the options give, or undefined. Throws a UsageError if they contradict each other. */
export async function givenAddress(values: ClusterValues): Promise<GivenAddress | undefined> {
  const { 'from-kubeconfig': file, 'from-context': context, server, ca } = values
  if (file !== undefined && server !== undefined)
    throw new UsageError('Give either --from-kubeconfig FILE or --server URL.')
  if (context !== undefined && file === undefined) throw new UsageError('--from-context is for --from-kubeconfig.')
  if (ca !== undefined && server === undefined) throw new UsageError('--ca is for --server.')
  if (file !== undefined) return addressInFile(file, context)
  if (server === undefined) return undefined
  return {
    server: serverIn(server, '--server'),
    ...(ca !== undefined && { certificateAuthority: await authorityInFile(ca) }),
  }
}

/** Returns the fields of spec that the options give, besides the address. */
export function givenFields(values: ClusterValues): JsonObject {
  const { description, eks, region, tokens } = values
  if ((eks === undefined) !== (region === undefined)) throw new UsageError('--eks and --region belong together.')
  if (eks !== undefined && tokens === 'keyplane')
    throw new UsageError('--eks is for tokens of service accounts: leave --tokens out.')
  const issuer = tokens === undefined ? (eks === undefined ? undefined : 'service-accounts') : tokens
  const access = accessOf(values)
  return {
    ...(values['display-name'] !== undefined && { displayName: values['display-name'] }),
    ...(description !== undefined && { description }),
    ...(issuer !== undefined && { tokens: ISSUERS[issuer as keyof typeof ISSUERS] }),
    ...(eks !== undefined && { credentials: { eks: { clusterName: eks, region: region ?? '' } } }),
    ...(access !== undefined && { access: [access] }),
  }
}

/** Returns the access rule of the users and teams that the options name. */
export function accessOf(values: Pick<ClusterValues, 'user' | 'team'>): JsonObject | undefined {
  const users = split(values.user, '--user')
  const teams = split(values.team, '--team')
  if (users.length + teams.length === 0) return undefined
  const listed = (name: string, all: string[]): Record<string, JsonValue> => (all.length > 0 ? { [name]: all } : {})
  return { verbs: ['get', 'use'], ...listed('users', users), ...listed('teams', teams) }
}

/** Returns the fields of spec that an address is. */
export const addressFields = ({ server, certificateAuthority, ...network }: GivenAddress): JsonObject => ({
  server,
  ...network,
  ...(certificateAuthority && { certificateAuthorityData: Buffer.from(certificateAuthority).toString('base64') }),
})
