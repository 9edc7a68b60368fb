/** Explains to people who mistyped a path why no function serves it, and what is served instead. */

import { formatValue } from '../../engine/meta/encoding/badvalue.ts'
import { groupVersion } from '../../engine/meta/groupversion.ts'
import { type KindRow, kindRows } from '../../kinds.ts'

const COLLECTION = ['GET', 'POST', 'DELETE']
const OBJECT = ['GET', 'PUT', 'PATCH', 'DELETE']
const STATUS = ['GET', 'PUT', 'PATCH']

/** Returns a sentence that explains why a method and a path below the base are not served. */
export function explainRoute(method: string, path: string): string {
  const [root, group = '', version = '', ...steps] = path.slice(1).split('/')
  if (/^\/api\/v1\/namespaces\/[^/]+$/.test(path)) return otherMethod(method, ['GET', 'PUT', 'PATCH'])
  if (root !== 'apis' || group === '' || version === '')
    return `nothing is served at ${quoteSegment(path)}; GET /apis lists the API groups`
  const asked = `${group}/${version}`
  const own = kindRows.filter((one) => groupVersion(one) === asked)
  const isNamespaced = steps[0] === 'namespaces' && steps.length > 2
  const [plural = '', ...rest] = isNamespaced ? steps.slice(2) : steps
  if (own.length === 0) return explainGroupVersion(asked, plural)
  if (plural === '') return otherMethod(method, ['GET'])
  const served = own.filter((one) => one.plural === plural)
  const [resource] = served
  if (!resource)
    return `${asked} has no resource ${quoteSegment(plural)}; its resources are ${joinNames(own.map((one) => one.plural))}`
  if ((resource.scope === 'Namespaced') !== isNamespaced) return otherPlace(resource)
  return below(served, resource, method, rest)
}

/** Explains a path below a resource: the collection, an object, or a subresource. */
function below(
  served: readonly KindRow[],
  { plural, archetype }: KindRow,
  method: string,
  [name, subresource, more]: readonly string[],
): string {
  if (archetype === 'virtual')
    return name === undefined ? otherMethod(method, ['POST']) : `${plural} can only be created, and have no names`
  if (name === undefined) return otherMethod(method, COLLECTION)
  if (subresource === undefined) return otherMethod(method, OBJECT)
  const own = served.find((one) => one.subresource !== undefined && one.subresource === subresource)
  const subresources = ['status', ...served.flatMap((one) => one.subresource ?? [])]
  if (more !== undefined || !subresources.includes(subresource))
    return `${plural} have no subresource ${quoteSegment([subresource, more].filter(Boolean).join('/'))}; their subresources are ${joinNames(subresources)}`
  return otherMethod(method, own ? [own.archetype === 'computed' ? 'GET' : 'POST'] : STATUS)
}

function explainGroupVersion(asked: string, plural: string): string {
  const places = kindRows.filter((one) => one.plural === plural).map(groupVersion)
  const found = places.length > 0 ? `${plural} are served in ${joinNames(places)}` : 'GET /apis lists the API groups'
  return `${quoteSegment(asked)} is not served; ${found}`
}

const otherPlace = (row: KindRow): string =>
  row.scope === 'Namespaced'
    ? `${row.plural} are namespaced: /apis/${groupVersion(row)}/namespaces/NAMESPACE/${row.plural}`
    : `${row.plural} are cluster-scoped: /apis/${groupVersion(row)}/${row.plural}`

const otherMethod = (method: string, methods: readonly string[]): string =>
  `this path does not support ${quoteSegment(method)}; it supports ${joinNames(methods)}`

const joinNames = (names: readonly string[]): string => {
  const all = [...new Set(names)]
  return all.length > 1 ? `${all.slice(0, -1).join(', ')} and ${all.at(-1)}` : all.join()
}

const MAX_QUOTED = 128

/** Quotes a part of a path. The Status that shows it redacts credentials, also truncated ones. */
const quoteSegment = (text: string): string =>
  formatValue(text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text)
