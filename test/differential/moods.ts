/** Defines the emphasis of sequences. Uniformly random requests would rarely reach conflicts of several writers. */

const actions = ['create', 'update', 'mergePatch', 'jsonPatch', 'apply', 'get', 'list', 'remove', 'removeAll'] as const
export type ActionName = (typeof actions)[number]

export interface Mood {
  /** The relative weight of each action. */
  weights: Readonly<Record<ActionName, number>>
  /** The number of objects. */
  names: readonly string[]
  /** The probability that a write targets the status. */
  status: number
  /** Restricts the spec to this many members, so that writers conflict. */
  members?: number
  /** The probabilities of managedFields and finalizers in metadata. */
  managedFields: number
  finalizers: number
  /** The probability that a write has a resourceVersion or UID. */
  preconditions: number
  /** The probability of a dry run. */
  dryRun: number
}

const mixed: Mood = {
  weights: { create: 3, update: 3, mergePatch: 4, jsonPatch: 3, apply: 7, get: 1, list: 2, remove: 1, removeAll: 1 },
  names: ['a', 'a', 'a', 'b'],
  status: 0.2,
  managedFields: 0.08,
  finalizers: 0.25,
  preconditions: 0,
  dryRun: 0.08,
}

const moods: readonly Mood[] = [
  mixed,
  mixed,
  { ...mixed, weights: { ...mixed.weights, apply: 14, update: 4, remove: 0, removeAll: 0 }, names: ['a'], members: 4 },
  { ...mixed, weights: { ...mixed.weights, update: 6, remove: 0 }, names: ['a'], members: 3, managedFields: 0.5 },
  { ...mixed, weights: { ...mixed.weights, get: 2 }, names: ['a'], members: 2, status: 0.7 },
  {
    ...mixed,
    weights: { ...mixed.weights, remove: 6, removeAll: 4, list: 1 },
    finalizers: 0.6,
    preconditions: 0.3,
    members: 3,
  },
  {
    ...mixed,
    weights: { ...mixed.weights, create: 10, list: 14, removeAll: 3 },
    names: ['a', 'b', 'c', 'd', 'e'],
    members: 2,
  },
  { ...mixed, preconditions: 0.5, dryRun: 0.3, members: 5 },
]

export const pickMood = (pick: (all: readonly Mood[]) => Mood): Mood => pick(moods)

/** Repeats every action by its weight. */
export const actionsOf = ({ weights }: Mood): ActionName[] =>
  actions.flatMap((action) => Array<ActionName>(weights[action]).fill(action))
