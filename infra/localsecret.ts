/** Stores the kube config of a cluster for `npm start`, where a deployment has AWS Secrets Manager (docs/clusters.md). */
import { resolve } from 'node:path'
import { makeFolder } from '../clients/core/src/files/privatefiles.ts'
import { parseCredentials } from '../lib/clusters/cluster/credentials.ts'
import { ClusterError } from '../lib/clusters/cluster/failure.ts'
import { secretName } from '../lib/clusters/secretname.ts'
import { type Command, runCommand, UsageError } from './command.ts'
import {
  CLUSTER_SECRETS,
  CLUSTER_SECRETS_FILE,
  CONNECTED_SECRETS,
  SECRETS,
  storeClusterSecret,
} from './local/aws/clustersecrets.ts'
import { fileProblem } from './local/host/fileproblem.ts'

const COMMAND = {
  call: 'npm run local-secret',
  about: `Stores the kube config on standard input as the secret of a cluster for npm start, which may be running. In a deployment,
AWS Secrets Manager has such secrets (docs/clusters.md). NAME is clusters/NAME or virtualclusters/NAMESPACE/NAME.`,
  words: 'NAME <FILE',
  variables: { DATA_DIR: 'folder of npm start (default .local)' },
  options: {},
} as const satisfies Command

/** The limit of AWS Secrets Manager. */
const MAX_BYTES = 65_536

/** The kinds of clusters by what the names of their secrets begin with. */
const PREFIXES = [CONNECTED_SECRETS, CLUSTER_SECRETS]

/** Returns the whole name of the secret, which may be given with `keyplane/local/`, as messages quote it. Throws a UsageError. */
export function nameIn(words: readonly string[]): string {
  const [given = '', ...more] = words
  if (given === '' || more.length > 0) throw new UsageError('one name is required, such as clusters/prod')
  const name = given.startsWith(SECRETS) ? given : `${SECRETS}${given}`
  const prefix = PREFIXES.find((one) => name.startsWith(one))
  if (prefix === undefined) throw new UsageError('the name must begin with clusters/ or virtualclusters/')
  const checked = secretName(prefix, name.slice(prefix.length), 'the name')
  if (typeof checked !== 'string')
    throw new UsageError(`the name ${checked.error.message.replace(/^.*: must/, 'must')}`)
  return checked
}

/** Throws an Error, without the text, unless it is a kube config with which a cluster can be reached, or the fields of one. */
export async function checkKubeConfig(name: string, text: string): Promise<void> {
  if (text.trim() === '') throw new Error('there is no kube config on standard input')
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new Error(`a secret of AWS has at most ${MAX_BYTES} bytes: write a kube config of one cluster only`)
  // Without an address, the secret of a virtual cluster means that of its ingress.
  const fallback = name.startsWith(CLUSTER_SECRETS) ? { fallbackServer: 'https://ingress.invalid' } : {}
  await parseCredentials(text, { cluster: name.slice(SECRETS.length).replace(/^[a-z]+\//, ''), ...fallback }).catch(
    (error) => {
      throw error instanceof ClusterError ? new Error(String(error.status.message)) : error
    },
  )
}

/** Reads at most what a secret may have, and a little more. */
async function readInput(input: NodeJS.ReadStream): Promise<string> {
  if (input.isTTY) throw new UsageError('the kube config is read from standard input: add <FILE')
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of input) {
    parts.push(Buffer.from(part))
    bytes += part.length
    if (bytes > MAX_BYTES) break
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Stores the text in the folder of `npm start` and returns the path of the file. Throws an Error with a plain message. */
export async function storeLocally(folder: string, name: string, text: string): Promise<string> {
  const path = resolve(folder, CLUSTER_SECRETS_FILE)
  try {
    await makeFolder(folder)
    await storeClusterSecret(path, name, text)
  } catch (error) {
    throw fileProblem(error, { path: folder, what: 'folder' }) ?? error
  }
  return path
}

if (import.meta.main) {
  await runCommand(COMMAND, async (_, words) => {
    const name = nameIn(words)
    const text = await readInput(process.stdin)
    await checkKubeConfig(name, text)
    const path = await storeLocally(resolve(process.env.DATA_DIR || '.local'), name, text)
    process.stdout.write(`${name} is stored in ${path}, where npm start reads it\n`)
  })
}
