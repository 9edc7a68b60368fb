/** Tests the responses of the verbs, each on a deployment of its own. */
import { describe } from 'vitest'
import { useFunctions } from '../../support/functions.ts'
import { describeCreate } from '../stored/create.ts'
import { describeDelete } from '../stored/delete.ts'
import { describeDeleteCollection } from '../stored/deletecollection.ts'
import { providers } from '../stored/fixtures.ts'
import { describeGet } from '../stored/get.ts'
import { describeList } from '../stored/list.ts'
import { describePatch } from '../stored/patch.ts'
import { describeUpdate } from '../stored/update.ts'

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

  describeVerb(functions, providers)
})
