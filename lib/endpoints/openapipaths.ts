/**
 * The paths of a kind in OpenAPI: without the base path, because clients look them up so (kubectl explain).
 * Source: k8s.io/apiserver/pkg/endpoints/installer.go, k8s.io/kubectl/pkg/explain and pkg/util/openapi.
 */
import type { JsonObject, JsonValue } from '../meta/types.ts'
import type { KindInfo } from '../registry/kind.ts'
import { bodyTypes, patchTypes } from './mediatypes.ts'
import { sharedRef } from './openapimeta.ts'

/** A kind and what of it is served. */
export interface OpenApiKind extends KindInfo {
  /** Of the kind itself: `['create']` for kinds that store nothing. */
  verbs: readonly string[]
  /** Set where the kind is created below an object of `plural`: POST …/PLURAL/{name}/SUBRESOURCE. */
  subresource?: string
}

/** `platform.management.v1.OwnedAccessKey`. */
export const schemaName = ({ group, version, kind }: OpenApiKind): string =>
  [...group.split('.').reverse(), version, kind].join('.')

export const gvkOf = ({ group, version, kind }: OpenApiKind): JsonObject => ({ group, version, kind })

const parameter = (name: string): JsonObject => ({ $ref: `#/components/parameters/${name}` })

const query = (name: string, description: string, type: 'string' | 'integer' | 'boolean' = 'string'): JsonObject => ({
  name,
  in: 'query',
  description,
  schema: { type },
})

const inPath = (name: string, description: string): JsonObject => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
})

