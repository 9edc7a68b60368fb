/** The ways in which a kube config signs in: what is asked of the server, and the commands that belong to it. */

import { deploymentName } from '../../../../../lib/clusters/deployment.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../../../../lib/engine/meta/value/durations.ts'
import { CURL_SECONDS, curlArguments, curlOptions } from '../../../../core/src/curl.ts'
import { paths } from '../../api/paths.ts'
import { commandLines, heredoc, option, shellWord } from '../../text/kubectl.ts'
import { lifetimeWords } from '../../text/lifetime.ts'

export type Way = 'curl' | 'keyplane' | 'token' | 'certificate'

export interface WayWords {
  way: Way
  title: string
  needs: string
  rightFor: string
}

export const WAYS: readonly WayWords[] = [
  {
    way: 'curl',
    title: 'Renews itself with curl',
    needs: 'curl, and your access key in a file that only you can read.',
    rightFor: 'laptops without an installation, CI images, operators',
  },
  {
    way: 'keyplane',
    title: 'Renews itself with keyplane',
    needs: 'the command line keyplane (Node.js), signed in with your access key.',
    rightFor: 'people, loops and scripts: many commands share one token',
  },
  {
    way: 'token',
    title: 'A token in the file',
    needs: 'nothing else. The file is a secret until the token expires.',
    rightFor: 'one job that is shorter than its token',
  },
  {
    way: 'certificate',
    title: 'A client certificate in the file',
    needs: 'nothing else. It cannot be revoked, and carries no scope: the file is a secret until it expires.',
    rightFor: 'virtual clusters that do not accept tokens of this server',
  },
]

/** The lifetimes of a credential in the file, in seconds with their words. The server may allow less. */
export const LIFETIMES = [HOUR_SECONDS, 8 * HOUR_SECONDS, DAY_SECONDS, 7 * DAY_SECONDS, 30 * DAY_SECONDS].map(
  (seconds) => [seconds, lifetimeWords(seconds)] as const,
)

/** A cluster as commands name it. */
export interface Place {
  /** Absent for a connected cluster. */
  namespace?: string
  name: string
  /** Absent if the namespace is not that of a project: then `keyplane` does not know it. */
  project?: string | undefined
}

export interface Choice {
  way: Way
  seconds: number
  /** The file that curl reads, with its whole path. */
  file: string
}

/** Reports whether the file contains a credential. */
export const isSecret = (way: Way): boolean => way === 'token' || way === 'certificate'

/** Returns the file name of a kube config, such as `shop-dev.kubeconfig`. */
export function fileNameOf({ project, namespace, name }: Place): string {
  const safe = [project ?? namespace, name]
    .filter((one) => one !== undefined)
    .join('-')
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '')
  return `${safe.slice(0, 120) || 'cluster'}.kubeconfig`
}

/** Returns why curl cannot find a file by this path, or undefined. Clients do not expand `~` and variables. */
export function pathProblem(path: string): string | undefined {
  if (!/^(\/|[A-Za-z]:[\\/])[^\p{C}]+$/u.test(path)) {
    return 'Write the whole path, such as /home/alice/.kube/dev.curl. kubectl does not expand ~.'
  }
  return /[$`"']/.test(path) ? 'Choose a path without quotes and $.' : undefined
}

/** Windows takes slashes as well, and curl reads backslashes as escapes. */
const slashes = (path: string): string => path.replaceAll('\\', '/')

/** Returns the spec of the request. A connected cluster has only tokens. With a plugin it asks for no credential. */
export function specOf({ way, seconds, file }: Choice, place: Place, server: string): object {
  if (place.namespace === undefined) return { ttl: seconds }
  if (way === 'curl') return { exec: { command: 'curl', args: curlArguments(slashes(file)) } }
  if (way === 'keyplane') {
    const context = ['--context', deploymentName(server)]
    return { exec: { command: 'keyplane', args: ['credential', '--virtual-cluster', labelOf(place), ...context] } }
  }
  return { certificateTTL: seconds, ...(way === 'certificate' && { clientCert: true }) }
}

const labelOf = ({ project = '', name }: Place): string => `${project}/${name}`

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

/** Returns the commands after the download: what the machine needs, and a first command with the kube config. */
export function nextCommands({ way }: Choice, place: Place, server: string): string {
  const login =
    way === 'keyplane' ? [`keyplane login ${shellWord(server)} ${option('--context', deploymentName(server))}`] : []
  return [...login, `kubectl ${option('--kubeconfig', `./${fileNameOf(place)}`)} get pods`, ''].join('\n')
}

/** Returns the commands that do the same without the console, each with its title. */
export function sameCommands(choice: Choice, place: Place, server: string): { title: string; text: string }[] {
  const { way, seconds } = choice
  const file = fileNameOf(place)
  const body = JSON.stringify({ spec: specOf(choice, place, server) })
  const options = {
    curl: ['--with curl', option('--output', file)],
    keyplane: ['--merge'],
    token: ['--with token', `--ttl ${seconds}s`, option('--output', file)],
    certificate: ['--with cert', `--ttl ${seconds}s`, option('--output', file)],
  }
  const isVirtual = place.namespace !== undefined
  const selected = isVirtual ? shellWord(labelOf(place)) : option('--cluster', place.name)
  const own = {
    title: 'keyplane',
    text: `${commandLines(`keyplane kubeconfig ${selected}`, options[way])}\n`,
  }
  return [
    ...(isVirtual && place.project === undefined ? [] : [own]),
    {
      title: 'kubectl',
      text: `(umask 077
printf %s ${shellWord(body)} |
  kubectl create --raw ${shellWord(pathOf(place))} -f - |
  jq -r .status.kubeConfig > ${shellWord(file)})
`,
    },
    {
      title: 'curl',
      text: `(umask 077
printf 'Access key: ' && read -rs KEY && echo
CONFIG=$(printf 'Authorization: Bearer %s' "$KEY" | curl -q -sS --fail --proto '=https' -H @- \\
  -H 'Accept: application/yaml' -H 'Content-Type: application/json' --data-binary ${shellWord(body)} \\
  ${shellWord(server + pathOf(place))}) &&
  printf '%s\\n' "$CONFIG" | sed '1,/^  kubeConfig: |/d; /^    /!d; s/^    //' > ${shellWord(file)})
`,
    },
  ]
}
