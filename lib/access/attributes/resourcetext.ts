/** Reads resources as people write them for kubectl, such as `deployments.apps`. Programs for people share it. */

export interface ResourceText {
  resource: string
  /** The API group, if the text names one. */
  group?: string
  /** What follows the slash. The program decides whether it is a name (`pods/web-0`) or a subresource (`pods/log`). */
  part?: string
}

/** Returns the parts of RESOURCE, RESOURCE.GROUP and either with /PART, or undefined for another form. */
export function readResource(text: string): ResourceText | undefined {
  const [type = '', part, ...more] = text.split('/')
  const [resource = '', ...group] = type.split('.')
  if (resource === '' || more.length > 0) return undefined
  return { resource, ...(group.length > 0 && { group: group.join('.') }), ...(part && { part }) }
}

/** A resource in the discovery of an API group. */
export interface ApiResource {
  name: string
  singularName?: string
  shortNames?: readonly string[]
}

/**
 * Returns the resource and the group that a word without a group means in the management API: one of its resources by name,
 * singular or short name, `namespaces`, or `*`. Returns undefined if there is none.
 */
export function managementResource(
  word: string,
  group: string,
  resources: readonly ApiResource[],
): { resource: string; group: string } | undefined {
  if (word === '*') return { resource: word, group }
  if (['namespaces', 'namespace', 'ns'].includes(word.toLowerCase())) return { resource: 'namespaces', group: '' }
  const found = resources.find(
    ({ name, singularName, shortNames = [] }) =>
      !name.includes('/') && [name, singularName, ...shortNames].includes(word.toLowerCase()),
  )
  return found && { resource: found.name, group }
}
