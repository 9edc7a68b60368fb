/**
 * Says in words what a scope allows. Programs for people share it: they show the scopes of any server, so no value makes it fail,
 * and what it does not understand is a `?`.
 */

import { type Entry, entries, isEntry, isUnlimited } from './unrestricted.ts'

/** What a key or token without a scope may do. Of the groups of its owner it has only those that it was given. */
const EVERYTHING = 'everything its owner and groups may'

const MEMBERS = ['roles', 'allowPlatformCli', 'projects', 'virtualClusters', 'spaces', 'clusters', 'rules']

/** Returns `projects demo, shop; cluster west`, `nothing` for an empty scope, or `everything its owner and groups may` without one. */
export const scopeWords = (scope: unknown): string => scopePhrases(scope).join('; ') || 'nothing'

/** Returns one phrase for each part of the scope, such as `projects shop, demo`, and none for a scope that allows nothing. */
export function scopePhrases(scope: unknown): string[] {
  if (!isEntry(scope)) return [EVERYTHING]
  return [
    ...entries(scope.roles).map(roleWords),
    ...(scope.allowPlatformCli === true ? ['role platformCLI'] : []),
    ...named(
      'project',
      entries(scope.projects).map(({ project }) => text(project)),
    ),
    ...namedWithin('virtual cluster', scope.virtualClusters, 'virtualCluster'),
    ...namedWithin('space', scope.spaces, 'space'),
    ...named(
      'cluster',
      entries(scope.clusters).map(({ cluster }) => text(cluster)),
    ),
    ...rulesWords(entries(scope.rules)),
    ...(Object.keys(scope).every((member) => MEMBERS.includes(member)) ? [] : ['?']),
  ]
}

function roleWords({ role, projects, virtualClusters }: Entry): string {
  const places = [
    ...named('project', texts(projects)).map((words) => ` in ${words}`),
    ...named('virtual cluster', texts(virtualClusters)).map((words) => ` for ${words}`),
  ]
  return `role ${text(role)}${places.join('')}`
}

/** Returns `project a`, `projects a, b` or, where the wildcard is among the names, `all projects`. */
function named(noun: string, names: readonly string[]): string[] {
  if (names.length === 0) return []
  if (names.includes('*')) return [`all ${noun}s`]
  return [`${names.length === 1 ? noun : `${noun}s`} ${names.join(', ')}`]
}

/** Returns the phrases for things of projects: `space a/s`, `all spaces of b, c`. */
function namedWithin(noun: string, list: unknown, member: string): string[] {
  const pairs = entries(list).map((one) => ({ project: text(one.project), name: text(one[member]) }))
  const whole = pairs.filter(({ name }) => name === '*').map(({ project }) => project)
  const single = pairs.filter(({ name }) => name !== '*').map(({ project, name }) => `${project}/${name}`)
  return [...named(noun, single), ...(whole.length > 0 ? [`all ${noun}s of ${whole.join(', ')}`] : [])]
}

function rulesWords(rules: readonly Entry[]): string[] {
  const limited = rules.filter((rule) => !isUnlimited(rule)).length
  return [
    ...(limited < rules.length ? [`${EVERYTHING} (a rule without limits)`] : []),
    ...(limited > 0 ? [limited === 1 ? '1 rule' : `${limited} rules`] : []),
  ]
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(text) : [])
const text = (value: unknown): string => (typeof value === 'string' && value !== '' ? value : '?')
