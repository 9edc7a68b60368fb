/** Checks what the client that runs this program as its plugin expects. */
import { askedExecVersion, EXEC_VERSIONS } from '../../../core/src/plugin.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'

/** Returns the version in which to answer the client. Throws a CliError if this plugin does not know it. */
export function execVersion({ env }: Pick<Io, 'env'>): string {
  let asked: unknown
  try {
    asked = askedExecVersion(env)
  } catch {
    throw new CliError('KUBERNETES_EXEC_INFO is not JSON: this program was not started by a client of Kubernetes.')
  }
  const known = EXEC_VERSIONS.find((one) => one === asked)
  if (known !== undefined) return known
  const version = typeof asked === 'string' ? asked.slice(0, 100) : 'another version'
  throw new CliError(
    `The kube config asks for ${version}, but this plugin answers ${EXEC_VERSIONS.join(' and ')} only.`,
    {
      hint: `Write "apiVersion: ${EXEC_VERSIONS[0]}" below "exec" in the kube config.`,
    },
  )
}
