/**
 * Describes the paths of a kind in OpenAPI. They have no base path, because clients such as `kubectl explain` expect none.
 * Source: k8s.io/apiserver/pkg/endpoints/installer.go, k8s.io/kubectl/pkg/explain and pkg/util/openapi.
 */

import { bodyTypes, patchTypes } from '../endpoints/negotiation/bodies.ts'
import { object, string, time } from '../meta/schema/schema.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'
import type { KindInfo, ServedKind } from '../registry/kind.ts'
import { sharedRef } from './meta.ts'
import { openApiSchema } from './openapischema.ts'
import { DELETE, LIST, parametersOf, READ, WRITE } from './parameters.ts'

/** A kind with its verbs, without those of its subresources. */
export type OpenApiKind = ServedKind & { verbs: readonly string[] }

/** The name of the core group in the schemas of Kubernetes. */
const CORE = 'core.api.k8s.io'

/** Returns the schema name of a kind, such as `test.example.v1.Lamp`. */
export const schemaName = ({ group, version, kind }: OpenApiKind): string =>
  [...(group || CORE).split('.').reverse(), version, kind].join('.')

/** Returns the path of a group version: `/apis/GROUP/VERSION`, or `/api/VERSION` for the core group. */
export const groupPath = ({ group, version }: Pick<KindInfo, 'group' | 'version'>): string =>
  group ? `/apis/${group}/${version}` : `/api/${version}`

export const gvkOf = ({ group, version, kind }: Pick<KindInfo, 'group' | 'version' | 'kind'>): JsonObject => ({
  group,
  version,
  kind,
})

