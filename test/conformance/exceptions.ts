/**
 * Answers that are other ones than those of a kube-apiserver, for a reason. Each is checked to be still needed: an
 * exception whose answer is the recorded one fails its test.
 */
export interface Exception {
  file: string
  /** From 1, as failures name them. */
  step: number
  /** Where the answer differs: every difference of the step is at or below one of these, and each has one. */
  pointers: readonly string[]
  reason: string
}

const because =
  (reason: string, ...pointers: string[]) =>
  (file: string, ...steps: number[]): Exception[] =>
    steps.map((step) => ({ file, step, pointers, reason }))

const shifted = because(
  'Sorted lines of YAML: `status.canUse`, which is computed here, shifts those behind it.',
  '/lines',
)
const inferred = because(
  'The specification (2.1) lets a body leave out its kind and apiVersion: they are inferred from the endpoint.',
  '/code',
  '/body',
)
const inferredText = because('A body that leaves out its apiVersion is of the one of the endpoint.', '/body/message')
const afterInferred = because(
  'A request before this one is refused there, and done here, since its kind is inferred.',
  '/body/metadata',
)
const typo =
  'A field that a kind does not have, or has twice, must not widen access: refused unless the client asks for something else.'
/** Only a warning there, and the answer is another one. */
const accepted = because(typo, '/code', '/body', '/headers/warning')
/** A warning there, and refused for something else with the same code. */
const refused = because(typo, '/body', '/headers/warning')
const before = 'What an earlier step would have stored was refused.'
const following = because(before, '/body')
const missing = because(before, '/code', '/body')

export const exceptions: readonly Exception[] = [
  ...shifted('20-get.json', 10),
  ...shifted('accept-and-patch-bodies.json', 8, 12),
  ...shifted('negotiation-and-numbers.json', 7, 8, 10),
  {
    file: '110-list.json',
    step: 20,
    pointers: ['/body/~1rows~10~1cells'],
    reason: 'The columns of a table are the kind’s own affair; the cells of another kind’s columns were recorded.',
  },
  ...[5, 6, 7, 8].map((step) => ({
    file: '150-errors.json',
    step,
    pointers: ['/body/~1message'],
    reason:
      'Here it is a scope that refuses: its reason follows the recorded words, as that of an authorizer does there.',
  })),
  ...inferred('11-create-bodies.json', 4, 5),
  ...inferred('70-apply-basics.json', 17, 18),
  ...inferred('bodies.json', 12, 18),
  ...inferred('kinds-and-lists.json', 2, 3, 5, 6),
  ...inferredText('accept-and-patch-bodies.json', 56),
  ...afterInferred('11-create-bodies.json', 10, 11, 13, 14),
  ...afterInferred('70-apply-basics.json', 23),
  ...accepted('140-field-validation.json', 1, 8, 14),
  ...following('140-field-validation.json', 2, 3, 6, 15),
  ...missing('140-field-validation.json', 16, 20),
  ...accepted('41-validation-schema.json', 5),
  ...accepted('60-merge-patch.json', 13),
  ...refused('accept-and-patch-bodies.json', 53, 61),
  ...refused('bodies.json', 7),
  ...refused('numbers-metadata.json', 100),
  ...accepted('patch-literals.json', 53),
  ...following('patch-literals.json', 55, 56),
  ...accepted('seed-13.json', 11),
  ...following('seed-13.json', 16, 19, 22, 23),
  ...accepted('seed-2.json', 12, 20),
  ...accepted('seed-27.json', 5),
]
