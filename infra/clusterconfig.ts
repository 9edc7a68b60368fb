/**
 * Prints the files that connect a cluster (docs/clusters.md), one YAML document each, or writes them with --out.
 *   npm run cluster-config -- --cluster NAME --issuer URL
 *   npm run cluster-config -- --virtual-cluster NAMESPACE/NAME --uid UID --issuer URL
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Place, readPlace } from '../lib/authorization/place.ts'
import { dumpYaml } from '../lib/meta/yaml.ts'
import { checkedIssuer } from '../lib/token/jwks.ts'
import { type ClusterFilesOptions, clusterFiles, clusterFlags } from './clusterfiles.ts'
import { command, optionsIn, UsageError } from './command.ts'

const USAGE = `usage: npm run cluster-config -- (--cluster NAME | --virtual-cluster NAMESPACE/NAME --uid UID) --issuer URL
  --issuer URL      the issuer of the deployment's tokens
  --api URL         the API, where it is not the issuer
  --directory DIR   where the files will lie on the control plane (default /etc/kubernetes/keyplane)
  --ca FILE         PEM of the authority of issuer and API, where it is not a public one
  --out DIR         write the files there instead of printing them
`

/** What the arguments ask for. Throws a UsageError. */
export async function readArguments(args: string[]): Promise<ClusterFilesOptions & { out?: string }> {
  const text = { type: 'string' } as const
  const values = optionsIn(args, {
    cluster: text,
    'virtual-cluster': text,
    uid: text,
    issuer: text,
    api: text,
    directory: text,
    ca: text,
    out: text,
  })
  const { issuer: given, api, directory = '/etc/kubernetes/keyplane', ca, out } = values
  if (given === undefined) throw new UsageError('--issuer is missing')
  const issuer = url(given)
  return {
    issuer,
    api: api === undefined ? issuer : url(api),
    identity: identityOf(values),
    directory: directory.replace(/\/+$/, ''),
    ...(ca !== undefined && { certificateAuthority: await readFile(ca, 'utf8') }),
    ...(out !== undefined && { out }),
  }
}

function url(text: string): string {
  try {
    return checkedIssuer(text)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function identityOf(values: { cluster?: string; 'virtual-cluster'?: string; uid?: string }): Place {
  const { cluster, 'virtual-cluster': virtualCluster, uid } = values
  if ((cluster === undefined) === (virtualCluster === undefined)) {
    throw new UsageError('one of --cluster and --virtual-cluster is needed')
  }
  const placeAt = (text: string, wrong: string): Place => {
    const place = readPlace(text)
    if (place === undefined) throw new UsageError(wrong)
    return place
  }
  if (cluster !== undefined) return placeAt(`clusters/${cluster}`, '--cluster is not the name of a cluster')
  placeAt(`virtualclusters/${virtualCluster}/any`, '--virtual-cluster is not NAMESPACE/NAME')
  return placeAt(`virtualclusters/${virtualCluster}/${uid ?? ''}`, '--uid is needed: the uid of the instance')
}

/** The files as text: a comment with the flags, then one YAML document each. */
export async function printed(options: ClusterFilesOptions): Promise<string> {
  const documents = await Promise.all(
    clusterFiles(options).map(
      async ({ name, content }) => `---\n# ${options.directory}/${name}\n${await dumpYaml(content)}`,
    ),
  )
  const flags = clusterFlags(options).map((flag) => `#   ${flag}\n`)
  return `# Flags of kube-apiserver:\n${flags.join('')}${documents.join('')}`
}

async function main(args: string[]): Promise<void> {
  const options = await readArguments(args)
  if (options.out === undefined) {
    process.stdout.write(await printed(options))
    return
  }
  await mkdir(options.out, { recursive: true })
  for (const { name, content } of clusterFiles(options)) {
    await writeFile(join(options.out, name), await dumpYaml(content))
  }
  process.stdout.write(`${clusterFlags(options).join('\n')}\n`)
}

if (import.meta.main) await command(USAGE, main)
