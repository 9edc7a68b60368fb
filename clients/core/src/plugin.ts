/** Speaks the protocol of credential plugins. Source: client.authentication.k8s.io/v1. */

export const EXEC_VERSION = 'client.authentication.k8s.io/v1'

/** Returns the answer of a plugin: a line with an ExecCredential. */
export const execCredential = (status: object): string =>
  `${JSON.stringify({ apiVersion: EXEC_VERSION, kind: 'ExecCredential', status })}\n`

/** A program that prints an ExecCredential. */
export interface Plugin {
  command: string
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  installHint?: string
}

/** Returns the user of a kube config whose credential comes from a plugin. */
export function pluginUser({ command, args, env = {}, installHint }: Plugin) {
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }))
  return {
    exec: {
      apiVersion: EXEC_VERSION,
      command,
      args: [...args],
      ...(variables.length > 0 && { env: variables }),
      interactiveMode: 'Never',
      provideClusterInfo: false,
      ...(installHint !== undefined && { installHint }),
    },
  }
}
