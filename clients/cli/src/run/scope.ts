/** Makes the scope of the key that a command gets, and says it in words. */
import { parseYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import { scopeDiff } from '../../../core/src/scopechange.ts'
import type { Target } from '../api/target.ts'
import { readIfThere } from '../config/privatefile.ts'
import { CliError, UsageError } from '../io/errors.ts'
import type { ReadableGroups } from './discovery.ts'

const GROUP = 'management.platform'

/** What the command may do in the cluster of the target: all of it, or what it may read and what rules and a file say. */
export interface Wish {
  target: Target
  /** The prefix of the namespaces of projects. */
  prefix: string
  readable: ReadableGroups | undefined
  rules: readonly JsonObject[]
  file: JsonObject | undefined
}

/** Returns the scope of a key that may do what is wished, and get a kube config for it. */
export function sessionScope({ target, prefix, readable, rules, file }: Wish): JsonObject {
  const { rules: given, ...rest } = file ?? {}
  const all: JsonObject[] = [
    ...(readable ? [readRule(readable, placeOf(target, prefix))] : []),
    // A rule that names no place is about the cluster of the command.
    ...rules.map((rule) => (namesPlace(rule) ? rule : { ...rule, ...placeOf(target, prefix) })),
    ...listed(given),
  ]
  const isNarrow = readable !== undefined || rules.length > 0 || file !== undefined
  if (!isNarrow) return wholePlace(target)
  const own = target.kind === 'management' ? [] : [kubeConfigRule(target, prefix)]
  return { ...rest, ...(all.length + own.length > 0 && { rules: [...all, ...own] }) }
}

const listed = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? (value as JsonObject[]) : [])

/** Returns the whole cluster as a scope. */
const wholePlace = (target: Target): JsonObject =>
  target.kind === 'virtualCluster'
    ? { virtualClusters: [{ project: target.project, virtualCluster: target.name }] }
    : target.kind === 'cluster'
      ? { clusters: [{ cluster: target.name }] }
      : {}

const placeOf = (target: Target, prefix: string): JsonObject =>
  target.kind === 'virtualCluster'
    ? { virtualClusters: [{ namespace: `${prefix}${target.project}`, name: target.name }] }
    : target.kind === 'cluster'
      ? { cluster: target.name }
      : {}

const namesPlace = ({ cluster, virtualClusters, requestTargets }: JsonObject): boolean =>
  [cluster, virtualClusters, requestTargets].some((one) => one !== undefined)

const readRule = (readable: ReadableGroups, place: JsonObject): JsonObject => ({
  verbs: ['get', 'list', 'watch'],
  resources: [...readable].map(([group, resources]) => ({ ...(group !== '' && { group }), resources: [...resources] })),
  ...place,
})

/** An entry of the cluster itself would allow everything in it. */
const kubeConfigRule = (target: Exclude<Target, { kind: 'management' }>, prefix: string): JsonObject => ({
  verbs: ['create'],
  resources: [
    {
      group: GROUP,
      resources: [target.kind === 'cluster' ? 'clusters/kubeconfig' : 'virtualclusterinstances/kubeconfig'],
      resourceNames: [target.name],
    },
  ],
  ...(target.kind === 'virtualCluster' && { namespaces: [`${prefix}${target.project}`] }),
  requestTargets: ['Management'],
})

/** Returns only these groups, of which `core` is the one without a name. Throws a UsageError for one that the cluster does not have. */
export function chosenGroups(readable: ReadableGroups, names: readonly string[]): ReadableGroups {
  if (names.length === 0) return readable
  const groups = names.map((name) => (name === CORE ? '' : name))
  const unknown = groups.find((group) => !readable.has(group))
  if (unknown !== undefined)
    throw new UsageError(`The cluster has nothing to read in the group ${unknown || CORE}.`, groupsHint(readable))
  return new Map([...readable].filter(([group]) => groups.includes(group)))
}

const CORE = 'core'

/** Says which groups there are to choose from, the longest first. */
export function groupsHint(readable: ReadableGroups): string {
  const bySize = [...readable].toSorted(([, one], [, other]) => other.length - one.length)
  return `Choose groups with --groups, separated by commas: ${bySize.map(([group]) => group || CORE).join(', ')}`
}

/** Returns the scope in a file of YAML or JSON. Throws a CliError if there is none. */
export async function scopeInFile(file: string): Promise<JsonObject> {
  const text = await readIfThere(file)
  if (text === undefined) throw new CliError(`The file ${file} does not exist.`)
  const { value, duplicates } = await parseYaml(text).catch((error: Error) => {
    throw new UsageError(`${file} is not YAML: ${error.message}`)
  })
  if (duplicates.length > 0) throw new UsageError(`${file}: ${duplicates[0]}`)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(
      `${file} has no scope.`,
      'It contains what spec.scope of a key does, such as: rules: [{verbs: [get]}]',
    )
  return value
}

/** Returns the place in words: `virtual cluster shop/dev`. */
export const placeWords = (target: Target): string =>
  target.kind === 'virtualCluster'
    ? `virtual cluster ${target.project}/${target.name}`
    : target.kind === 'cluster'
      ? `cluster ${target.name}`
      : 'keyplane'

/** Returns what the key may do, in words. */
export function mayWords({ target, readable, rules, file }: Wish, groups: readonly string[]): string {
  const read =
    readable === undefined
      ? []
      : [
          `read-only in ${placeWords(target)}, without Secrets${groups.length > 0 ? `, groups ${groups.join(', ')}` : ''}`,
        ]
  const lines = scopeDiff({}, { ...file, rules: [...rules, ...listed(file?.rules)] })
  const entries = lines.map((line) => `\n  ${line.slice(2)}`).join('')
  if (entries !== '') return `${[...read, 'what these entries allow'].join(', and ')}:${entries}\nIt`
  return read[0] ?? (file ? 'nothing but what every key may' : `everything that you may in ${placeWords(target)}`)
}
