/** Lists rules of the code of lib/, each with the edit that removes it. The schedules must detect every edit. */
import { join } from 'node:path'
import { type Edit, loadEdited } from '../../../support/editedmodules.ts'
import type { Subject } from './realsubject.ts'
import { brief, type Profile, plain, sliding, troubled } from './schedule.ts'

export interface RealMutant {
  without: string
  profile: Profile
  /** The first seed: one that detected it once, or one a little below. */
  seed?: number
  edits: readonly Edit[]
}

const root = join(import.meta.dirname, '../../../..')

/** Returns the parts of lib/ with these edits. */
export async function loadSubject(edits: readonly Edit[]): Promise<Subject> {
  const contents = "export { subject } from './test/lib/authentication/rotation/realsubject.ts'"
  return (await loadEdited<{ subject: Subject }>(root, contents, edits)).subject
}

const authentication = 'lib/authentication'
const management = 'lib/apis/management/v1'

export const realMutants: readonly RealMutant[] = [
  {
    without: 'waiting while another value is pending',
    profile: plain,
    seed: 8,
    edits: [
      {
        file: `${management}/rotation/ownedaccesskeyrotation.change.ts`,
        from: 'if (!replace) throw conflict(',
        to: 'if (now < 0) throw conflict(',
      },
    ],
  },
  {
    without: 'the condition that a pending value that ends is unused',
    profile: brief,
    seed: 19,
    edits: [
      {
        file: `${authentication}/values/writes.ts`,
        from: "const isGuarded = state === 'Pending' &&",
        to: "const isGuarded = now < 0 && state === 'Pending' &&",
      },
    ],
  },
  {
    without: 'the conditions of a first use',
    profile: brief,
    seed: 41,
    edits: [
      {
        file: `${authentication}/requests/authenticate.ts`,
        from: "same: { ...unchanged(credential), disabled: false, deleted: false },\n      lacks: ['ended', 'firstUsed'],",
        to: 'same: {}, lacks: [],',
      },
    ],
  },
  {
    without: 'the first use, before the request is allowed',
    profile: plain,
    edits: [
      {
        file: `${authentication}/requests/authenticate.ts`,
        from: "if (judged.state !== 'Pending') return undefined",
        to: 'if (judged.state) return undefined',
      },
    ],
  },
  {
    without: 'looking again when the successor was replaced',
    profile: brief,
    seed: 13,
    edits: [
      {
        file: `${authentication}/values/judge.ts`,
        from: 'return readTombstone(next.item).firstUsed === undefined ? undefined : 0',
        to: 'return 0',
      },
    ],
  },
  {
    without: 'the shared activity of a sliding key',
    profile: sliding,
    edits: [
      { file: `${authentication}/values/judge.ts`, from: '|| isAlone) return life', to: '|| now > 0) return life' },
    ],
  },
  {
    without: 'settling by the facts of the items',
    profile: plain,
    edits: [
      {
        file: `${management}/ownedaccesskey.credential.ts`,
        from: 'settle(before, facts, seconds)',
        to: 'settle(before, {}, seconds)',
      },
    ],
  },
  {
    without: 'a generation of its own for what was settled',
    profile: brief,
    seed: 15,
    edits: [
      {
        file: 'lib/registry/update.ts',
        from: '+ Number(draft.raisesGeneration ?? false)',
        to: '|| Number(draft.raisesGeneration ?? false)',
      },
    ],
  },
  {
    without: 'the end of the pending value by spec.key',
    profile: troubled,
    seed: 12,
    edits: [
      {
        file: `${authentication}/values/rotation.ts`,
        from: 'const { value, ended: _, pending: __, retiring: ___, ...rest } = internal',
        to: 'const { value, ended: _, retiring: ___, ...rest } = internal',
      },
    ],
  },
  {
    without: 'the condition on the value of the request',
    profile: troubled,
    seed: 14,
    edits: [
      {
        file: 'lib/registry/maker.ts',
        from: 'const maker = requireUnchangedCredential(key, credential)',
        to: 'const maker = { ...requireUnchangedCredential(key, credential), attributes: {}, lacks: [] }',
      },
    ],
  },
  {
    without: 'the condition on the successor of the value of the request',
    profile: brief,
    seed: 19,
    edits: [
      {
        file: 'lib/registry/maker.ts',
        from: 'const unused = credential.successor',
        to: 'const unused = !credential && credential',
      },
    ],
  },
  {
    without: 'the generation of a request that changes its own key',
    profile: troubled,
    seed: 27,
    edits: [
      {
        file: `${management}/ownedaccesskey.self.ts`,
        from: 'if (key.generation !== undefined && key.generation !== generationOf(before, generation)) {',
        to: 'if (key.generation === -1) {',
      },
    ],
  },
  {
    without: 'the refusal of spec.key by a retiring value',
    profile: brief,
    seed: 63,
    edits: [
      {
        file: `${management}/ownedaccesskey.self.ts`,
        from: "if (isReplaced && now.state === 'Retiring')",
        to: "if (isReplaced && generation < 0 && now.state === 'Retiring')",
      },
    ],
  },
]
