import { useFunctions } from '../../support/functions.ts'
import { instances } from '../stored/fixtures.ts'
import { describeList } from '../stored/list.ts'

const functions = useFunctions()

describeList(functions, instances)
