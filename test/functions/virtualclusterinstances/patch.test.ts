import { useFunctions } from '../../support/functions.ts'
import { instances } from '../stored/fixtures.ts'
import { describePatch } from '../stored/patch.ts'

const functions = useFunctions()

describePatch(functions, instances)
