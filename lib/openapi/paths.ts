/**
 * The paths of a kind in OpenAPI: without the base path, because clients look them up so (kubectl explain).
 * Source: k8s.io/apiserver/pkg/endpoints/installer.go, k8s.io/kubectl/pkg/explain and pkg/util/openapi.
 */

import { bodyTypes, patchTypes } from '../endpoints/negotiation/mediatypes.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'
import type { KindInfo } from '../registry/kind.ts'
import { sharedRef } from './meta.ts'
import { DELETE, LIST, parametersOf, WATCH, WRITE } from './parameters.ts'

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

const content = (types: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(types.map((type) => [type, { schema }]))

const answer = (description: string, schema: JsonObject): JsonObject => ({
  description,
  content: content(Object.keys(bodyTypes), schema),
})

interface Operation {
  /** As `x-kubernetes-action` says it. */
  action: 'list' | 'post' | 'deletecollection' | 'get' | 'put' | 'patch' | 'delete'
  description: string
  /** Code and schema of what succeeds. */
  answers: Readonly<Record<string, JsonObject>>
  query?: readonly string[]
  body?: JsonObject
}

const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** `ManagementPlatform`; of a group of Kubernetes itself the first part: `Authentication`. */
const groupName = ({ group }: OpenApiKind): string =>
  group
    .replace(/\.k8s\.io$/, '')
    .split('.')
    .map(title)
    .join('')

const idVerbs: Readonly<Record<Operation['action'], string>> = {
  list: 'list',
  post: 'create',
  deletecollection: 'delete',
  get: 'read',
  put: 'replace',
  patch: 'patch',
  delete: 'delete',
}

/** Where an operation is: `''`, below a namespace, over all of them, on the status. */
interface Where {
  namespaced: boolean
  suffix?: 'ForAllNamespaces' | 'Status'
}

/** `readManagementPlatformV1NamespacedVirtualClusterInstanceStatus`, as generated clients name their methods. */
function operationId(kind: OpenApiKind, { namespaced, suffix }: Where, action: Operation['action']): string {
  const of = action === 'deletecollection' ? 'Collection' : ''
  const within = namespaced ? 'Namespaced' : ''
  return `${idVerbs[action]}${groupName(kind)}${title(kind.version)}${of}${within}${kind.kind}${suffix ?? ''}`
}

function operation(kind: OpenApiKind, where: Where, { action, description, answers, query = [], body }: Operation) {
  const responses = Object.entries(answers).map(([code, schema]): [string, JsonValue] => [
    code,
    answer('Done.', schema),
  ])
  const tag = groupName(kind)
  return {
    operationId: operationId(kind, where, action),
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
function operations(kind: OpenApiKind, where: Where, all: Readonly<Record<string, [string, Operation]>>): JsonObject {
  const served = Object.entries(all).filter(([, [verb]]) => kind.verbs.includes(verb))
  return Object.fromEntries(served.map(([method, [, one]]) => [method, operation(kind, where, one)]))
}

function collection(kind: OpenApiKind, where: Where): JsonObject {
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

function item(kind: OpenApiKind, where: Where, what: string): JsonObject {
  const isStatus = where.suffix === 'Status'
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
const unservedPatch = (kind: OpenApiKind, where: Where): JsonObject => ({
  patch: operation(
    kind,
    where,
    patchOf(kind, 'Not served (405): it tells clients that fields are validated by the server.'),
  ),
})

const withParameters = (path: string, item: JsonObject): JsonObject => {
  const names = ['namespace', 'name'].filter((name) => path.includes(`{${name}}`))
  return names.length === 0 ? item : { parameters: parametersOf(names), ...item }
}

/** All paths of a kind. */
export function pathsOf(kind: OpenApiKind): JsonObject {
  const base = `/apis/${kind.group}/${kind.version}`
  const namespaced = kind.scope === 'Namespaced'
  const where: Where = { namespaced }
  const whole = `${base}/${namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`
  const one = `${whole}/{name}`
  const list: [string, JsonObject][] = []
  if (kind.subresource !== undefined) {
    const body = collection({ ...kind, verbs: ['create'] }, where)
    list.push([`${one}/${kind.subresource}`, { ...body, ...unservedPatch(kind, where) }])
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
    if (kind.schema.status && kind.verbs.includes('update')) {
      list.push([`${one}/status`, item(kind, { namespaced, suffix: 'Status' }, `the status of the ${kind.singular}`)])
    }
  }
  return Object.fromEntries(list.map(([path, operations]) => [path, withParameters(path, operations)]))
}
