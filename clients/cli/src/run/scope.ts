/** Makes the scope of the key that a command gets, and says it in words. */
import { parseYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import { scopeDiff } from '../../../core/src/scopechange.ts'
import type { Target } from '../api/target.ts'
import { readIfThere } from '../config/privatefile.ts'
import { CliError, UsageError } from '../io/errors.ts'

const GROUP = 'management.platform'

/** What the command may do in the cluster of the target: all of it, or what role view allows and what rules and a file say. */
export interface Wish {
  target: Target
  /** The prefix of the namespaces of projects. */
  prefix: string
  isReadOnly: boolean
  rules: readonly JsonObject[]
  file: JsonObject | undefined
}

/** Returns the scope of a key that may do what is wished, and get a kube config for it. */
export function sessionScope({ target, prefix, isReadOnly, rules, file }: Wish): JsonObject {
  const { rules: given, roles, ...rest } = file ?? {}
  const places = Object.keys(rest).filter((member) => member !== 'allowPlatformCli')
  if (isReadOnly && places.length > 0)
    throw new UsageError(
      `--read-only cannot be combined with a scope that lists ${places.join(', ')}.`,
      'Beside role view these lists only say where the command may read. Write rules instead.',
    )
  const view = isReadOnly ? { ...wholePlace(target), roles: [VIEW, ...listed(roles)] } : roles && { roles }
  const all: JsonObject[] = [
    // A rule that names no place is about the cluster of the command.
    ...rules.map((rule) => (namesPlace(rule) ? rule : { ...rule, ...placeOf(target, prefix) })),
    ...listed(given),
  ]
  const isNarrow = isReadOnly || rules.length > 0 || file !== undefined
  if (!isNarrow) return wholePlace(target)
  // An entry of the cluster itself would allow everything in it, unless it stands beside role view.
  const own = target.kind === 'management' || isReadOnly ? [] : [kubeConfigRule(target, prefix)]
  return { ...rest, ...view, ...(all.length + own.length > 0 && { rules: [...all, ...own] }) }
}

/** The role that allows reading, without Secrets, where the other lists of its scope say. The server defines it. */
const VIEW = { role: 'view' }

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
export function mayWords({ target, isReadOnly, rules, file }: Wish): string {
  const read = isReadOnly ? [`read-only in ${placeWords(target)}, without Secrets`] : []
  const lines = scopeDiff({}, { ...file, rules: [...rules, ...listed(file?.rules)] })
  const entries = lines.map((line) => `\n  ${line.slice(2)}`).join('')
  if (entries !== '') return `${[...read, 'what these entries allow'].join(', and ')}:${entries}\nIt`
  return read[0] ?? (file ? 'nothing but what every key may' : `everything that you may in ${placeWords(target)}`)
}
