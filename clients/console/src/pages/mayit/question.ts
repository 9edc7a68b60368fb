/** The question of the page "Access check": between the address, the form and the request. It holds no secret. */
import { type ApiResource, readResource } from '../../../../../lib/access/attributes/resourcetext.ts'
import { clusterResource, resourceHere } from '../../../../core/src/words/clusterresources.ts'
import { verbProblem } from '../../../../core/src/words/verbs.ts'
import { holdsValue, isLikeValue, isValue, LIKE_VALUE } from '../../text/keyvalue.ts'

export const GROUP = 'management.platform'

/** Where the request is made. The names are those of the options of `keyplane explain`. */
export const PLACES = {
  '': 'this API',
  cluster: 'a connected cluster',
  'virtual-cluster': 'a virtual cluster',
  space: 'a space',
} as const
export type Place = keyof typeof PLACES

export interface Question {
  key: string
  verb: string
  /** As kubectl writes it, with a subresource after a slash, or a path that begins with a slash. */
  resource: string
  name: string
  namespace: string
  place: Place
  /** The cluster, or PROJECT/NAME. */
  at: string
  from: string
}

export type Problems = Partial<Record<keyof Question, string>>

const TEXTS = ['key', 'verb', 'resource', 'name', 'namespace', 'from'] as const

/** Reads a query. What it does not say is empty; the key is the person's own. */
export function questionOf(query: URLSearchParams, ownKey: string): Question {
  const place = (Object.keys(PLACES) as Place[]).find((one) => one !== '' && query.has(one)) ?? ''
  const texts = Object.fromEntries(TEXTS.map((one) => [one, (query.get(one) ?? '').trim()]))
  const { key, ...rest } = texts as Record<(typeof TEXTS)[number], string>
  return { ...rest, key: key || ownKey, place, at: place === '' ? '' : (query.get(place) ?? '').trim() }
}

/** Returns the query of a question, without what is empty. */
export function queryOf(question: Question): Record<string, string> {
  const { place, at } = question
  const texts = TEXTS.flatMap((one) => (question[one].trim() === '' ? [] : [[one, question[one].trim()]]))
  return { ...Object.fromEntries(texts), ...(place !== '' && { [place]: at.trim() }) }
}

/** Fields that may be long without a value: paths and resources, PROJECT/NAME, and addresses. */
const WITH_PARTS = ['resource', 'at', 'from']

/** Reports whether such a text may hold a value: a part, or all of it if it is no path and no name with a group. */
const hasLikeValue = (text: string): boolean =>
  holdsValue(text) || (!/[.:]|^\//.test(text) && /[A-Z]/.test(text) && isValue(text))

/** Returns the fields that hold a value of a key or a token, which must not become part of an address. */
export const secretsOf = (question: Question): Problems =>
  Object.fromEntries(
    Object.entries(question)
      .filter(([field, text]) => (WITH_PARTS.includes(field) ? hasLikeValue(text) : isLikeValue(text)))
      .map(([field]) => [field, LIKE_VALUE]),
  )

/** Reports whether a query asks something, rather than only choosing the key. */
export const isAsked = ({ verb, resource }: Question): boolean => verb !== '' && resource !== ''

const isPath = (resource: string): boolean => resource.startsWith('/')

/** Returns the spec of the review, or what is wrong, by field: first of all, secrets. */
export function specOf(
  question: Question,
  resources: readonly ApiResource[],
): { spec: object } | { problems: Problems } {
  const { key, resource, name, namespace, place, at, from } = question
  const verb = isPath(resource) ? question.verb.toLowerCase() : question.verb
  const problems = secretsOf(question)
  if (Object.keys(problems).length > 0) return { problems }
  if (key === '') problems.key = 'Enter the name of an access key.'
  const wrongVerb =
    verb === '' ? 'Choose a verb.' : verbProblem(verb, { isPath: isPath(resource), isHere: place === '' })
  if (wrongVerb !== undefined) problems.verb = wrongVerb
  const attributes = isPath(resource) ? { nonResourceAttributes: { verb, path: resource } } : undefined
  if (attributes && (name || namespace)) problems.resource = 'A path has no name and no namespace.'
  if (attributes && place === 'space') problems.resource = 'A space has no paths.'
  const read = attributes ? undefined : readResource(resource)
  if (!attributes && !read) {
    problems.resource =
      resource === '' ? 'Enter a resource or a path.' : 'Write RESOURCE, RESOURCE.GROUP or RESOURCE/SUBRESOURCE.'
  }
  const named = read && (place === '' ? resourceHere(read, GROUP, resources) : clusterResource(read))
  if (read && !named) {
    problems.resource = `This API has no resource "${read.resource}". Choose where the request is made, or name the group: ${read.resource}.GROUP.`
  }
  const [project = '', one = '', ...more] = at.split('/')
  const isPair = project !== '' && one !== '' && more.length === 0
  if (place === 'cluster' && at === '') problems.at = 'Enter the name of a connected cluster.'
  if ((place === 'virtual-cluster' || place === 'space') && !isPair)
    problems.at = 'Write PROJECT/NAME, such as shop/dev.'
  if (Object.keys(problems).length > 0) return { problems }
  const targets = {
    '': undefined,
    cluster: { cluster: at },
    'virtual-cluster': { virtualCluster: { project, name: one } },
    space: { space: { project, name: one } },
  }
  const subresource = read?.part
  const target = targets[place]
  return {
    spec: {
      ...(attributes ?? {
        resourceAttributes: {
          verb,
          ...named,
          ...(subresource && { subresource }),
          ...(name && { name }),
          ...(namespace && { namespace }),
        },
      }),
      ...(target && { target }),
      ...(from && { sourceIP: from }),
    },
  }
}

/** Returns the question in words: `get virtualclusterinstances "demo" in namespace p-demo of this API`. */
export function requestWords({ verb, resource, name, namespace, place, at, from }: Question): string {
  const where = place === '' ? '' : ` in ${PLACES[place].replace(/^a /, 'the ')} ${at}`
  return [
    `${verb} ${resource}`,
    name && ` "${name}"`,
    namespace && ` in namespace ${namespace}`,
    where,
    from && `, from ${from}`,
  ].join('')
}
