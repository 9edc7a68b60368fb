/** The ways in which a kube config signs in: what is asked of the server, and the commands that belong to it. */

import { deploymentName } from '../../../../../lib/clusters/deployment.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../../../../lib/engine/meta/value/durations.ts'
import { CURL_SECONDS, curlArguments, curlOptions } from '../../../../core/src/curl.ts'
import { paths } from '../../api/paths.ts'
import { heredoc, option, shellWord } from '../../text/kubectl.ts'
import { lifetimeWords } from '../../text/lifetime.ts'
import { toYaml } from '../../text/yaml.ts'

/** A token in the file, a client certificate in the file, or the command curl, which fetches tokens. */
export type Way = 'token' | 'certificate' | 'curl'

/** The lifetimes of a credential in the file, in seconds with their words. The server may allow less. */
export const LIFETIMES = [HOUR_SECONDS, 8 * HOUR_SECONDS, DAY_SECONDS, 7 * DAY_SECONDS, 30 * DAY_SECONDS].map(
  (seconds) => [seconds, lifetimeWords(seconds)] as const,
)

/** A cluster as commands name it. */
export interface Place {
  /** Absent for a connected cluster. */
  namespace?: string
  name: string
  /** Absent if the namespace is not that of a project: then the command line does not know it. */
  project?: string | undefined
}

export interface Choice {
  way: Way
  seconds: number
  /** The file that curl reads, with its whole path. */
  file: string
}

/** Returns the file name of a kube config, such as `shop-dev.kubeconfig`. */
export function fileNameOf({ project, namespace, name }: Place): string {
  const safe = [project ?? namespace, name]
    .filter((one) => one !== undefined)
    .join('-')
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '')
  return `${safe.slice(0, 120) || 'cluster'}.kubeconfig`
}

/** What stands in a path for something that the person has to choose. */
const PLACEHOLDER = /[/\\](?:ME|YOU|USER|USERNAME|NAME)(?:[/\\]|$)|[<>{}*?…]|\.{3}/

/** Returns why curl cannot find a file by this path, or undefined. Clients do not expand `~` and variables. */
export function pathProblem(path: string): string | undefined {
  if (!/^(\/|[A-Za-z]:[\\/])[^\p{C}]+$/u.test(path)) return 'Write the whole path. kubectl does not expand ~.'
  if (PLACEHOLDER.test(path)) return 'This path has a placeholder. Write that of your own file.'
  return /[$`"']/.test(path) ? 'Choose a path without quotes and $.' : undefined
}

/** Windows takes slashes as well, and curl reads backslashes as escapes. */
const slashes = (path: string): string => path.replaceAll('\\', '/')

/** Returns the spec of the request. A connected cluster has only tokens. With curl it asks for no credential. */
export function specOf({ way, seconds, file }: Choice, { namespace }: Place): object {
  if (namespace === undefined) return { ttl: seconds }
  if (way === 'curl') return { exec: { command: 'curl', args: curlArguments(slashes(file)) } }
  return { certificateTTL: seconds, ...(way === 'certificate' && { clientCert: true }) }
}

const pathOf = ({ namespace, name }: Place): string => `/${paths.kubeConfig(namespace, name)}`

/**
 * Returns the commands that write the file for curl. They ask for the access key, which is in no argument and no history. They are
 * one command, so that nothing that is pasted with them answers the question.
 */
export function curlFileCommand(path: string, place: Place, server: string): string {
  const config = curlOptions(server + pathOf(place), { spec: { certificateTTL: CURL_SECONDS } }).join('\n')
  const file = shellWord(slashes(path))
  return `(umask 077
printf 'Access key: ' && read -rs KEY && echo
mkdir -p ${shellWord(slashes(path).replace(/\/[^/]*$/, '') || '/')}
{ printf 'header = "Authorization: Bearer %s"\\n' "$KEY"
${heredoc('cat', config)}
} > ${file})
`
}

/** Returns a first command with the downloaded kube config. */
export const firstCommand = (place: Place): string =>
  `kubectl ${option('--kubeconfig', `./${fileNameOf(place)}`)} get pods\n`

/** Returns the commands for daily use, after which kubectl fetches short tokens, if the command line knows the cluster. */
export function dailyCommands(
  { namespace, project, name }: Place,
  server: string,
): { login: string; merge: string } | undefined {
  if (namespace !== undefined && project === undefined) return undefined
  const place = namespace === undefined ? option('--cluster', name) : shellWord(`${project}/${name}`)
  const login = `keyplane login ${shellWord(server)} ${option('--context', deploymentName(server))}`
  return { login, merge: `keyplane kubeconfig ${place} --merge` }
}

/** How a cluster is connected: its API server asks keyplane, or its service accounts issue the tokens. */
export type How = 'flags' | 'eks' | 'accounts'

export interface Connected {
  how: How
  name: string
  /** Its kube config on the machine of the person. */
  file: string
  /** What runs its control plane, if its flags are not set by hand. */
  platform: string
  /** Its name in Amazon EKS, and its region. */
  eks: string
  region: string
}

/** Returns the texts of a form without the blanks around them. */
export const trimmed = <T extends Record<string, string>>(texts: T): T =>
  Object.fromEntries(Object.entries(texts).map(([member, text]) => [member, text.trim()])) as T

/** Returns the path as a word of a shell, which knows the home folder. */
const pathWord = (file: string): string => (file.startsWith('~/') ? `~/${shellWord(file.slice(2))}` : shellWord(file))

/** Returns the command that connects a cluster. */
export function connectCommand({ how, platform, name, file, eks, region }: Connected): string {
  const more = {
    flags: platform && ` ${option('--for', platform)}`,
    eks: ` ${option('--eks', eks || name)} ${option('--region', region)}`,
    accounts: ' --tokens service-accounts',
  }
  return `keyplane clusters connect ${shellWord(name)} --from-kubeconfig ${pathWord(file)}${more[how]}\n`
}

/** A virtual cluster as the form names it. */
export interface Registered {
  project: string
  name: string
  /** Its kube config on the machine of the person. */
  file: string
  /** The team that owns it. */
  team: string
}

/** Reports whether a team can stand in the commands: a shell reads them, and changes nothing in this. */
export const isTeam = (team: string): boolean => /^\w[\w .:@-]*$/.test(team)

/** Returns the commands that register a virtual cluster with the address in its kube config, and write what it needs to accept tokens. */
export function registerCommands({ project, name, file, team }: Registered, prefix: string): string {
  const instance = {
    apiVersion: 'management.platform/v1',
    kind: 'VirtualClusterInstance',
    metadata: { namespace: prefix + project, name },
    spec: {
      owner: { team },
      accessPoint: { ingress: { enabled: true, host: '$(of server | cut -c 9-)' } },
      certificateAuthorityData: '$(of certificate-authority-data)',
    },
  }
  return `of() { kubectl --kubeconfig ${pathWord(file)} config view --minify --raw --flatten -o jsonpath="{.clusters[0].cluster.$1}"; }
kubectl create -f - <<EOF
${toYaml(instance)}EOF
keyplane clusters connect ${shellWord(`${project}/${name}`)} --for vcluster
`
}
