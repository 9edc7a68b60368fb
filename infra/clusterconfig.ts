/** Prints the files that connect a cluster (docs/clusters.md) as YAML documents, or writes them with --out. */
import { constants, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Place, parsePlace } from '../lib/authorization/scopes/place.ts'
import { checkIssuer } from '../lib/kubeconfig/token/jwks.ts'
import { dumpYaml } from '../lib/meta/encoding/yaml.ts'
import { type ClusterFilesOptions, clusterFiles, clusterFlags } from './clusterfiles.ts'
import { type Command, readCall, runCommand, UsageError } from './command.ts'

const COMMAND = {
  call: 'npm run cluster-config',
  about: `Prints the files that make a kube-apiserver accept the tokens of a deployment (docs/clusters.md), for the named
cluster or virtual cluster.`,
  options: {
    cluster: { type: 'string', value: 'NAME', help: 'name of a connected cluster, as used in scopes' },
    'virtual-cluster': { type: 'string', value: 'NAMESPACE/NAME', help: 'a virtual cluster; requires --uid' },
    uid: { type: 'string', value: 'UID', help: 'metadata.uid of its VirtualClusterInstance' },
    issuer: { type: 'string', value: 'URL', required: true, help: "the issuer of the deployment's tokens" },
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
    out: { type: 'string', value: 'DIR', help: 'write the files to this directory instead of printing them' },
  },
} as const satisfies Command

type Values = ReturnType<typeof readCall<(typeof COMMAND)['options']>>['values']

/** Parses the arguments. Throws a UsageError. */
export const readArguments = async (args: string[]) => optionsOf(readCall(COMMAND, args).values)

async function optionsOf(values: Values): Promise<ClusterFilesOptions & { out?: string }> {
  const { api, directory, ca, out } = values
  const issuer = url(values.issuer)
  return {
    issuer,
    api: api === undefined ? issuer : url(api),
    identity: clusterIdentity(values),
    directory: directory.replace(/\/+$/, ''),
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

/** Replaces a file, and never what a symbolic link in its place leads to. */
const REPLACE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0)

async function main(values: Values): Promise<void> {
  const options = await optionsOf(values)
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
