/** Names what a credential opens: a virtual cluster, a connected cluster, or the management API itself. */
import { isName, virtualClusterIn } from '../../../core/src/forms.ts'
import { UsageError } from '../io/errors.ts'

export type Target =
  | { kind: 'virtualCluster'; project: string; name: string }
  | { kind: 'cluster'; name: string }
  | { kind: 'management' }

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
