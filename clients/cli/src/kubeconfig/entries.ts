/** Composes kube configs (client-go's Config v1) from entries: a cluster, a user and a context of the same name. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'

/** Says which entries this program has written: those of one server and one target. */
export type Mark = { server: string; target: string }

export interface Entry {
  /** The name that the entry has if no other entry has it. */
  name: string
  mark: Mark
  /** The address and the certificate authority. */
  cluster: JsonObject
  user: JsonObject
}

/** The name of the extension that holds the mark. */
export const MARK = 'keyplane'

const extensions = ({ server, target }: Mark): JsonObject[] => [{ name: MARK, extension: { server, target } }]

/** Returns the parts of an entry, which are named by their kind. */
export const partsOf = ({ cluster, user, mark }: Entry, name: string): Record<Part, JsonObject> => ({
  cluster: { ...cluster, extensions: extensions(mark) },
  user: { ...user, extensions: extensions(mark) },
  context: { cluster: name, user: name, extensions: extensions(mark) },
})

export type Part = 'cluster' | 'user' | 'context'
export const PARTS: readonly Part[] = ['cluster', 'user', 'context']

/** Returns a kube config without entries. */
export const emptyConfig = (): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [],
  users: [],
  contexts: [],
  'current-context': '',
})
