import { useFunctions } from '../../support/functions.ts'
import { describeDeleteCollection } from '../stored/deletecollection.ts'
import { instances } from '../stored/fixtures.ts'

const functions = useFunctions()

describeDeleteCollection(functions, instances)
