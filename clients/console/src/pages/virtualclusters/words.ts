/** Says in words what a virtual cluster is like, and finds those that a text matches. */
import type { VirtualCluster } from '../../../../core/src/objects.ts'
import { projectIn } from '../../../../core/src/projects.ts'

export interface State {
  tone: 'good' | 'warn' | 'bad' | 'plain'
  /** One or two words. They may be those of others. */
  text: string
  /** Sentences that explain it, of others. */
  details: string[]
}

const TONES: Readonly<Record<string, State['tone']>> = { ready: 'good', running: 'good', failed: 'bad', error: 'bad' }

/** Returns the state. keyplane does not watch virtual clusters: it is what their operators report. */
export function stateOf({ metadata, status = {} }: VirtualCluster): State {
  const { phase = '', reason, message, conditions = [] } = status
  const failing = conditions.filter((one) => one.status !== 'True' && (one.message || one.reason || one.severity))
  const details = [
    message || reason,
    ...failing.map(({ type, ...one }) => `${type}: ${one.message || one.reason || one.severity}`),
  ]
  const said = details.filter((one) => one !== undefined && one !== '') as string[]
  if (metadata.deletionTimestamp) return { tone: 'warn', text: 'Being deleted', details: said }
  if (phase === '') return { tone: 'plain', text: 'Nothing reported', details: said }
  const isBroken = failing.some(({ severity = 'Error' }) => severity === 'Error')
  const tone = TONES[phase.toLowerCase()] ?? 'plain'
  return { tone: tone === 'good' && isBroken ? 'warn' : tone, text: phase, details: said }
}

/** Returns `user alice`, `team shop`, or `nobody`. */
export function ownerOf({ spec }: VirtualCluster): string {
  const { user, team } = spec?.owner ?? {}
  return user ? `user ${user}` : team ? `team ${team}` : 'nobody'
}

/** Returns the host of the endpoint, or undefined if there is none that clients can use. */
export function endpointOf({ spec }: VirtualCluster): string | undefined {
  const { enabled, host } = spec?.accessPoint?.ingress ?? {}
  return enabled === false || !host ? undefined : host
}

/** Reports whether every word of the text is in a name, the display name, the project, the owner, the endpoint or the state. */
export function matches(cluster: VirtualCluster, text: string, prefix: string): boolean {
  const { name, namespace = '' } = cluster.metadata
  const project = projectIn(namespace, prefix) ?? namespace
  const shown = [
    `${project}/${name}`,
    cluster.spec?.displayName,
    ownerOf(cluster),
    endpointOf(cluster),
    stateOf(cluster).text,
  ]
  const all = shown.join('\n').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}
