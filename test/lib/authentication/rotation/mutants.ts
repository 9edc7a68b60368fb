/** Lists rules of README.md beside the code, each with the edit of lib/ that removes it. The schedules must detect every edit. */
import { join } from 'node:path'
import { loadEdited } from '../../../support/editedmodules.ts'
import type { Subject } from './realsubject.ts'
import { brief, type Profile, plain, sliding, troubled } from './schedule.ts'

export interface Mutant {
  without: string
  profile: Profile
  /** The first seed: one that detected it once. */
  seed: number
  file: string
  from: string
  to: string
}

const root = join(import.meta.dirname, '../../../..')

/** Returns the parts of lib/ without a rule. */
export async function loadSubject({ file, from, to }: Mutant): Promise<Subject> {
  const contents = "export { subject } from './test/lib/authentication/rotation/realsubject.ts'"
  return (await loadEdited<{ subject: Subject }>(root, contents, [{ file, from, to }])).subject
}

const authentication = 'lib/authentication'
const management = 'lib/apis/management/v1'
const rotate = `${management}/rotation/ownedaccesskeyrotation.change.ts`
const requests = `${authentication}/requests/authenticate.ts`
const values = `${authentication}/values`

/** Each rule has its profile, its seed and its file, and in the second line what the edit replaces. */
const rows: readonly (readonly [string, Profile, number, string, string, string])[] = [
  [
    'a rotation waits while another value is pending',
    plain,
    1,
    rotate,
    'if (!replace) throw conflict(',
    'if (now < 0) throw conflict(',
  ],
  [
    'a pending value is replaced only while it is unused',
    brief,
    75,
    `${values}/writes.ts`,
    "const isGuarded = state === 'Pending' &&",
    "const isGuarded = now < 0 && state === 'Pending' &&",
  ],
  [
    'the first use is recorded before the request is allowed',
    plain,
    3,
    requests,
    "if (judged.state !== 'Pending') return undefined",
    'if (judged.state) return undefined',
  ],
  [
    'the first use is conditional',
    brief,
    121,
    requests,
    "same: { ...unchanged(credential), disabled: false, deleted: false },\n      lacks: ['ended', 'firstUsed'],",
    'same: {}, lacks: [],',
  ],
  ['the first use counts once', brief, 121, requests, "lacks: ['ended', 'firstUsed']", "lacks: ['ended']"],
  [
    'the overlap counts from the first use',
    plain,
    3,
    `${values}/judge.ts`,
    ': firstUsed + overlap',
    ': readCredential(next.item).made! + overlap',
  ],
  [
    'a missing successor means dead',
    brief,
    389,
    `${values}/judge.ts`,
    'if (next === undefined) return undefined',
    'if (next === undefined) return Number.POSITIVE_INFINITY',
  ],
  [
    'a replaced successor means to look again',
    brief,
    30,
    `${values}/judge.ts`,
    'return readTombstone(next.item).firstUsed === undefined ? undefined : 0',
    'return 0',
  ],
  [
    'writes settle by the facts of the items',
    plain,
    6,
    `${management}/ownedaccesskey.credential.ts`,
    'settle(before, facts, seconds)',
    'settle(before, {}, seconds)',
  ],
  [
    'the spec and the settling each raise the generation',
    brief,
    308,
    'lib/registry/update.ts',
    '+ Number(draft.raisesGeneration ?? false)',
    '|| Number(draft.raisesGeneration ?? false)',
  ],
  [
    'spec.key ends the pending value',
    troubled,
    55,
    `${values}/rotation.ts`,
    'const { value, ended: _, leak: __, pending: ___, retiring: ____, ...rest } = internal',
    'const { value, ended: _, leak: __, retiring: ____, ...rest } = internal',
  ],
  [
    'a sliding lifetime counts every value',
    sliding,
    17,
    `${values}/judge.ts`,
    '|| isAlone) return life',
    '|| now > 0) return life',
  ],
  [
    'writes are bound to their value',
    troubled,
    27,
    'lib/registry/maker.ts',
    'const maker = requireUnchangedCredential(key, credential)',
    'const maker = { ...requireUnchangedCredential(key, credential), attributes: {}, lacks: [] }',
  ],
  [
    'writes are bound to the successor',
    brief,
    8,
    'lib/registry/maker.ts',
    'const unused = credential.successor',
    'const unused = !credential && credential',
  ],
  [
    'writes are bound to the generation',
    troubled,
    3,
    `${management}/ownedaccesskey.ts`,
    'if (key.generation !== undefined && key.generation !== generationOf(before, generation)) {',
    'if (key.generation === -1) {',
  ],
  [
    'a retiring value may not rotate',
    brief,
    37,
    `${management}/ownedaccesskey.ts`,
    "if (isReplaced && now.state === 'Retiring')",
    "if (isReplaced && generation < 0 && now.state === 'Retiring')",
  ],
  [
    'a leak ends what the value made',
    troubled,
    2,
    `${values}/leak.ts`,
    'if (unused || number === 1) return false',
    'if (unused || number) return false',
  ],
]

export const mutants: readonly Mutant[] = rows.map(([without, profile, seed, file, from, to]) => ({
  without,
  profile,
  seed,
  file,
  from,
  to,
}))
