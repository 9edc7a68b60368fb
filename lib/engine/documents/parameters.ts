/**
 * Defines the parameters of operations. Each operation contains its parameters inline. kubectl does not resolve references,
 * and would conclude that the server does not validate fields. Source: k8s.io/cli-runtime/pkg/resource/query_param_verifier_v3.go.
 */
import type { JsonObject } from '../meta/types.ts'

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

const parameters: Readonly<Record<string, JsonObject>> = {
  name: inPath('name', 'Name of the object.'),
  namespace: inPath('namespace', 'Namespace of the object.'),
  pretty: query('pretty', 'Indents the response if true.'),
  dryRun: query('dryRun', 'All validates the request and returns the result without storing anything.'),
  fieldManager: query('fieldManager', 'Name of the actor that makes the change; at most 128 printable characters.'),
  fieldValidation: query(
    'fieldValidation',
    'How the server handles unknown and duplicate fields: Ignore, Warn or Strict. The default is Strict in spec if the kind grants access, otherwise Warn.',
  ),
  force: query('force', 'Takes over fields from other managers. Server-side apply only.', 'boolean'),
  labelSelector: query('labelSelector', 'Restricts the result to objects with matching labels.'),
  fieldSelector: query('fieldSelector', 'Restricts the result to objects with matching fields.'),
  namePrefix: query(
    'namePrefix',
    'Restricts the result to objects whose names begin with this text, and reads only those. An extension of the Kubernetes API.',
  ),
  limit: query('limit', 'Maximum number of objects in one response.', 'integer'),
  continue: query('continue', 'Token from the previous page.'),
  resourceVersion: query('resourceVersion', 'Version to start from, or minimum version of the result.'),
  resourceVersionMatch: query('resourceVersionMatch', 'How resourceVersion applies: Exact or NotOlderThan.'),
  watch: query('watch', 'Streams changes instead of returning a list.', 'boolean'),
  allowWatchBookmarks: query('allowWatchBookmarks', 'Allows events of type BOOKMARK in a watch.', 'boolean'),
  sendInitialEvents: query(
    'sendInitialEvents',
    'Starts a watch with the existing objects, followed by a bookmark. Requires resourceVersionMatch=NotOlderThan.',
    'boolean',
  ),
  timeoutSeconds: query('timeoutSeconds', 'Duration of a watch in seconds.', 'integer'),
  propagationPolicy: query('propagationPolicy', 'How dependents are deleted: Foreground, Background or Orphan.'),
  orphanDependents: query('orphanDependents', 'Keeps dependents. Deprecated: use propagationPolicy.', 'boolean'),
  gracePeriodSeconds: query('gracePeriodSeconds', 'Ignored: deletion is immediate.', 'integer'),
}

/** Returns the parameters of these names, in this order. */
export const parametersOf = (names: readonly string[]): JsonObject[] => names.map((name) => parameters[name] ?? {})

/** The parameters of lists. */
export const LIST = ['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion', 'resourceVersionMatch']
/** The additional parameters of reads, among them those of watches. */
export const READ = ['namePrefix', 'watch', 'allowWatchBookmarks', 'sendInitialEvents', 'timeoutSeconds']
/** The parameters of deletes. */
export const DELETE = ['dryRun', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds']
/** The parameters of creates, updates and patches. */
export const WRITE = ['dryRun', 'fieldManager', 'fieldValidation']
