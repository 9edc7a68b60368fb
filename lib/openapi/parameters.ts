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
  pretty: query('pretty', 'true: the answer is indented.'),
  dryRun: query('dryRun', 'All: everything is checked, nothing is stored.'),
  fieldManager: query('fieldManager', 'Who makes the change; at most 128 printable characters.'),
  fieldValidation: query(
    'fieldValidation',
    'What unknown and duplicate fields do: Ignore, Warn or Strict. By default Strict for fields of spec where a kind hands out access, else Warn.',
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

/** Returns the parameters of these names, in this order. */
export const parametersOf = (names: readonly string[]): JsonObject[] => names.map((name) => parameters[name] ?? {})

/** The parameters of lists. */
export const LIST = ['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion', 'resourceVersionMatch']
/** The additional parameters of watches. */
export const WATCH = ['watch', 'allowWatchBookmarks', 'sendInitialEvents', 'timeoutSeconds']
/** The parameters of deletes. */
export const DELETE = ['dryRun', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds']
/** The parameters of creates, updates and patches. */
export const WRITE = ['dryRun', 'fieldManager', 'fieldValidation']
