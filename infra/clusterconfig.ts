/** Prints the files that connect a cluster (docs/clusters.md) as YAML documents, or writes them with --out. */
import { constants, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, objectIn } from '../clients/core/src/answers.ts'
import { isBearer } from '../clients/core/src/forms.ts'
import { sendHttps } from '../clients/core/src/https.ts'
import type { Cluster, Self } from '../clients/core/src/objects.ts'
import { type Place, parsePlace } from '../lib/access/scopes/place.ts'
import { checkIssuer } from '../lib/clusters/token/jwks.ts'
import { dumpYaml } from '../lib/engine/meta/encoding/yaml.ts'
import { dnsLabelErrors } from '../lib/engine/meta/object/names.ts'
import { type ClusterFilesOptions, clusterFiles, clusterFlags, whenAway } from './clusterfiles.ts'
import { type Command, readCall, runCommand, UsageError } from './command.ts'
import {
  clusterTerraform,
  EKS_GROUP,
  type EksCluster,
  type EksRole,
  eksRole,
  entryCommand,
  roleCommands,
  roleTerraform,
} from './eksaccess.ts'
import { accountObjects } from './serviceaccounts.ts'

const COMMAND = {
  call: 'npm run cluster-config',
  about: `Prints the files that make a kube-apiserver accept the tokens of a deployment (docs/clusters.md), for the named
cluster or virtual cluster. It needs no access key. With one it reads the object of a connected cluster from the API, and
says on standard error where that cluster is, or that no object has this name. With --service-accounts it prints the
objects for a cluster that verifies no tokens of the deployment, for kubectl apply (docs/clusters.md). --eks-role and
--eks print what lets the deployment into clusters of Amazon EKS, in any account (docs/first-eks-cluster.md): the role
once, and for each cluster its access entry. Both ask the API which role it is, with an administrator's key.`,
  variables: {
    KEYPLANE_KEY_FILE: "file with an access key that may get the Cluster; an administrator's for EKS",
    KEYPLANE_KEY: 'the access key itself',
  },
  options: {
    cluster: { type: 'string', value: 'NAME', help: 'name of a connected cluster, as used in scopes' },
    'virtual-cluster': { type: 'string', value: 'NAMESPACE/NAME', help: 'a virtual cluster; requires --uid' },
    uid: { type: 'string', value: 'UID', help: 'metadata.uid of its VirtualClusterInstance' },
    issuer: {
      type: 'string',
      value: 'URL',
      help: "the issuer of the deployment's tokens; required without --service-accounts",
    },
    api: { type: 'string', value: 'URL', help: 'base URL of the API, if it differs from the issuer' },
    directory: {
      type: 'string',
      value: 'DIR',
      default: '/etc/kubernetes/keyplane',
      help: 'directory of the files on the control plane',
    },
    ca: {
      type: 'string',
      value: 'FILE',
      help: 'PEM of the certificate authority of issuer and API, if it is not public',
    },
    'when-away': {
      type: 'string',
      value: whenAway.join('|'),
      default: 'refuse',
      help: 'who decides about unrestricted tokens during an outage of keyplane',
    },
    'service-accounts': { type: 'boolean', help: 'print the objects for tokens of service accounts instead' },
    namespace: {
      type: 'string',
      value: 'NAME',
      default: 'keyplane',
      help: 'with --service-accounts: the namespace of the accounts',
    },
    eks: {
      type: 'string',
      value: 'NAME',
      help: 'with --service-accounts: a cluster of EKS; requires --region, and --issuer or --api',
    },
    region: { type: 'string', value: 'REGION', help: 'with --eks: the AWS region of the cluster' },
    'eks-role': {
      type: 'boolean',
      help: 'print the commands that create the role of the deployment; requires --issuer or --api',
    },
    terraform: { type: 'boolean', help: 'with --eks and --eks-role: print a Terraform configuration instead' },
    out: { type: 'string', value: 'DIR', help: 'write the files to this directory instead of printing them' },
  },
} as const satisfies Command

type Values = ReturnType<typeof readCall<(typeof COMMAND)['options']>>['values']

/** Parses the arguments. Throws a UsageError. */
export const readArguments = async (args: string[]) => optionsOf(readCall(COMMAND, args).values)