/** `components.parameters`. */
export const parameters: JsonObject = {
  name: inPath('name', 'Name of the object.'),
  namespace: inPath('namespace', 'Namespace of the object.'),
  pretty: query('pretty', 'true: the answer is indented.'),
  dryRun: query('dryRun', 'All: everything is checked, nothing is stored.'),
  fieldManager: query('fieldManager', 'Who makes the change; at most 128 printable characters.'),
  fieldValidation: query(
    'fieldValidation',
    'What unknown and duplicate fields do: Ignore, Warn (the default) or Strict.',
  ),
  force: query('force', 'Takes fields over from other managers; for server-side apply only.', 'boolean'),
  labelSelector: query('labelSelector', 'Only objects with these labels.'),
  fieldSelector: query('fieldSelector', 'Only objects with these fields.'),
  limit: query('limit', 'At most this many objects in one answer.', 'integer'),
  continue: query('continue', 'The token of the page before.'),
  resourceVersion: query('resourceVersion', 'Which version to start from, or to be at least at.'),
  resourceVersionMatch: query('resourceVersionMatch', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  watch: query('watch', 'Changes instead of a list.', 'boolean'),
  allowWatchBookmarks: query('allowWatchBookmarks', 'Events of type BOOKMARK may come in a watch.', 'boolean'),
  sendInitialEvents: query(
    'sendInitialEvents',
    'A watch begins with what there is, and marks its end; needs resourceVersionMatch=NotOlderThan.',
    'boolean',
  ),
  timeoutSeconds: query('timeoutSeconds', 'When a watch ends.', 'integer'),
  propagationPolicy: query('propagationPolicy', 'What becomes of dependents: Foreground, Background or Orphan.'),
  orphanDependents: query('orphanDependents', 'Dependents stay; propagationPolicy says more.', 'boolean'),
  gracePeriodSeconds: query('gracePeriodSeconds', 'Of no effect: nothing here ends slowly.', 'integer'),
}

const LIST = ['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion', 'resourceVersionMatch']
const WATCH = ['watch', 'allowWatchBookmarks', 'sendInitialEvents', 'timeoutSeconds']
const DELETE = ['dryRun', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds']
const WRITE = ['dryRun', 'fieldManager', 'fieldValidation']

const content = (types: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(types.map((type) => [type, { schema }]))

const answer = (description: string, schema: JsonObject): JsonObject => ({
  description,
  content: content(Object.keys(bodyTypes), schema),
})

interface Operation {
  action: string
  description: string
  /** Code and schema of what succeeds. */
  answers: Readonly<Record<string, JsonObject>>
  query?: readonly string[]
  body?: JsonObject
}

function operation(kind: OpenApiKind, where: string, { action, description, answers, query = [], body }: Operation) {
  const responses = Object.entries(answers).map(([code, schema]): [string, JsonValue] => [
    code,
    answer('Done.', schema),
  ])
  return {
    operationId: `${action}${kind.kind}${where}`,
    description,
    tags: [`${kind.group}_${kind.version}`],
    parameters: ['pretty', ...query].map(parameter),
    ...(body && { requestBody: body }),
    responses: { ...Object.fromEntries(responses), default: answer('Refused.', sharedRef('Status')) },
    'x-kubernetes-action': action,
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

const patchBody: JsonObject = {
  required: true,
  content: { ...content(patchTypes, { description: 'A patch in the format of its type.' }) },
}

const deleteBody: JsonObject = { content: content(Object.keys(bodyTypes), sharedRef('DeleteOptions')) }

/** Operations by method, each with what serves it; without those that the kind does not have. */
function operations(kind: OpenApiKind, where: string, all: Readonly<Record<string, [string, Operation]>>): JsonObject {
  const served = Object.entries(all).filter(([, [verb]]) => kind.verbs.includes(verb))
  return Object.fromEntries(served.map(([method, [, one]]) => [method, operation(kind, where, one)]))
}

function collection(kind: OpenApiKind, where: string): JsonObject {
  const { singular, plural } = kind
  return operations(kind, where, {
    get: [
      'list',
      {
        action: 'list',
        description: `Lists or watches ${plural}.`,
        answers: { 200: ref(kind, 'List') },
        query: [...LIST, ...WATCH],
      },
    ],
    post: [
      'create',
      {
        action: 'post',
        description: `Creates a ${singular}.`,
        answers: { 201: ref(kind) },
        query: WRITE,
        body: objectBody(kind),
      },
    ],
    delete: [
      'deletecollection',
      {
        action: 'deletecollection',
        description: `Deletes all ${plural} that are selected.`,
        answers: { 200: ref(kind, 'List') },
        query: [...LIST, ...DELETE],
        body: deleteBody,
      },
    ],
  })
}

/** Only an apply of the object itself creates one. */
const patchOf = (kind: OpenApiKind, description: string, creates = true): Operation => ({
  action: 'patch',
  description,
  answers: { 200: ref(kind), ...(creates && { 201: ref(kind) }) },
  query: [...WRITE, 'force'],
  body: patchBody,
})

function item(kind: OpenApiKind, where: string, what: string): JsonObject {
  const isStatus = where.endsWith('Status')
  return operations(kind, where, {
    get: [
      'get',
      { action: 'get', description: `Reads ${what}.`, answers: { 200: ref(kind) }, query: ['resourceVersion'] },
    ],
    put: [
      'update',
      {
        action: 'put',
        description: `Replaces ${what}.`,
        answers: { 200: ref(kind) },
        query: WRITE,
        body: objectBody(kind),
      },
    ],
    patch: ['patch', patchOf(kind, `Changes ${what}.`, !isStatus)],
    ...(isStatus
      ? {}
      : {
          delete: [
            'delete',
            {
              action: 'delete',
              description: `Deletes ${what}.`,
              answers: { 200: sharedRef('Status'), 202: ref(kind) },
              query: DELETE,
              body: deleteBody,
            },
          ],
        }),
  })
}

/**
 * kubectl sends `fieldValidation` only for kinds with a documented PATCH that takes it, and cannot create others at all
 * where it finds no OpenAPI v2. So there is one, although it answers 405.
 */
const unservedPatch = (kind: OpenApiKind, where: string): JsonObject => ({
  patch: operation(
    kind,
    where,
    patchOf(kind, 'Not served (405): it tells clients that fields are validated by the server.'),
  ),
})

const withParameters = (path: string, item: JsonObject): JsonObject => {
  const names = ['namespace', 'name'].filter((name) => path.includes(`{${name}}`))
  return names.length === 0 ? item : { parameters: names.map(parameter), ...item }
}

/** All paths of a kind. */
export function pathsOf(kind: OpenApiKind): JsonObject {
  const base = `/apis/${kind.group}/${kind.version}`
  const namespaced = kind.scope === 'Namespaced'
  const where = namespaced ? 'Namespaced' : ''
  const whole = `${base}/${namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`
  const one = `${whole}/{name}`
  const list: [string, JsonObject][] = []
  if (kind.subresource !== undefined) {
    const body = collection({ ...kind, verbs: ['create'] }, where)
    list.push([`${one}/${kind.subresource}`, { ...body, ...unservedPatch(kind, where) }])
  } else {
    list.push([whole, collection(kind, where)])
    if (namespaced && kind.verbs.includes('list')) {
      list.push([`${base}/${kind.plural}`, collection({ ...kind, verbs: ['list'] }, 'AllNamespaces')])
    }
    const served = item(kind, where, `the ${kind.singular}`)
    list.push([one, kind.verbs.includes('patch') ? served : { ...served, ...unservedPatch(kind, where) }])
    if (kind.schema.status && kind.verbs.includes('update')) {
      list.push([`${one}/status`, item(kind, `${where}Status`, `the status of the ${kind.singular}`)])
    }
  }
  return Object.fromEntries(list.map(([path, operations]) => [path, withParameters(path, operations)]))
}
