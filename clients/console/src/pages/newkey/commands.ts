/** Writes the commands that create a key: that of kubectl, and that of keyplane where its options can say the same. */
import { keyTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import type { Scope } from '../../../../core/src/objects.ts'
import { commandLines, heredoc, option, shellWord } from '../../text/kubectl.ts'
import { lifetimeText } from '../../text/lifetime.ts'
import { toYaml } from '../../text/yaml.ts'
import type { NewKey } from './form.ts'

export const yamlOf = (key: NewKey): string => toYaml(key)

/** Returns the command of kubectl, which prints the name and the value of the key: only this answer has the value. */
export const kubectlCommand = (key: NewKey): string =>
  heredoc(`kubectl create -o jsonpath='{.metadata.name} {.spec.key}{"\\n"}' -f -`, yamlOf(key))

/** Returns the command of keyplane, which prints the value, or undefined if its options cannot say what the object says. */
export function keyplaneCommand({ metadata, spec }: NewKey): string | undefined {
  const name = 'name' in metadata ? metadata.name : ''
  const scope = spec.scope && scopeOptions(spec.scope)
  if (scope?.length === 0 || scope?.includes(undefined) || name.startsWith('-')) return undefined
  const options = [
    ...keyTexts.flatMap(({ name, option }) => given(`--${option}`, spec[name])),
    ...given('--user', spec.user),
    ...given('--team', spec.team),
    ...given('--subject', spec.subject),
    ...Object.entries(metadata.labels ?? {}).map((one) => option('--label', one.join('='))),
    ...(spec.groups ?? []).map((group) => option('--group', group)),
    ...given('--ttl', spec.ttl === undefined ? undefined : lifetimeText(spec.ttl)),
    ...(spec.ttlAfterLastActivity ? ['--ttl-after-last-activity'] : []),
    ...(scope ?? []).filter((one) => one !== undefined),
    ...(spec.sourceCIDRs ?? []).map((one) => option('--from', one)),
  ]
  return commandLines(`keyplane keys create${name === '' ? '' : ` ${shellWord(name)}`}`, options)
}

const given = (name: string, value: string | undefined): string[] => (value === undefined ? [] : [option(name, value)])

/** Returns an option for each entry of the scope, and undefined in the place of one that options cannot say. */
function scopeOptions({
  roles = [],
  projects = [],
  spaces = [],
  virtualClusters = [],
  clusters = [],
  rules = [],
}: Scope): (string | undefined)[] {
  return [
    ...projects.map(({ project }) => named('--project', [project])),
    ...virtualClusters.map(({ project, virtualCluster }) => named('--virtual-cluster', [project, virtualCluster])),
    ...spaces.map(({ project, space }) => named('--space', [project, space])),
    ...clusters.map(({ cluster }) => named('--cluster', [cluster])),
    ...roles.map(roleOption),
    ...rules.map((rule) => option('--rule', JSON.stringify(rule))),
  ]
}

/** The program splits its values at commas, and pairs at the slash. Names of places have neither. */
const named = (flag: string, names: readonly (string | undefined)[]): string | undefined =>
  names.every((name) => name && /^[^,/\s]+$/.test(name)) ? option(flag, names.join('/')) : undefined

function roleOption({ role = '', projects = [], virtualClusters = [] }: NonNullable<Scope['roles']>[number]): string {
  const places = [...projects, ...virtualClusters]
  if (role === 'selfRotate') return '--self-rotate'
  return option('--role', places.length === 0 ? role : `${role}=${places.join(',')}`)
}
