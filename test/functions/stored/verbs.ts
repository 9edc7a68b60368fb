/** Tests the responses of every verb of a stored kind, each on a deployment of its own. */
import { describe } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { describeCreate } from './create.ts'
import { describeDelete } from './delete.ts'
import { describeDeleteCollection } from './deletecollection.ts'
import type { StoredFunctions, Used } from './fixtures.ts'
import { describeGet } from './get.ts'
import { describeList } from './list.ts'
import { describePatch } from './patch.ts'
import { describeUpdate } from './update.ts'

/** Describes all verbs. `prepare` registers hooks that make what the objects of the kind need. */
export function describeVerbs(stored: StoredFunctions, prepare: (functions: Used) => void = () => {}): void {
  describe.each([
    { verb: 'create', describeVerb: describeCreate },
    { verb: 'get', describeVerb: describeGet },
    { verb: 'list', describeVerb: describeList },
    { verb: 'update', describeVerb: describeUpdate },
    { verb: 'patch', describeVerb: describePatch },
    { verb: 'delete', describeVerb: describeDelete },
    { verb: 'deletecollection', describeVerb: describeDeleteCollection },
  ])('$verb', ({ describeVerb }) => {
    const functions = useFunctions()
    prepare(functions)
    describeVerb(functions, stored)
  })
}
