/** What a sequence is about: all of it at random would come too seldom to where several writers meet. */

const actions = ['create', 'update', 'mergePatch', 'jsonPatch', 'apply', 'get', 'list', 'remove', 'removeAll'] as const
export type ActionName = (typeof actions)[number]

export interface Mood {
  /** How often each action comes, beside the others. */
  weights: Readonly<Record<ActionName, number>>
  /** Objects that requests are about. */
  names: readonly string[]
  /** How often a write goes to the status. */
  status: number
  /** So many members of the spec, and no others: writers meet. */
  members?: number
  /** How often metadata has managedFields, and finalizers. */
  managedFields: number
  finalizers: number
  /** How often a write says something of the version or the uid that it is about. */
  preconditions: number
  /** How often a write is only tried. */
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

/** Every action as often as the mood says. */
export const actionsOf = ({ weights }: Mood): ActionName[] =>
  actions.flatMap((action) => Array<ActionName>(weights[action]).fill(action))
