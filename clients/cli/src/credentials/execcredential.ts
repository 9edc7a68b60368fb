/** Reads what the client that runs this program as its plugin says and expects. */
import { type DecodeError, scanJson } from '../../../../lib/engine/meta/encoding/jsonscanner.ts'
import { EXEC_VERSIONS } from '../../../core/src/plugin.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'

export interface ExecInfo {
  /** The version in which to answer. */
  version: string
  /**
   * The cluster, from clients with `provideClusterInfo`. `config` is the extension `client.authentication.k8s.io/exec` of the cluster,
   * which others may have written. Only its syntax has been checked.
   */
  cluster?: { config?: unknown }
}

/** Linux passes at most 128 KiB in a variable, other systems at most 1 MiB. */
const MAX_LENGTH = 1024 * 1024
/** A client writes some twenty values, and this plugin accepts one in `config`. */
const MAX_VALUES = 1000

/** Returns what the client says in `KUBERNETES_EXEC_INFO`. Throws a CliError if this plugin does not understand it. */
export function execInfo({ env }: Pick<Io, 'env'>): ExecInfo {
  const [version = ''] = EXEC_VERSIONS
  const text = env.KUBERNETES_EXEC_INFO
  if (!text) return { version }
  const info = parse(text)
  const { apiVersion, spec } = isRecord(info) ? info : {}
  checkVersion(apiVersion)
  const { cluster } = recordIn('spec', spec) ?? {}
  const { config } = recordIn('spec.cluster', cluster) ?? {}
  return { version: apiVersion, ...(cluster != null && { cluster: { config } }) }
}

function parse(text: string): unknown {
  if (text.length > MAX_LENGTH) throw new CliError(`KUBERNETES_EXEC_INFO has more than ${MAX_LENGTH} characters.`)
  let duplicates: readonly string[]
  try {
    duplicates = scanJson(text, MAX_VALUES).duplicates
  } catch (error) {
    throw new CliError(
      `KUBERNETES_EXEC_INFO is not JSON that this plugin reads: ${(error as DecodeError).message}. Only clients of Kubernetes set it.`,
    )
  }
  const [path] = duplicates
  if (path !== undefined) throw new CliError(`KUBERNETES_EXEC_INFO has the member ${path.slice(0, 100)} twice.`)
  return JSON.parse(text)
}

function checkVersion(asked: unknown): asserts asked is string {
  if (EXEC_VERSIONS.some((one) => one === asked)) return
  const version = typeof asked === 'string' ? asked.slice(0, 100) : 'another version'
  throw new CliError(
    `The kube config asks for ${version}, but this plugin answers ${EXEC_VERSIONS.join(' and ')} only.`,
    {
      hint: `Write "apiVersion: ${EXEC_VERSIONS[0]}" below "exec" in the kube config.`,
    },
  )
}

/** Returns the object; undefined if it is absent or null, as Go writes what is absent. */
function recordIn(path: string, value: unknown): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined
  if (isRecord(value)) return value
  throw new CliError(`${path} in KUBERNETES_EXEC_INFO is not an object.`)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
