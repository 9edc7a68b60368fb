/** Names what a credential opens: a virtual cluster, a connected cluster, or the management API itself. */
import { isName, virtualClusterIn } from '../../../core/src/forms.ts'
import { UsageError } from '../io/errors.ts'

export type Target =
  | { kind: 'virtualCluster'; project: string; name: string }
  | { kind: 'cluster'; name: string }
  | { kind: 'management' }

export type ClusterTarget = Exclude<Target, { kind: 'management' }>

/** Returns the virtual cluster in a text such as `shop/dev`. Throws a UsageError for any other text. */
export function virtualCluster(text: string): Target & { kind: 'virtualCluster' } {
  const found = virtualClusterIn(text)
  if (!found) throw new UsageError(`A virtual cluster is PROJECT/NAME, such as shop/dev, not "${text}".`)
  return { kind: 'virtualCluster', ...found }
}

/** Throws a UsageError for a text that cannot be the name of a project. */
export function checkProject(name: string): void {
  if (!isName(name)) throw new UsageError(`"${name}" is not the name of a project.`)
}

/** Returns the connected cluster of this name. Throws a UsageError for a text that cannot be the name of a cluster. */
export function connectedCluster(name: string): Target & { kind: 'cluster' } {
  if (!isName(name)) throw new UsageError(`"${name}" is not the name of a cluster.`)
  return { kind: 'cluster', name }
}

interface TargetOptions {
  'virtual-cluster'?: string | undefined
  cluster?: string | undefined
}

/** Returns what the options name, or the management API if both are missing. Throws a UsageError if both are given. */
export function targetOf({ 'virtual-cluster': virtual, cluster }: TargetOptions): Target {
  if (virtual !== undefined && cluster !== undefined) {
    throw new UsageError('--virtual-cluster and --cluster exclude each other.')
  }
  if (virtual !== undefined) return virtualCluster(virtual)
  return cluster === undefined ? { kind: 'management' } : connectedCluster(cluster)
}

/**
 * Returns the target of a plugin: the one that its options name, or else the one in the configuration of the client's cluster. The
 * management API, whose credential is the access key itself, is never the target of a client that names a cluster: somebody else may
 * have written where that cluster is. Throws a UsageError for a configuration with anything but a target.
 */
export function pluginTarget(named: Target, cluster: { config?: unknown } | undefined): Target {
  if (cluster === undefined) return named
  const configured = configuredTarget(cluster.config)
  const target = named.kind === 'management' ? configured : named
  if (target === undefined) {
    throw refusedConfig('is missing, and no option names the cluster. The access key itself is not for clusters')
  }
  const [option, name] = optionsFor(target)
  if (configured !== undefined && optionsFor(configured).join(' ') !== `${option} ${name}`) {
    throw refusedConfig(`names another cluster than ${option} ${name}`)
  }
  return target
}

function configuredTarget(config: unknown): ClusterTarget | undefined {
  if (config === undefined || config === null) return undefined
  if (typeof config !== 'object' || Array.isArray(config)) throw refusedConfig('is not an object')
  const { cluster, virtualCluster, ...others } = config as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw refusedConfig(`has the unknown member "${unknown.slice(0, 100)}"`)
  if ((cluster === undefined) === (virtualCluster === undefined)) throw refusedConfig('does not name one cluster')
  if (typeof cluster === 'string' && isName(cluster)) return { kind: 'cluster', name: cluster }
  const virtual = typeof virtualCluster === 'string' ? virtualClusterIn(virtualCluster) : undefined
  if (virtual !== undefined) return { kind: 'virtualCluster', ...virtual }
  throw refusedConfig(`has a ${cluster === undefined ? 'virtualCluster' : 'cluster'} that is not the name of one`)
}

const refusedConfig = (why: string): UsageError =>
  new UsageError(
    `The configuration of the cluster for this plugin ${why}.`,
    'The extension client.authentication.k8s.io/exec of the cluster is {"cluster": "NAME"} or {"virtualCluster": "PROJECT/NAME"}.',
  )

/** Returns the options that name the cluster in a text such as `west` or `shop/dev`; undefined for texts that name none. */
export function optionsMeant(text: string): string[] | undefined {
  const parts = text.split('/')
  if (parts.length > 2 || !parts.every(isName)) return undefined
  return [parts.length === 1 ? '--cluster' : '--virtual-cluster', text]
}

/** Returns the options that name the target. */
export function optionsFor(target: Target): string[] {
  if (target.kind === 'virtualCluster') return ['--virtual-cluster', `${target.project}/${target.name}`]
  return target.kind === 'cluster' ? ['--cluster', target.name] : []
}
