import { useFunctions } from '../../support/functions.ts'
import { describeDelete } from '../stored/delete.ts'
import { instances } from '../stored/fixtures.ts'

const functions = useFunctions()

describeDelete(functions, instances)
