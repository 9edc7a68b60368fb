/** Says in a few words what a scope allows. */
import type { JsonValue } from '../../../../lib/meta/types.ts'

/** Returns `project demo, cluster west`, `nothing` for an empty scope, or `everything its owner may` without one. */
export function scopeWords(scope: JsonValue | undefined): string {
  if (!isRecord(scope)) return 'everything its owner may'
  const words = [
    ...entries(scope.roles).map(roleWords),
    ...(scope.allowPlatformCli === true ? ['role platformCLI'] : []),
    ...named(
      'project',
      entries(scope.projects).map(({ project }) => text(project)),
    ),
    ...named(
      'virtual cluster',
      entries(scope.virtualClusters).map((one) => `${text(one.project)}/${text(one.virtualCluster)}`),
    ),
    ...named(
      'space',
      entries(scope.spaces).map((one) => `${text(one.project)}/${text(one.space)}`),
    ),
    ...named(
      'cluster',
      entries(scope.clusters).map(({ cluster }) => text(cluster)),
    ),
  ]
  const rules = entries(scope.rules).length
  if (rules > 0) words.push(rules === 1 ? '1 rule' : `${rules} rules`)
  return words.join(', ') || 'nothing'
}

function roleWords({ role, projects, virtualClusters }: Record<string, JsonValue>): string {
  const limits = [...texts(projects), ...texts(virtualClusters)]
  return limits.length === 0 ? `role ${text(role)}` : `role ${text(role)} in ${limits.join(' ')}`
}

const named = (noun: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`${names.length === 1 ? noun : `${noun}s`} ${names.join(' ')}`]

const isRecord = (value: JsonValue | undefined): value is Record<string, JsonValue> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const entries = (value: JsonValue | undefined): Record<string, JsonValue>[] =>
  Array.isArray(value) ? value.filter(isRecord) : []
const texts = (value: JsonValue | undefined): string[] => (Array.isArray(value) ? value.map(text) : [])
const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '?')