const content = (types: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(types.map((type) => [type, { schema }]))

const answer = (description: string, schema: JsonObject, otherForms: JsonObject = {}): JsonObject => ({
  description,
  content: { ...content(Object.keys(bodyTypes), schema), ...otherForms },
})

/** Each verb with its method, the value of `x-kubernetes-action`, and its name in ids of operations. */
const VERBS = {
  list: { method: 'get', action: 'list', id: 'list' },
  create: { method: 'post', action: 'post', id: 'create' },
  deletecollection: { method: 'delete', action: 'deletecollection', id: 'delete' },
  get: { method: 'get', action: 'get', id: 'read' },
  update: { method: 'put', action: 'put', id: 'replace' },
  patch: { method: 'patch', action: 'patch', id: 'patch' },
  delete: { method: 'delete', action: 'delete', id: 'delete' },
} as const

type Verb = keyof typeof VERBS

interface Operation {
  description: string
  /** The successful responses: schemas by status code. */
  answers: Readonly<Record<string, JsonObject>>
  /** Other forms of the successful responses: `content` by media type. */
  otherForms?: JsonObject
  query?: readonly string[]
  body?: JsonObject
}

const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Returns `ExampleTest`; for Kubernetes' own groups only the first part: `Authentication`, `Core`. */
const groupName = ({ group }: OpenApiKind): string =>
  (group || 'core')
    .replace(/\.k8s\.io$/, '')
    .split('.')
    .map(title)
    .join('')

/** The path of an operation: below a namespace or not, for all namespaces, or on the status. */
interface Where {
  namespaced: boolean
  suffix?: 'ForAllNamespaces' | 'Status'
}

/** Returns the name of a method in generated clients: `readExampleTestV1NamespacedNoteStatus`. */
function operationId(kind: OpenApiKind, { namespaced, suffix }: Where, verb: Verb): string {
  const of = verb === 'deletecollection' ? 'Collection' : ''
  const within = namespaced ? 'Namespaced' : ''
  return `${VERBS[verb].id}${groupName(kind)}${title(kind.version)}${of}${within}${kind.kind}${suffix ?? ''}`
}

function operation(kind: OpenApiKind, where: Where, verb: Verb, one: Operation) {
  const { description, answers, otherForms, query = [], body } = one
  const responses = Object.entries(answers).map(([code, schema]): [string, JsonValue] => [
    code,
    answer('Done.', schema, otherForms),
  ])
  const tag = groupName(kind)
  return {
    operationId: operationId(kind, where, verb),
    summary: description.split(/[.:]/, 1).join(),
    description,
    tags: [`${tag.charAt(0).toLowerCase()}${tag.slice(1)}_${kind.version}`],
    parameters: parametersOf(['pretty', ...query]),
    ...(body && { requestBody: body }),
    responses: {
      ...Object.fromEntries(responses),
      401: { description: 'Unauthorized.' },
      default: answer('Refused.', sharedRef('Status')),
    },
    'x-kubernetes-action': VERBS[verb].action,
    'x-kubernetes-group-version-kind': gvkOf(kind),
  } satisfies JsonObject
}

const ref = (kind: OpenApiKind, suffix = ''): JsonObject => ({
  $ref: `#/components/schemas/${schemaName(kind)}${suffix}`,
})

const objectBody = (kind: OpenApiKind): JsonObject => ({
  required: true,
  content: content(Object.keys(bodyTypes), ref(kind)),
})

const patchBody = (kind: OpenApiKind): JsonObject => ({
  required: true,
  content: content(kind.patchTypes ?? patchTypes, { description: 'A patch in the format of its type.' }),
})

const deleteBody: JsonObject = { content: content(Object.keys(bodyTypes), sharedRef('DeleteOptions')) }

/** Returns the operations that the kind supports, by method. */
function operations(kind: OpenApiKind, where: Where, all: Readonly<Partial<Record<Verb, Operation>>>): JsonObject {
  const served = (Object.entries(all) as [Verb, Operation][]).filter(([verb]) => kind.verbs.includes(verb))
  return Object.fromEntries(served.map(([verb, one]) => [VERBS[verb].method, operation(kind, where, verb, one)]))
}

function collection(kind: OpenApiKind, where: Where): JsonObject {
  const { singular, plural } = kind
  return operations(kind, where, {
    list: {
      description: `Lists or watches ${plural}.`,
      answers: { 200: ref(kind, 'List') },
      query: [...LIST, ...READ],
    },
    create: {
      description: `Creates a ${singular}.`,
      answers: { 201: ref(kind) },
      ...(kind.credential && { otherForms: execCredentialContent() }),
      query: WRITE,
      body: objectBody(kind),
    },
    deletecollection: {
      description: `Deletes the selected ${plural}.`,
      answers: { 200: ref(kind, 'List') },
      query: [...LIST, ...DELETE],
      body: deleteBody,
    },
  })
}

/** Only an apply of the object itself can create the object. */
const patchOf = (kind: OpenApiKind, description: string, creates = true): Operation => ({
  description,
  answers: { 200: ref(kind), ...(creates && { 201: ref(kind) }) },
  query: [...WRITE, 'force'],
  body: patchBody(kind),
})

function item(kind: OpenApiKind, where: Where, what: string): JsonObject {
  const isStatus = where.suffix === 'Status'
  const remove = {
    description: `Deletes ${what}.`,
    answers: { 200: sharedRef('Status'), 202: ref(kind) },
    query: DELETE,
    body: deleteBody,
  }
  return operations(kind, where, {
    get: { description: `Reads ${what}.`, answers: { 200: ref(kind) }, query: ['resourceVersion'] },
    update: {
      description: `Replaces ${what}.`,
      answers: { 200: ref(kind) },
      query: WRITE,
      body: objectBody(kind),
    },
    patch: patchOf(kind, `Changes ${what}.`, kind.archetype !== 'virtual' && !isStatus),
    ...(!isStatus && { delete: remove }),
  })
}

/**
 * Documents a PATCH that answers 405. kubectl sends `fieldValidation` only for kinds with a documented PATCH that accepts it.
 * Without OpenAPI v2, kubectl cannot create objects of other kinds.
 */
const unservedPatch = (kind: OpenApiKind, where: Where): JsonObject => ({
  patch: operation(
    kind,
    where,
    'patch',
    patchOf(kind, 'Not supported (405). Documented so that clients know that the server validates fields.'),
  ),
})

const withParameters = (path: string, item: JsonObject): JsonObject => {
  const names = ['namespace', 'name'].filter((name) => path.includes(`{${name}}`))
  return names.length === 0 ? item : { parameters: parametersOf(names), ...item }
}

export function pathsOf(kind: OpenApiKind): JsonObject {
  const base = groupPath(kind)
  const namespaced = kind.scope === 'Namespaced'
  const where: Where = { namespaced }
  const whole = `${base}/${namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`
  const one = `${whole}/{name}`
  const list: [string, JsonObject][] = []
  if (kind.subresource !== undefined) {
    const path = `${one}/${kind.subresource}`
    const served = collection({ ...kind, verbs: ['create'] }, where)
    if (kind.archetype === 'computed')
      list.push([path, item(kind, where, `the ${kind.subresource} of the ${kind.plural}`)])
    else list.push([path, { ...served, ...unservedPatch(kind, where) }])
  } else {
    list.push([whole, collection(kind, where)])
    if (namespaced && kind.verbs.includes('list')) {
      list.push([
        `${base}/${kind.plural}`,
        collection({ ...kind, verbs: ['list'] }, { namespaced: false, suffix: 'ForAllNamespaces' }),
      ])
    }
    const served = item(kind, where, `the ${kind.singular}`)
    list.push([one, kind.verbs.includes('patch') ? served : { ...served, ...unservedPatch(kind, where) }])
    if (kind.archetype !== 'virtual' && kind.schema.status && kind.verbs.includes('update')) {
      list.push([`${one}/status`, item(kind, { namespaced, suffix: 'Status' }, `the status of the ${kind.singular}`)])
    }
  }
  return Object.fromEntries(list.map(([path, operations]) => [path, withParameters(path, operations)]))
}

const schema = object('The issued credential alone, as clients of Kubernetes read it from credential plugins.', {
  apiVersion: string('Version of this representation: client.authentication.k8s.io/v1, or v1beta1 with v=v1beta1.'),
  kind: string('Kind of this representation: ExecCredential.'),
  status: object('The credential: a token, or a certificate with its key.', {
    expirationTimestamp: time('Time when the credential expires.'),
    token: string('The token.'),
    clientCertificateData: string('The client certificate, in PEM.'),
    clientKeyData: string('The key of the client certificate, in PEM.'),
  }),
})

/** The parameters of a media type that ask for an ExecCredential. */
export const EXEC_CREDENTIAL_PARAMETERS = 'as=ExecCredential;g=client.authentication.k8s.io;v=v1'

/** Returns the entries of an operation's `content`. */
const execCredentialContent = (): JsonObject =>
  Object.fromEntries(
    Object.keys(bodyTypes).map((type) => [`${type};${EXEC_CREDENTIAL_PARAMETERS}`, { schema: openApiSchema(schema) }]),
  )
