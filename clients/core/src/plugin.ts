/** Speaks the protocol of credential plugins. Source: client.authentication.k8s.io/v1. */

const EXEC_GROUP = 'client.authentication.k8s.io'
/** The versions in which kube configs name a plugin. The first one is written by default. */
export const EXEC_APIS = ['v1', 'v1beta1'] as const
export type ExecApi = (typeof EXEC_APIS)[number]

export const isExecApi = (text: string): text is ExecApi => (EXEC_APIS as readonly string[]).includes(text)

const EXEC_VERSION = `${EXEC_GROUP}/v1`
/** kubectl before 1.22 and some other clients know only v1beta1, which has the same fields. */
export const EXEC_VERSIONS: readonly string[] = EXEC_APIS.map((version) => `${EXEC_GROUP}/${version}`)

/** Returns the version for which a client asks in KUBERNETES_EXEC_INFO. Throws a SyntaxError if that is not JSON. */
export function askedExecVersion({
  KUBERNETES_EXEC_INFO: text,
}: Readonly<Record<string, string | undefined>>): unknown {
  return text ? (JSON.parse(text) as { apiVersion?: unknown } | null)?.apiVersion : EXEC_VERSION
}

/** Returns the answer of a plugin: a line with an ExecCredential. */
export const execCredential = (status: object, apiVersion: string): string =>
  `${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\n`

/** A program that prints an ExecCredential. */
export interface Plugin {
  command: string
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  installHint?: string
  /** The version of the answer; v1 by default. */
  execApi?: ExecApi | undefined
}

/** Returns the user of a kube config whose credential comes from a plugin. */
export function pluginUser({ command, args, env = {}, installHint, execApi = 'v1' }: Plugin) {
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
  return {
    exec: {
      apiVersion: `${EXEC_GROUP}/${execApi}`,
      command,
      args: [...args],
      ...(variables.length > 0 && { env: variables }),
      interactiveMode: 'Never',
      provideClusterInfo: false,
      ...(installHint !== undefined && { installHint }),
    },
  }
}
