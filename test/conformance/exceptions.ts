/**
 * Lists answers that differ from kube-apiserver on purpose, each with its reason. An exception that is no longer needed
 * fails its test.
 */
export interface Exception {
  file: string
  /** Counted from 1, as in failures. */
  step: number
  /** The places of the differences: each difference is at or below one pointer, and each pointer has one. */
  pointers: readonly string[]
  reason: string
}

const because =
  (reason: string, ...pointers: string[]) =>
  (file: string, ...steps: number[]): Exception[] =>
    steps.map((step) => ({ file, step, pointers, reason }))

const shifted = because('The computed `status.canUse` shifts the sorted lines of YAML after it.', '/lines')
const inferred = because(
  'The specification (2.1) allows a body to omit its kind and apiVersion, which are inferred from the endpoint.',
  '/code',
  '/body',
)
const inferredText = because('An omitted apiVersion is inferred from the endpoint.', '/body/message')
const afterInferred = because(
  'kube-apiserver rejects an earlier request that succeeds here, because its kind is inferred.',
  '/body/metadata',
)
const future = because('A last use in the future counts as none, and is not shown.', '/body/status/lastActivity')
const typo = 'An unknown or duplicate field must not widen access: it is rejected unless the client asks otherwise.'
/** kube-apiserver only warns, and the answer differs. */
const accepted = because(typo, '/code', '/body', '/headers/warning')
/** kube-apiserver warns and rejects for another reason with the same code. */
const refused = because(typo, '/body', '/headers/warning')
const before = 'An earlier step was rejected, so its object is missing.'
const following = because(before, '/body')
const missing = because(before, '/code', '/body')

/** The exceptions of all kinds. */
const ofEveryKind = [
  ...inferred('11-create-bodies.json', 4, 5),
  ...inferred('70-apply-basics.json', 17, 18),
  ...afterInferred('11-create-bodies.json', 10, 11, 13, 14),
  ...afterInferred('70-apply-basics.json', 23),
]

const unserved = 'The example of the engine has no texts for paths that it does not serve.'

/** The exceptions of the engine alone. */
export const strangerExceptions: readonly Exception[] = [
  ...ofEveryKind,
  ...because(unserved, '/body', '/headers', '/text')('20-get.json', 21, 22),
  ...because(unserved, '/code', '/body', '/headers', '/text')('31-status.json', 12, 13),
]

/** The exceptions of this API. */
export const exceptions: readonly Exception[] = [
  ...ofEveryKind,
  ...shifted('20-get.json', 10),
  ...shifted('accept-and-patch-bodies.json', 8, 12),
  ...shifted('negotiation-and-numbers.json', 7, 8, 10),
  {
    file: '110-list.json',
    step: 20,
    pointers: ['/body/~1rows~10~1cells'],
    reason: 'Each kind defines its table columns; the recorded cells belong to another kind.',
  },
  ...[5, 6, 7, 8].map((step) => ({
    file: '150-errors.json',
    step,
    pointers: ['/body/~1message', '/body/~1details/causes'],
    reason:
      'A scope refuses here. Its reason follows the recorded text, as the reason of an authorizer does in kube-apiserver. The causes contain the scope entry that would allow the request.',
  })),
  ...inferred('bodies.json', 12, 18),
  ...inferred('kinds-and-lists.json', 2, 3, 5, 6),
  ...inferredText('accept-and-patch-bodies.json', 56),
  ...accepted('140-field-validation.json', 1, 8, 14),
  ...following('140-field-validation.json', 2, 3, 6, 15),
  ...missing('140-field-validation.json', 16, 20),
  ...accepted('41-validation-schema.json', 5),
  ...accepted('60-merge-patch.json', 13),
  ...refused('accept-and-patch-bodies.json', 53, 61),
  ...refused('bodies.json', 7),
  ...future('date-times.json', 68),
  ...refused('numbers-metadata.json', 100),
  ...accepted('patch-literals.json', 53),
  ...following('patch-literals.json', 55, 56),
  ...accepted('seed-13.json', 11),
  ...following('seed-13.json', 16, 19, 22, 23),
  ...accepted('seed-2.json', 12, 20),
  ...accepted('seed-27.json', 5),
]
