import { useFunctions } from '../../support/functions.ts'
import { instances } from '../stored/fixtures.ts'
import { describeGet } from '../stored/get.ts'

const functions = useFunctions()

describeGet(functions, instances)