async function optionsOf(values: Values): Promise<ClusterFilesOptions & { out?: string }> {
  const { api, directory, ca, out } = values
  if (values.issuer === undefined) throw new UsageError('--issuer is missing')
  const issuer = url(values.issuer)
  const away = whenAway.find((one) => one === values['when-away'])
  if (away === undefined) throw new UsageError(`--when-away is one of ${whenAway.join(', ')}`)
  return {
    issuer,
    api: api === undefined ? issuer : url(api),
    identity: clusterIdentity(values),
    directory: directory.replace(/\/+$/, ''),
    whenAway: away,
    ...(ca !== undefined && { certificateAuthority: await readFile(ca, 'utf8') }),
    ...(out !== undefined && { out }),
  }
}

function url(text: string): string {
  try {
    return checkIssuer(text)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function clusterIdentity(values: Values): Place {
  const { cluster, 'virtual-cluster': virtualCluster, uid } = values
  if ((cluster === undefined) === (virtualCluster === undefined)) {
    throw new UsageError('exactly one of --cluster and --virtual-cluster is required')
  }
  const placeAt = (text: string, wrong: string): Place => {
    const place = parsePlace(text)
    if (place === undefined) throw new UsageError(wrong)
    return place
  }
  if (cluster !== undefined) return placeAt(`clusters/${cluster}`, '--cluster is not the name of a cluster')
  placeAt(`virtualclusters/${virtualCluster}/any`, '--virtual-cluster is not NAMESPACE/NAME')
  return placeAt(`virtualclusters/${virtualCluster}/${uid ?? ''}`, '--uid is required: the uid of the instance')
}

/** Returns the files as text: a comment with the flags, then one YAML document per file. */
export async function printFiles(options: ClusterFilesOptions): Promise<string> {
  const documents = await Promise.all(
    clusterFiles(options).map(
      async ({ name, content }) => `---\n# ${options.directory}/${name}\n${await dumpYaml(content)}`,
    ),
  )
  const flags = clusterFlags(options).map((flag) => `#   ${flag}\n`)
  return `# Flags of kube-apiserver:\n${flags.join('')}${documents.join('')}`
}

const MEBIBYTES = 1
const TIMEOUT_MILLISECONDS = 30_000

/**
 * Returns what the API says of the cluster whose files these are, as one sentence: a name that is typed wrongly shows here, not when the
 * cluster refuses every token. Without an access key, and for virtual clusters, there is nothing to say.
 */
export async function clusterSentence(
  { api, identity, certificateAuthority }: ClusterFilesOptions,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  if (!(env.KEYPLANE_KEY || env.KEYPLANE_KEY_FILE) || identity.type !== 'cluster') return undefined
  const { name } = identity
  try {
    const body = await ask({ api, certificateAuthority }, env, `clusters/${name}`)
    const { displayName, server } = (body as Partial<Cluster>).spec ?? {}
    return `Cluster ${name}${displayName ? ` (${JSON.stringify(displayName)})` : ''} is at ${server}.`
  } catch (error) {
    return `The object of cluster ${name} was not read: ${(error as Error).message}`
  }
}

interface Api {
  api: string
  certificateAuthority?: string | undefined
}

/** Returns an object of the API; with `created`, one that it makes of this. Rejects with an Error that says why not. */
async function ask({ api, certificateAuthority }: Api, env: NodeJS.ProcessEnv, path: string, created?: object) {
  const key = env.KEYPLANE_KEY || (env.KEYPLANE_KEY_FILE && (await readFile(env.KEYPLANE_KEY_FILE, 'utf8')).trim())
  if (!key) throw new Error('KEYPLANE_KEY_FILE names no access key')
  if (!isBearer(key)) throw new Error('the access key has characters that no key has')
  const { code, text } = await sendHttps({
    url: new URL(`${api}/apis/management.platform/v1/${path}`),
    method: created ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, accept: 'application/json', 'content-type': 'application/json' },
    body: created && JSON.stringify(created),
    authorities: certificateAuthority,
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    mostMebibytes: MEBIBYTES,
  })
  const body = objectIn(text) ?? {}
  if (code >= 300) throw new Error(`${code} ${messageOf(body) ?? ''}`.trimEnd())
  return body
}

/**
 * Returns the role of the deployment, which only the deployment knows: the account of the caller's credentials may be that of a cluster.
 * Rejects with an Error unless the key is that of an administrator without a scope.
 */
export async function readRole(from: Api, env: NodeJS.ProcessEnv): Promise<EksRole> {
  const self = await ask(from, env, 'selves', { apiVersion: 'management.platform/v1', kind: 'Self' }).catch((error) => {
    throw new Error(`The role of the deployment was not read: ${(error as Error).message}`)
  })
  const { clustersRoleARN: arn } = (self as { status?: Partial<Self> }).status ?? {}
  if (arn === undefined)
    throw new Error(
      'The role of the deployment was not read: only administrators without a scope see it, and npm start has none',
    )
  const role = eksRole(arn)
  if (!role) throw new Error('The role of the deployment was not read: its ARN is not that of a deployment')
  return role
}

/** Replaces a file, and never what a symbolic link in its place leads to. */
const REPLACE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0)

