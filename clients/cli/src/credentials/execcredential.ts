/** Checks what the client that runs this program as its plugin expects. */
import { EXEC_VERSION } from '../../../core/src/plugin.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'

/** Throws a CliError if the client that runs this plugin expects an answer in another version. */
export function checkExecInfo({ env }: Pick<Io, 'env'>): void {
  const text = env.KUBERNETES_EXEC_INFO
  if (!text) return
  let asked: unknown
  try {
    asked = (JSON.parse(text) as { apiVersion?: unknown } | null)?.apiVersion
  } catch {
    throw new CliError('KUBERNETES_EXEC_INFO is not JSON: this program was not started by a client of Kubernetes.')
  }
  if (asked === EXEC_VERSION) return
  const version = typeof asked === 'string' ? asked.slice(0, 100) : 'another version'
  throw new CliError(`The kube config asks for ${version}, but this plugin answers ${EXEC_VERSION} only.`, {
    hint: `Write "apiVersion: ${EXEC_VERSION}" below "exec" in the kube config.`,
  })
}
