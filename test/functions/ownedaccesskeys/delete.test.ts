import { useFunctions } from '../../support/functions.ts'
import { describeDelete } from '../stored/delete.ts'
import { accessKeys } from '../stored/fixtures.ts'

const functions = useFunctions()

describeDelete(functions, accessKeys)