/** Returns the objects for tokens of service accounts as YAML documents. */
export async function printAccounts(namespace: string, group?: string): Promise<string> {
  const [problem] = dnsLabelErrors(namespace)
  if (problem !== undefined) throw new UsageError(`--namespace: ${problem}`)
  const documents = await Promise.all(accountObjects(namespace, group).map((object) => dumpYaml(object)))
  return documents.map((text) => `---\n${text}`).join('')
}

/** Returns what a cluster of Amazon EKS needs: its access entry as a comment, then the objects; or all of it as Terraform. */
export async function printEks(
  role: EksRole,
  cluster: EksCluster,
  namespace: string,
  asTerraform: boolean,
): Promise<string> {
  const objects = await printAccounts(namespace, EKS_GROUP)
  if (asTerraform) return clusterTerraform(role, cluster, namespace)
  return `# With credentials of the account of the cluster:\n#   ${entryCommand(role, cluster)}\n${objects}`
}

/** Returns what creates the role: commands for a shell, or Terraform. */
export const printRole = (role: EksRole, asTerraform: boolean): string =>
  asTerraform
    ? roleTerraform(role)
    : `# Once for each deployment, with credentials of its account ${role.account}:\n${roleCommands(role).join('\n')}\n`

const EKS_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/
const REGION = /^[a-z]{2}(-[a-z]+)+-[0-9]$/

function eksClusterOf({ eks: name = '', region = '' }: Values): EksCluster {
  if (!EKS_NAME.test(name)) throw new UsageError('--eks is not the name of a cluster in Amazon EKS')
  if (!REGION.test(region)) throw new UsageError('--region is required with --eks: an AWS region, such as eu-central-1')
  return { name, region }
}

async function apiOf({ api, issuer, ca }: Values): Promise<Api> {
  const base = api ?? issuer
  if (base === undefined) throw new UsageError('--api or --issuer is required, with KEYPLANE_KEY_FILE')
  return { api: url(base), ...(ca !== undefined && { certificateAuthority: await readFile(ca, 'utf8') }) }
}

async function printServiceAccounts(values: Values): Promise<string> {
  const { eks, namespace, terraform } = values
  if (eks === undefined) return printAccounts(namespace)
  const cluster = eksClusterOf(values)
  return printEks(await readRole(await apiOf(values), process.env), cluster, namespace, terraform)
}

async function main(values: Values): Promise<void> {
  if (values['eks-role']) {
    process.stdout.write(printRole(await readRole(await apiOf(values), process.env), values.terraform))
    return
  }
  if (values.eks !== undefined && !values['service-accounts']) throw new UsageError('--eks requires --service-accounts')
  if (values['service-accounts']) {
    process.stdout.write(await printServiceAccounts(values))
    return
  }
  const options = await optionsOf(values)
  const sentence = await clusterSentence(options, process.env)
  if (sentence !== undefined) process.stderr.write(`${sentence}\n`)
  if (options.out === undefined) {
    process.stdout.write(await printFiles(options))
    return
  }
  await mkdir(options.out, { recursive: true })
  for (const { name, content } of clusterFiles(options)) {
    await writeFile(join(options.out, name), await dumpYaml(content), { flag: REPLACE })
  }
  process.stdout.write(`${clusterFlags(options).join('\n')}\n`)
}

if (import.meta.main) await runCommand(COMMAND, main)
